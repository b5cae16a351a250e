//! Tool calls of which an agent tells by asking permission for them, and not before.
//!
//! Some agents tell such a call by the question alone, and what became of it by updates: a client has it of the question, which
//! no replay shows. So the transcript has it as a `tool_call` of its own, made of the question.

use std::collections::VecDeque;

use serde_json::json;

use super::call_update::{CallUpdate, failed};
use super::entry::{Entry, Kind};
use crate::rpc::Object;

/// How many calls are remembered; of more, the last.
const MOST: usize = 1000;
/// How long their ids may be, and those of options, in bytes.
const LONGEST_ID: usize = 256;
/// How many options by which a call is not to be are remembered.
const MOST_OPTIONS: usize = 16;

/// The tool calls that were told of in a turn, or between turns, and those from before that have not ended since.
#[derive(Debug, Default)]
pub struct ToldCalls(VecDeque<Told>);

#[derive(Debug)]
struct Told {
    id: String,
    has_ended: bool,
    by: By,
}

/// What has told of a call in this turn.
#[derive(Debug, PartialEq, Eq)]
enum By {
    /// An update was the first, or it is a call of an earlier turn.
    Update,
    /// A question was the first, and an update has come since.
    QuestionFirst,
    /// Nothing but questions; by these options of the last one, the call is not to be.
    QuestionsAlone(Vec<String>),
}

impl ToldCalls {
    /// Takes in the `update` member of a `session/update`, whatever it is. What the transcript has in its place, where that is
    /// something else: a call that it has of a question is there once, and what its agent tells of it since is an update.
    pub fn told(&mut self, update: &str) -> Option<String> {
        self.take(&CallUpdate::read(update)?, update)
    }

    /// The same of one that was read.
    pub fn take(&mut self, read: &CallUpdate, update: &str) -> Option<String> {
        let call = self.call(read.id.clone())?;
        if let Some(is_open) = read.is_open {
            call.has_ended = !is_open;
        }
        if matches!(call.by, By::QuestionsAlone(_)) {
            call.by = By::QuestionFirst;
        }
        (read.is_whole && call.by == By::QuestionFirst).then(|| {
            let mut update = Object::parse_or_empty(update);
            update.set("sessionUpdate", "\"tool_call_update\"");
            update.to_json()
        })
    }

    /// Takes in the params of a question. The `tool_call` that the transcript has of it, where nothing was told of that call
    /// before.
    pub fn asked(&mut self, params: &Object<'_>) -> Option<String> {
        let asked = params.get_object("toolCall");
        let id = asked.get_string("toolCallId")?;
        let by = By::QuestionsAlone(refusals(params));
        if let Some(call) = self.0.iter_mut().find(|call| call.id == id) {
            if matches!(call.by, By::QuestionsAlone(_)) {
                call.by = by;
            }
            return None;
        }
        let id_as_title = json!(id).to_string();
        let title = asked.get("title").filter(|title| title.starts_with('"')).unwrap_or(&id_as_title).to_owned();
        self.call(id)?.by = by;
        let mut call = Object::default();
        call.set("sessionUpdate", "\"tool_call\"");
        call.set("toolCallId", asked.get("toolCallId")?);
        call.set("title", title);
        // In a question a member may be null, which says nothing; in a call it may not.
        let rest = asked.iter().filter(|(name, value)| !matches!(*name, "sessionUpdate" | "title") && *value != "null");
        rest.for_each(|(name, value)| call.set(name, value));
        if call.get_string("status").is_none() {
            call.set("status", "\"pending\"");
        }
        Some(call.to_json())
    }

    /// Takes in which option a question for the call of this id was answered with. The update that the transcript has of it,
    /// where the call is not to be, and nothing but questions has told of it: its agent may say no more of it.
    pub fn answered(&mut self, id: &str, option: &str) -> Option<String> {
        let call = self.0.iter_mut().find(|call| call.id == id)?;
        let By::QuestionsAlone(refusals) = &call.by else { return None };
        if !refusals.iter().any(|refusal| refusal == option) {
            return None;
        }
        (call.by, call.has_ended) = (By::QuestionFirst, true);
        Some(failed(id))
    }

    /// Takes in an entry that the transcript has, whatever it is.
    pub(super) fn note(&mut self, entry: &Entry<'_>) {
        match entry.kind {
            Kind::Update => {
                if let Some(update) = Object::parse_or_empty(entry.json).get("update") {
                    self.told(update);
                }
            }
            // What stands behind it is the call that was made of it, if one was.
            Kind::PermissionAsked => drop(self.asked(&Object::parse_or_empty(entry.json))),
            _ => {}
        }
    }

    /// A turn begins, or has ended: what is told now by the id of a call that has ended is another, as agents may count theirs in
    /// each turn, and so is a whole one.
    pub fn another_turn(&mut self) {
        self.0.retain(|call| !call.has_ended);
        self.0.iter_mut().for_each(|call| call.by = By::Update);
    }

    /// The call of this id, from now on told of; none, where the id is too long.
    fn call(&mut self, id: String) -> Option<&mut Told> {
        if id.len() > LONGEST_ID {
            return None;
        }
        let at = self.0.iter().position(|call| call.id == id).unwrap_or_else(|| {
            if self.0.len() >= MOST {
                self.0.pop_front();
            }
            self.0.push_back(Told { id, has_ended: false, by: By::Update });
            self.0.len() - 1
        });
        self.0.get_mut(at)
    }
}

/// The options of a question by which its call is not to be.
fn refusals(params: &Object<'_>) -> Vec<String> {
    let options = params.get_array("options").unwrap_or_default().into_iter().map(Object::parse_or_empty);
    let is_refusal = |option: &Object<'_>| {
        option.get_string("kind").is_some_and(|kind| matches!(kind.as_str(), "reject_once" | "reject_always"))
    };
    let ids = options.filter(is_refusal).filter_map(|option| option.get_string("optionId"));
    ids.filter(|id| id.len() <= LONGEST_ID).take(MOST_OPTIONS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(kind: &str, id: &str, status: &str) -> String {
        json!({"sessionUpdate": kind, "toolCallId": id, "status": status}).to_string()
    }

    fn asked(calls: &mut ToldCalls, call: &str) -> Option<String> {
        calls.asked(&Object::parse(&format!("{{\"toolCall\":{call}}}")).unwrap())
    }

    #[test]
    fn a_call_is_made_of_what_a_question_says_of_it() {
        for (asked_for, made) in [
            ("{}", None),
            (r#"{"toolCallId":5,"title":"x"}"#, None),
            (
                r#"{"toolCallId":"a"}"#,
                Some(r#"{"sessionUpdate":"tool_call","toolCallId":"a","title":"a","status":"pending"}"#),
            ),
            (
                r#"{"status":"in_progress","title":"Run","toolCallId":"a","kind":null,"rawInput":{"x":1.0},"_meta":{"m":1}}"#,
                Some(
                    r#"{"sessionUpdate":"tool_call","toolCallId":"a","title":"Run","status":"in_progress","rawInput":{"x":1.0},"_meta":{"m":1}}"#,
                ),
            ),
            (
                r#"{"toolCallId":"a","title":null,"status":null,"sessionUpdate":"tool_call_update"}"#,
                Some(r#"{"sessionUpdate":"tool_call","toolCallId":"a","title":"a","status":"pending"}"#),
            ),
        ] {
            assert_eq!(asked(&mut ToldCalls::default(), asked_for).as_deref(), made);
        }
        let long = json!({"toolCallId": "x".repeat(LONGEST_ID + 1)}).to_string();
        assert_eq!(asked(&mut ToldCalls::default(), &long), None);
    }

    #[test]
    fn it_is_made_once_and_only_of_what_was_not_told_before() {
        let mut calls = ToldCalls::default();
        assert_eq!(calls.told(&update("tool_call", "a", "pending")), None);
        assert_eq!(calls.told(&update("tool_call_update", "b", "completed")), None);
        assert_eq!(calls.told(&update("agent_message_chunk", "c", "pending")), None);
        for (id, is_made) in [("a", false), ("b", false), ("c", true), ("c", false)] {
            assert_eq!(asked(&mut calls, &json!({ "toolCallId": id }).to_string()).is_some(), is_made, "{id}");
        }
        assert_eq!(calls.told(&update("tool_call", "a", "completed")), None);
        for _ in 0..2 {
            assert_eq!(
                calls.told(&update("tool_call", "c", "in_progress")),
                Some(update("tool_call_update", "c", "in_progress"))
            );
        }
        // In another turn only what has not ended is known.
        calls.another_turn();
        assert_eq!(calls.told(&update("tool_call", "c", "in_progress")), None);
        for (id, is_made) in [("a", true), ("b", true), ("c", false)] {
            assert_eq!(asked(&mut calls, &json!({ "toolCallId": id }).to_string()).is_some(), is_made, "{id}");
        }
    }

    #[test]
    fn a_call_that_is_not_to_be_has_failed_where_its_agent_says_nothing_of_it() {
        let question = r#"{"toolCall":{"toolCallId":"a"},"options":[{"optionId":"y","kind":"allow_once"},{"optionId":"n","kind":"reject_once"}]}"#;
        let question = Object::parse(question).unwrap();
        let failed = update("tool_call_update", "a", "failed");
        for (is_told_before, is_told_since, id, option, expected) in [
            (false, false, "a", "n", Some(&failed)),
            (false, false, "a", "y", None),
            (false, false, "b", "n", None),
            (true, false, "a", "n", None),
            (false, true, "a", "n", None),
        ] {
            let mut calls = ToldCalls::default();
            if is_told_before {
                calls.told(&update("tool_call", "a", "pending"));
            }
            calls.asked(&question);
            if is_told_since {
                calls.told(&update("tool_call_update", "a", "in_progress"));
            }
            let update: Option<serde_json::Value> =
                calls.answered(id, option).map(|update| serde_json::from_str(&update).unwrap());
            assert_eq!(update, expected.map(|update| serde_json::from_str(update).unwrap()));
            assert_eq!(calls.answered("a", "n").is_some(), expected.is_none() && !is_told_before && !is_told_since);
        }
    }

    #[test]
    fn no_agent_makes_it_grow_without_end() {
        let mut calls = ToldCalls::default();
        for id in 0..MOST + 10 {
            calls.told(&update("tool_call", &id.to_string(), "pending"));
        }
        assert_eq!((calls.0.len(), calls.0[0].id.as_str()), (MOST, "10"));
    }
}
