//! Tool calls of which an agent tells by asking permission for them, and not before.
//!
//! Some agents tell such a call by the question alone, and what became of it by updates: a client has it of the question, which
//! no replay shows. So the transcript has it as a `tool_call` of its own, made of the question. Where nothing else tells of it, it
//! has failed when its user refuses it, is completed when its user has allowed it and its turn has ended well, and has failed when
//! its turn has ended otherwise, or without its being allowed. One that was asked for between turns waits for its answer.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use serde_json::json;

use super::call_update::{CallUpdate, completed, failed, says_something};
use super::entry::{Entry, Kind};
use crate::rpc::Object;

/// How many calls are remembered; of more, the last.
const MOST: usize = 1000;
/// How long their ids may be, and those of options, in bytes.
const LONGEST_ID: usize = 256;
/// How many options by which a call is to be are remembered, and as many by which it is not.
const MOST_OPTIONS: usize = 16;

/// The tool calls that were told of in a turn, or between turns, and those from before that have not ended since.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ToldCalls {
    /// By their number: in the order in which they were told of first.
    calls: BTreeMap<u64, TrackedCall>,
    /// The number of each by its id, as an agent may tell thousands of calls in a turn.
    numbers: BTreeMap<String, u64>,
    /// The call that the transcript has of the question that was noted last, while what stands behind that was not.
    made: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct TrackedCall {
    id: String,
    has_ended: bool,
    /// It was told what the call is given.
    has_input: bool,
    by: By,
}

/// What a question may say of a call of which little was told before.
const SAID_LATER: [&str; 5] = ["title", "kind", "content", "locations", "rawInput"];

impl TrackedCall {
    /// What a question (its `toolCall`) says of it, as an update, where it was not told before what it is given. Qwen Code tells a call by
    /// the name of its tool first.
    fn told_by(&mut self, asked: &Object<'_>) -> Option<String> {
        let says = |name: &str| asked.get(name).filter(|member| says_something(member));
        if self.has_input || says("rawInput").is_none() {
            return None;
        }
        self.has_input = true;
        let mut update = Object::default();
        update.set("sessionUpdate", "\"tool_call_update\"");
        update.set("toolCallId", asked.get("toolCallId")?);
        for name in SAID_LATER {
            if let Some(member) = says(name) {
                update.set(name, member);
            }
        }
        Some(update.to_json())
    }

    /// It has ended so. The update that says it.
    fn end(&mut self, as_what: fn(&str) -> String) -> String {
        (self.by, self.has_ended) = (By::QuestionFirst, true);
        as_what(&self.id)
    }

    /// It has ended, if its user has allowed it, and nothing but questions has told of it. The update that says so.
    fn end_allowed(&mut self) -> Option<String> {
        let is_it = matches!(&self.by, By::QuestionsAlone(question) if question.reply == Reply::Allowed);
        is_it.then(|| self.end(completed))
    }

    /// A turn has ended, well or not, and if nothing but questions has told of it, it has ended with that, unless it is of no turn and
    /// waits for its answer. The update that says so.
    fn end_with_turn(&mut self, is_well: bool) -> Option<String> {
        let By::QuestionsAlone(question) = &self.by else { return None };
        match (question.reply, question.asked) {
            (Reply::None, Asking::BetweenTurns) => None,
            (Reply::Allowed, _) if is_well => Some(self.end(completed)),
            (Reply::None | Reply::Allowed, _) => Some(self.end(failed)),
        }
    }
}

/// When a question was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Asking {
    /// In a turn, with which its call ends at the latest.
    InTurn,
    /// While no turn was under way.
    BetweenTurns,
}

/// What the user has said to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Reply {
    /// Nothing, or nothing by which the call is to be.
    None,
    /// That it may be.
    Allowed,
}

/// What has told of a call in this turn.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
enum By {
    /// An update was the first, or it is a call of an earlier turn.
    Update,
    /// A question was the first, and an update has come since.
    QuestionFirst,
    /// Nothing but questions, of which this is the last.
    QuestionsAlone(LastQuestion),
}

/// A question for a call of which nothing else has told.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct LastQuestion {
    /// By these options the call is to be.
    allowances: Vec<String>,
    /// By these it is not.
    refusals: Vec<String>,
    asked: Asking,
    reply: Reply,
}

impl LastQuestion {
    /// Reads the params of a question that was asked then.
    fn read(params: &Object<'_>, asked: Asking) -> Self {
        let options = params.get_array("options").unwrap_or_default().into_iter().map(Object::parse_or_empty);
        let options = options.filter_map(|option| Some((option.get_string("kind")?, option.get_string("optionId")?)));
        let options: Vec<_> = options.filter(|(_, id)| id.len() <= LONGEST_ID).collect();
        let of_kinds = |kinds: [&str; 2]| {
            let ids = options.iter().filter(|(kind, _)| kinds.contains(&kind.as_str())).map(|(_, id)| id.clone());
            ids.take(MOST_OPTIONS).collect()
        };
        Self {
            allowances: of_kinds(["allow_once", "allow_always"]),
            refusals: of_kinds(["reject_once", "reject_always"]),
            asked,
            reply: Reply::None,
        }
    }
}

impl ToldCalls {
    /// Takes in the `update` member of a `session/update`, whatever it is. What the transcript has in its place, where that is
    /// something else: a call that it has of a question is there once, and what its agent tells of it since is an update.
    pub fn told(&mut self, update: &str) -> Option<String> {
        self.take(&CallUpdate::read(update)?, update)
    }

    /// Takes in a call update that has been read already; see [`Self::told`].
    pub fn take(&mut self, read: &CallUpdate, update: &str) -> Option<String> {
        let call = self.call(read.id.clone())?;
        if let Some(is_open) = read.is_open {
            call.has_ended = !is_open;
        }
        call.has_input |= read.has_input;
        if matches!(call.by, By::QuestionsAlone(_)) {
            call.by = By::QuestionFirst;
        }
        (read.is_whole && call.by == By::QuestionFirst).then(|| {
            let mut update = Object::parse_or_empty(update);
            update.set("sessionUpdate", "\"tool_call_update\"");
            update.to_json()
        })
    }

    /// Takes in the params of a question that was asked then. The `tool_call` that the transcript has of it, where nothing was told
    /// of that call before, or the update, where it was not told what it is given.
    pub fn asked(&mut self, params: &Object<'_>, when: Asking) -> Option<String> {
        let asked = params.get_object("toolCall");
        let id = asked.get_string("toolCallId")?;
        let by = By::QuestionsAlone(LastQuestion::read(params, when));
        if let Some(call) = self.get_mut(&id) {
            if matches!(call.by, By::QuestionsAlone(_)) {
                call.by = by;
            }
            return call.told_by(&asked);
        }
        let id_as_title = json!(id).to_string();
        let title = asked.get("title").filter(|title| title.starts_with('"')).unwrap_or(&id_as_title).to_owned();
        let told = self.call(id)?;
        told.by = by;
        told.has_input = asked.get("rawInput").is_some_and(says_something);
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

    /// Takes in which option a question for the call of this id was answered with, if it was with one. The update that the transcript
    /// has of it, where the call is not to be, and nothing but questions has told of it: its agent may say no more of it. Where no
    /// option was chosen, the call ends with its turn, if it has one: until then its agent may say what becomes of it.
    pub fn answered(&mut self, id: &str, option: Option<&str>) -> Option<String> {
        let call = self.get_mut(id)?;
        let By::QuestionsAlone(question) = &mut call.by else { return None };
        let is_one_of = |options: &[String]| option.is_some_and(|chosen| options.iter().any(|one| one == chosen));
        question.reply = if is_one_of(&question.allowances) { Reply::Allowed } else { Reply::None };
        let waits_for_turn = question.reply == Reply::Allowed || question.asked == Asking::InTurn;
        (is_one_of(&question.refusals) || !waits_for_turn).then(|| call.end(failed))
    }

    /// The call of this id has ended, if its user has allowed it, and nothing but questions has told of it. The update that the
    /// transcript has of that.
    pub fn end_allowed(&mut self, id: &str) -> Option<String> {
        self.get_mut(id).and_then(TrackedCall::end_allowed)
    }

    /// A turn has ended, well or not: the updates that the transcript has of the calls that have ended with it, of which nothing but
    /// questions has told. Their agent says no more of them.
    pub fn end_with_turn(&mut self, is_well: bool) -> Vec<String> {
        self.calls.values_mut().filter_map(|call| call.end_with_turn(is_well)).collect()
    }

    /// Takes in an entry that the transcript has of a turn, whatever it is.
    pub(super) fn note(&mut self, entry: &Entry<'_>) {
        let made = self.made.take();
        match entry.kind {
            Kind::Update => {
                let params = Object::parse_or_empty(entry.json);
                if let Some(update) = params.get("update").filter(|update| made.as_deref() != Some(update)) {
                    self.told(update);
                }
            }
            Kind::PermissionAsked => self.made = self.asked(&Object::parse_or_empty(entry.json), Asking::InTurn),
            Kind::PermissionAnswered => {
                let answer = Object::parse_or_empty(entry.json);
                let option = answer.get_object("outcome").get_string("optionId");
                if let Some(call) = answer.get_string("toolCallId") {
                    self.answered(&call, option.as_deref());
                }
            }
            _ => {}
        }
    }

    /// A turn begins, or has ended: what is told now by the id of a call that has ended is another, as agents may count theirs in
    /// each turn, and so is a whole one. One that only questions have told of has not ended yet: it is of no turn.
    pub fn another_turn(&mut self) {
        self.calls.retain(|_, call| !call.has_ended);
        self.numbers.retain(|_, number| self.calls.contains_key(number));
        for call in self.calls.values_mut().filter(|call| !matches!(call.by, By::QuestionsAlone(_))) {
            call.by = By::Update;
        }
    }

    /// The call of this id, from now on told of; none, where the id is too long.
    fn call(&mut self, id: String) -> Option<&mut TrackedCall> {
        if id.len() > LONGEST_ID {
            return None;
        }
        if let Some(number) = self.numbers.get(&id) {
            return self.calls.get_mut(number);
        }
        if self.calls.len() >= MOST
            && let Some((_, first)) = self.calls.pop_first()
        {
            self.numbers.remove(&first.id);
        }
        let number = self.calls.last_key_value().map_or(0, |(last, _)| last + 1);
        self.numbers.insert(id.clone(), number);
        Some(self.calls.entry(number).or_insert(TrackedCall { id, has_ended: false, has_input: false, by: By::Update }))
    }

    /// The call of this id, if it was told of.
    fn get_mut(&mut self, id: &str) -> Option<&mut TrackedCall> {
        self.calls.get_mut(self.numbers.get(id)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(kind: &str, id: &str, status: &str) -> String {
        json!({"sessionUpdate": kind, "toolCallId": id, "status": status}).to_string()
    }

    fn asked(calls: &mut ToldCalls, call: &str) -> Option<String> {
        calls.asked(&Object::parse(&format!("{{\"toolCall\":{call}}}")).unwrap(), Asking::InTurn)
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
    fn a_call_is_made_once_and_only_where_it_was_not_told_before() {
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
    fn what_a_question_says_of_a_call_is_told_where_the_call_was_told_without_what_it_is_given() {
        let given = r#"{"toolCallId":"a","status":"pending","title":"Run ls","content":[],"kind":"execute","rawInput":{"command":"ls"}}"#;
        let told = r#"{"sessionUpdate":"tool_call_update","toolCallId":"a","title":"Run ls","kind":"execute","rawInput":{"command":"ls"}}"#;
        for (input, question, expected) in [
            (Some("{}"), given, Some(told)),
            (None, given, Some(told)),
            (Some(r#"{"command":"ls"}"#), given, None),
            (Some("{}"), r#"{"toolCallId":"a","title":"Run ls"}"#, None),
            (None, r#"{"toolCallId":"a","title":"Run ls","rawInput":{}}"#, None),
        ] {
            let mut calls = ToldCalls::default();
            let mut call = Object::parse(r#"{"sessionUpdate":"tool_call","toolCallId":"a","title":"Shell"}"#).unwrap();
            if let Some(input) = input {
                call.set("rawInput", input);
            }
            assert_eq!(calls.told(&call.to_json()), None);
            assert_eq!(asked(&mut calls, question).as_deref(), expected, "{input:?}");
            assert_eq!(asked(&mut calls, question), None, "once");
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
            calls.asked(&question, Asking::InTurn);
            if is_told_since {
                calls.told(&update("tool_call_update", "a", "in_progress"));
            }
            let update: Option<serde_json::Value> =
                calls.answered(id, Some(option)).map(|update| serde_json::from_str(&update).unwrap());
            assert_eq!(update, expected.map(|update| serde_json::from_str(update).unwrap()));
            assert_eq!(
                calls.answered("a", Some("n")).is_some(),
                expected.is_none() && !is_told_before && !is_told_since
            );
        }
    }

    #[test]
    fn a_call_ends_with_its_turn_and_one_of_no_turn_with_its_answer() {
        let question = r#"{"toolCall":{"toolCallId":"a"},"options":[{"optionId":"y","kind":"allow_once"}]}"#;
        let question = Object::parse(question).unwrap();
        // When it is asked for, what is answered, if anything is, what it is with that, and with the end of a turn that ends well or not.
        for (asked, answer, at_once, well, otherwise) in [
            (Asking::InTurn, Some(Some("y")), None, Some("completed"), Some("failed")),
            (Asking::InTurn, Some(Some("z")), None, Some("failed"), Some("failed")),
            (Asking::InTurn, Some(None), None, Some("failed"), Some("failed")),
            (Asking::InTurn, None, None, Some("failed"), Some("failed")),
            (Asking::BetweenTurns, Some(Some("y")), None, Some("completed"), Some("failed")),
            (Asking::BetweenTurns, Some(None), Some("failed"), None, None),
            (Asking::BetweenTurns, None, None, None, None),
        ] {
            for (is_well, expected) in [(true, well), (false, otherwise)] {
                let mut calls = ToldCalls::default();
                calls.asked(&question, asked);
                let said = |status: &str| if status == "failed" { failed("a") } else { completed("a") };
                assert_eq!(answer.and_then(|option| calls.answered("a", option)), at_once.map(said));
                calls.another_turn();
                let ended: Vec<String> = expected.map(said).into_iter().collect();
                assert_eq!(calls.end_with_turn(is_well), ended, "{asked:?} {answer:?} {is_well}");
                assert_eq!(calls.end_with_turn(is_well), [""; 0], "once");
            }
        }
    }

    #[test]
    fn no_agent_makes_it_grow_without_end() {
        let mut calls = ToldCalls::default();
        for id in 0..MOST + 10 {
            calls.told(&update("tool_call", &id.to_string(), "pending"));
        }
        assert_eq!((calls.calls.len(), calls.calls.values().next().map_or("", |call| call.id.as_str())), (MOST, "10"));
    }
}
