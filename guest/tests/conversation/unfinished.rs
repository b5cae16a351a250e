//! Turns that did not come to their end, of which the agent keeps the prompt alone, and nothing of what it had answered. It tells two
//! prompts then with nothing between. Nothing of the conversation is lost or set aside for that, and nothing is there twice.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, update};
use crate::scenes::{
    CWD, Turns, account, ask_fork, ask_load, ask_prompt, leave, listing, mark, oblige, row, says, updates, words,
};

/// For longer than a connection is believed to be there that does not say so.
const UNTIL_FORGOTTEN: i64 = 20_000;
/// Later than anything that is said here.
const LATER: &str = "2025-10-10T00:00:00Z";

/// What ends a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    Cancelled,
    Failed,
    AgentRestarted,
    WindowKilled,
}

/// What the agent had answered until then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answered {
    Text,
    TextAndCall,
    CallAlone,
    ThoughtsAlone,
    Nothing,
}

/// How the agent tells prompts with nothing between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tells {
    OneMessage,
    Chunks,
    Messages,
}

/// Prompts of turns that were cut short, and what was answered.
type Cut<'c> = &'c [(&'c str, Answered)];

const ENDS: [Ends; 4] = [Ends::Cancelled, Ends::Failed, Ends::AgentRestarted, Ends::WindowKilled];
const TELLS: [Tells; 3] = [Tells::OneMessage, Tells::Chunks, Tells::Messages];

impl Answered {
    const ALL: [Self; 5] = [Self::Text, Self::TextAndCall, Self::CallAlone, Self::ThoughtsAlone, Self::Nothing];

    fn has_call(self) -> bool {
        matches!(self, Self::TextAndCall | Self::CallAlone)
    }

    fn text(self, prompt: &str) -> String {
        if matches!(self, Self::Text | Self::TextAndCall) { format!("Part of {prompt}") } else { String::new() }
    }
}

fn loads() -> Value {
    json!({"loadSession": true})
}

fn lists() -> Value {
    json!({"loadSession": true, "sessionCapabilities": {"resume": {}, "close": {}}})
}

/// What an agent keeps of a session: the user's words, or its own.
#[derive(Debug, Default)]
struct Kept(Vec<(bool, String)>);

impl Kept {
    fn user(&mut self, prompt: &Value) {
        let blocks = prompt["params"]["prompt"].as_array().unwrap();
        let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
        self.0.push((true, texts.join("\n\n")));
    }

    fn agent(&mut self, text: &str) {
        self.0.push((false, text.to_owned()));
    }

    fn told(&self, tells: Tells) -> Vec<Value> {
        let mut told: Vec<(bool, String)> = Vec::new();
        for (is_user, text) in &self.0 {
            match told.last_mut().filter(|last| tells == Tells::OneMessage && *is_user && last.0) {
                Some((_, before)) => *before = format!("{before}\n\n{text}"),
                None => told.push((*is_user, text.clone())),
            }
        }
        let update = |(at, (is_user, text)): (usize, &(bool, String))| {
            let mut update = chunk(if *is_user { "user_message_chunk" } else { "agent_message_chunk" }, text);
            if tells == Tells::Messages {
                update["messageId"] = format!("m{at}").into();
            }
            update
        };
        told.iter().enumerate().map(update).collect()
    }
}

/// A load of `s1` by the agent, which tells what it has kept.
fn load(desk: &mut Desk<'_>, kept: &Kept, tells: Tells) -> Out {
    let out = ask_load(desk, "load", "s1");
    let mut out = tell(desk, out, kept, tells);
    // With another window on the session it is waited for what that is about to write.
    while out.is_open("load") {
        out.extend(desk.wait(100));
    }
    out
}

/// The agent tells what it has kept, if it is asked to.
fn tell(desk: &mut Desk<'_>, mut out: Out, kept: &Kept, tells: Tells) -> Out {
    let Some(asked) = out.asked("session/load").cloned() else { return out };
    for told in kept.told(tells) {
        out.extend(desk.agent(update(asked["params"]["sessionId"].as_str().unwrap(), told)));
    }
    out.extend(desk.reply(&asked, json!({})));
    out
}

/// A turn that comes to its end.
fn finish(desk: &mut Desk<'_>, kept: &mut Kept, tells: Tells, (prompt, answer): (&str, &str)) -> Out {
    let out = ask_prompt(desk, "turn", "s1", prompt);
    let out = tell(desk, out, kept, tells);
    let asked = out.request("session/prompt");
    kept.user(&asked);
    kept.agent(answer);
    desk.agent(says(answer));
    desk.reply(&asked, json!({"stopReason": "end_turn"}));
    out
}

/// A turn of which the agent keeps its prompt alone, and the window that goes on.
fn cut_short<'a>(
    (store, world): (&'a Memory, &'a World),
    mut desk: Desk<'a>,
    kept: &mut Kept,
    (prompt, answered, ends, tells): (&str, Answered, Ends, Tells),
) -> Desk<'a> {
    let out = ask_prompt(&mut desk, "turn", "s1", prompt);
    let asked = tell(&mut desk, out, kept, tells).request("session/prompt");
    kept.user(&asked);
    let text = answered.text(prompt);
    if !text.is_empty() {
        desk.agent(says(&text));
    }
    if answered == Answered::ThoughtsAlone {
        desk.agent(update("s1", chunk("agent_thought_chunk", &format!("Thoughts of {prompt}"))));
    }
    if answered.has_call() {
        let call = json!({"sessionUpdate": "tool_call", "toolCallId": prompt, "title": "Run", "status": "pending"});
        desk.agent(update("s1", call));
    }
    match ends {
        Ends::Cancelled => {
            desk.client(json!({"method": "session/cancel", "params": {"sessionId": "s1"}}));
            desk.reply(&asked, json!({"stopReason": "cancelled"}));
        }
        Ends::Failed => drop(desk.refuse(&asked, -32603)),
        Ends::AgentRestarted => drop(desk.revive(&loads())),
        Ends::WindowKilled => {
            desk.wait(300);
            drop(desk);
            world.now.set(world.now.get() + UNTIL_FORGOTTEN);
            desk = Desk::ready(store, world, &loads());
            load(&mut desk, kept, tells);
        }
    }
    desk
}

/// What is shown of a session in which `Hi` was answered, these turns were cut short, and these came to their end.
fn shown(cut: Cut<'_>, more: Turns<'_>) -> String {
    let cut = cut.iter().map(|(prompt, answered)| format!("> {prompt}{}", answered.text(prompt)));
    let more = more.iter().map(|(prompt, answer)| format!("> {prompt}{answer}"));
    std::iter::once("> HiHo".to_owned()).chain(cut).chain(more).collect()
}

fn assert_whole(out: &Out, cut: Cut<'_>, more: Turns<'_>, when: &str) {
    assert_eq!(words(out), shown(cut, more), "{when}");
    assert!(mark(out, "load")["setAside"].is_null(), "{when}: {}", mark(out, "load"));
    let calls: Vec<&str> = updates(out, "tool_call").iter().filter_map(|call| call["toolCallId"].as_str()).collect();
    let with_call: Vec<&str> =
        cut.iter().filter(|(_, answered)| answered.has_call()).map(|(prompt, _)| *prompt).collect();
    assert_eq!(calls, with_call, "{when}");
    let thoughts = cut.iter().filter(|(_, answered)| *answered == Answered::ThoughtsAlone).count();
    assert_eq!(updates(out, "agent_thought_chunk").len(), thoughts, "{when}");
}

/// The session is opened again and again by windows of its agent, which lists it as changed then or has no list; by one that loads
/// nothing; and by another agent, which is given an account of it.
fn assert_stays(
    (store, world): (&Memory, &World),
    kept: &mut Kept,
    tells: Tells,
    (cut, more): (Cut<'_>, Turns<'_>),
    when: &str,
) {
    let mut more = more.to_vec();
    for (time, has_list) in [("first", true), ("second", false), ("third", true)] {
        let when = format!("{when}, {time} load");
        let mut desk = if has_list {
            listing(store, world, "a", &lists(), &[row("s1", "One", LATER)])
        } else {
            Desk::ready(store, world, &loads())
        };
        assert_whole(&load(&mut desk, kept, tells), cut, &more, &when);
        finish(&mut desk, kept, tells, (time, "Yes"));
        more.push((time, "Yes"));
        leave(desk);
    }
    let mut desk = Desk::ready(store, world, &json!({}));
    let out = ask_load(&mut desk, "load", "s1");
    assert_whole(&oblige(&mut desk, out, &[], "s2"), cut, &more, &format!("{when}, without the agent's replay"));
    leave(desk);
    let mut other = Desk::open(store, world, &[]);
    other.greet(Some("b"), &json!({}));
    let out = ask_load(&mut other, "load", "s1");
    oblige(&mut other, out, &[], "b1");
    let account = account(&ask_prompt(&mut other, "other", "s1", "Else")).unwrap();
    for (prompt, answered) in cut {
        let part = answered.text(prompt);
        let is_asked = |line: &&str| line.strip_prefix("User: ").unwrap_or(line) == *prompt;
        assert_eq!(account.lines().filter(is_asked).count(), 1, "{when}: {account}");
        assert!(part.is_empty() || account.matches(&part).count() == 1, "{when}: {account}");
    }
}

#[test]
fn what_was_answered_in_a_turn_of_which_the_agent_keeps_the_prompt_alone_stays() {
    for (ends, tells) in ENDS.into_iter().flat_map(|ends| TELLS.map(|tells| (ends, tells))) {
        for answered in Answered::ALL {
            let when = format!("{ends:?}, {tells:?}, {answered:?}");
            let (store, world) = (Memory::new(), World::unrecorded());
            let at = (&store, &world);
            let mut kept = Kept::default();
            let mut desk = Desk::ready(&store, &world, &loads());
            desk.new_session("s1", CWD);
            finish(&mut desk, &mut kept, tells, ("Hi", "Ho"));
            let mut desk = cut_short(at, desk, &mut kept, ("Go", answered, ends, tells));
            finish(&mut desk, &mut kept, tells, ("Next", "Well"));
            leave(desk);
            assert_stays(at, &mut kept, tells, (&[("Go", answered)], &[("Next", "Well")]), &when);
        }
    }
}

#[test]
fn what_was_answered_in_several_such_turns_stays() {
    for (ends, tells) in ENDS.into_iter().flat_map(|ends| TELLS.map(|tells| (ends, tells))) {
        for (first, second) in [
            (Answered::Text, Answered::TextAndCall),
            (Answered::CallAlone, Answered::Text),
            (Answered::Nothing, Answered::Text),
            (Answered::TextAndCall, Answered::ThoughtsAlone),
        ] {
            let cut = [("Go", first), ("Again", second)];
            for more in [&[("Next", "Well")][..], &[]] {
                let when = format!("{ends:?}, {tells:?}, {first:?}, {second:?}, {more:?}");
                let (store, world) = (Memory::new(), World::unrecorded());
                let at = (&store, &world);
                let mut kept = Kept::default();
                let mut desk = Desk::ready(&store, &world, &loads());
                desk.new_session("s1", CWD);
                finish(&mut desk, &mut kept, tells, ("Hi", "Ho"));
                for (prompt, answered) in cut {
                    desk = cut_short(at, desk, &mut kept, (prompt, answered, ends, tells));
                }
                for turn in more {
                    finish(&mut desk, &mut kept, tells, *turn);
                }
                leave(desk);
                assert_stays(at, &mut kept, tells, (&cut, more), &when);
            }
        }
    }
}

#[test]
fn what_was_answered_in_such_a_turn_stays_in_a_fork_that_was_made_meanwhile() {
    let forks = json!({"loadSession": true, "sessionCapabilities": {"fork": {}}});
    for (is_begun, tells) in [false, true].into_iter().flat_map(|is_begun| TELLS.map(|tells| (is_begun, tells))) {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut kept = Kept::default();
        let mut desk = Desk::ready(&store, &world, &forks);
        desk.new_session("s1", CWD);
        finish(&mut desk, &mut kept, tells, ("Hi", "Ho"));
        let mut forked = if is_begun { Out::default() } else { ask_fork(&mut desk, "s1") };
        let begun = ask_prompt(&mut desk, "turn", "s1", "Go").request("session/prompt");
        kept.user(&begun);
        desk.agent(says("Part of Go"));
        desk.wait(300);
        if is_begun {
            forked = ask_fork(&mut desk, "s1");
        }
        let out = desk.reply(&forked.request("session/fork"), json!({"sessionId": "f1"}));
        let fork = out.answer("fork")["result"]["sessionId"].as_str().unwrap().to_owned();
        let asked = ask_prompt(&mut desk, "next", &fork, "Next").request("session/prompt");
        kept.user(&asked);
        kept.agent("Well");
        desk.agent(update("f1", chunk("agent_message_chunk", "Well")));
        desk.reply(&asked, json!({"stopReason": "end_turn"}));
        leave(desk);
        for time in ["once", "twice"] {
            let mut desk = Desk::ready(&store, &world, &forks);
            let out = ask_load(&mut desk, "load", &fork);
            let out = tell(&mut desk, out, &kept, tells);
            let when = format!("begun before: {is_begun}, {tells:?}, {time}");
            assert_whole(&out, &[("Go", Answered::Text)], &[("Next", "Well")], &when);
            leave(desk);
        }
    }
}

#[test]
fn what_is_new_behind_such_a_prompt_comes_behind_what_was_answered() {
    // What the window that was killed had of the next turn, and what the agent has kept of it.
    for (had, told) in [(None, "Elsewhere"), (Some("We"), "Well"), (Some(""), "Well")] {
        for ends in [Ends::Cancelled, Ends::Failed] {
            let when = format!("{ends:?}, {had:?}");
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut kept = Kept::default();
            let mut desk = Desk::ready(&store, &world, &loads());
            desk.new_session("s1", CWD);
            finish(&mut desk, &mut kept, Tells::Messages, ("Hi", "Ho"));
            let cut = ("Go", Answered::TextAndCall, ends, Tells::Messages);
            let mut desk = cut_short((&store, &world), desk, &mut kept, cut);
            kept.0.extend([(true, "Next".to_owned()), (false, told.to_owned())]);
            if let Some(had) = had {
                ask_prompt(&mut desk, "next", "s1", "Next");
                desk.agent(says(had));
                desk.wait(300);
                drop(desk);
                world.now.set(world.now.get() + UNTIL_FORGOTTEN);
            } else {
                leave(desk);
            }
            for time in ["once", "twice"] {
                let mut desk = listing(&store, &world, "a", &lists(), &[row("s1", "One", LATER)]);
                let out = load(&mut desk, &kept, Tells::Messages);
                assert_eq!(words(&out), shown(&[("Go", Answered::TextAndCall)], &[("Next", told)]), "{when}, {time}");
                let has_set_aside = mark(&out, "load")["setAside"].is_u64();
                // A whole answer comes in the place of a part, once.
                assert_eq!(has_set_aside, had.is_some() && time == "once", "{when}, {time}");
                leave(desk);
            }
        }
    }
}

#[test]
fn what_the_agent_has_lost_of_its_last_answer_it_is_told_once() {
    // What it has kept of the answer: a part of it at most.
    let kept_parts = ["", "Part"];
    for (ends, tells) in ENDS.into_iter().flat_map(|ends| TELLS.map(|tells| (ends, tells))) {
        for (answered, part) in
            [Answered::Text, Answered::TextAndCall].into_iter().flat_map(|of| kept_parts.map(|part| (of, part)))
        {
            let when = format!("{ends:?}, {tells:?}, {answered:?}, {part:?}");
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut kept = Kept::default();
            let mut desk = Desk::ready(&store, &world, &loads());
            desk.new_session("s1", CWD);
            finish(&mut desk, &mut kept, tells, ("Hi", "Ho"));
            let desk = cut_short((&store, &world), desk, &mut kept, ("Go", answered, ends, tells));
            leave(desk);
            if !part.is_empty() {
                kept.agent(part);
            }
            for time in ["once", "twice"] {
                let mut desk = Desk::ready(&store, &world, &loads());
                assert_whole(&load(&mut desk, &kept, tells), &[("Go", answered)], &[], &format!("{when}, {time}"));
                leave(desk);
            }
            let mut desk = Desk::ready(&store, &world, &loads());
            load(&mut desk, &kept, tells);
            let told = account(&finish(&mut desk, &mut kept, tells, ("Next", "Well"))).unwrap();
            assert_eq!(told.matches("Part of Go").count(), 1, "{when}: {told}");
            assert!(!told.contains("User: ") && !told.contains("Ho"), "{when}: {told}");
            for prompt in ["More", "And more"] {
                let told = account(&finish(&mut desk, &mut kept, tells, (prompt, "Yes")));
                assert_eq!(told, None, "{when}");
                leave(desk);
                desk = Desk::ready(&store, &world, &loads());
                load(&mut desk, &kept, tells);
            }
            leave(desk);
        }
    }
}

#[test]
fn an_agent_that_was_started_again_is_told_what_it_has_lost_of_its_last_answer() {
    for tells in TELLS {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut kept = Kept::default();
        let mut desk = Desk::ready(&store, &world, &loads());
        desk.new_session("s1", CWD);
        finish(&mut desk, &mut kept, tells, ("Hi", "Ho"));
        let cut = ("Go", Answered::TextAndCall, Ends::AgentRestarted, tells);
        let mut desk = cut_short((&store, &world), desk, &mut kept, cut);
        let told = account(&finish(&mut desk, &mut kept, tells, ("Next", "Well"))).unwrap();
        assert_eq!(told.matches("Part of Go").count(), 1, "{tells:?}: {told}");
        assert!(!told.contains("User: "), "{tells:?}: {told}");
        assert_eq!(account(&finish(&mut desk, &mut kept, tells, ("More", "Yes"))), None, "{tells:?}");
        leave(desk);
    }
}
