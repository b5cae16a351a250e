//! A user's words with the tags between which Claude Code keeps what it has its model know: its adapter leaves such elements out of them
//! when it tells them again.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{World, chunk};
use crate::scenes::{Turns, answers, as_shown, begun, leave, prompt_until_sent, says, shown_later};

/// What is shown of a conversation of which the agent tells these turns, and whether something is set aside for that.
fn shown(store: &Memory, world: &World, told: Turns<'_>) -> (String, bool) {
    let messages =
        |(prompt, answer): &(&str, &str)| [chunk("user_message_chunk", prompt), chunk("agent_message_chunk", answer)];
    let told: Vec<Value> = told.iter().flat_map(messages).collect();
    shown_later(store, world, &told)
}

/// What was said, what its agent tells of it, and whether that is the same prompt.
const CASES: &[(&str, &str, bool)] = &[
    (
        "Why does my hook print <system-reminder>be brief</system-reminder> twice?",
        "Why does my hook print  twice?",
        true,
    ),
    ("<command-name>/foo</command-name> is what?", " is what?", true),
    (
        "a <task-notification>1</task-notification>b<local-command-stdout>2\n3</local-command-stdout> c<command-args></command-args>",
        "a b c",
        true,
    ),
    ("What is <system-reminder> for?", "What is <system-reminder> for?", true),
    ("And </system-reminder> then <system-reminder>?", "And </system-reminder> then <system-reminder>?", true),
    ("<system-reminder>be brief</system-reminder>", "<system-reminder>be brief</system-reminder>", true),
    ("<command-name>/foo</command-name><command-args>a b</command-args>", "/foo a b", true),
    ("It says <system-reminder>x</system-reminder>", "It says <system-reminder>x</system-reminder>", true),
    ("Go on", "Go on<system-reminder>The file has changed.</system-reminder>", true),
    ("What is <b>this</b> here?", "What is  here?", false),
    ("What is <system-reminder>this</system-reminder> here?", "What is there?", false),
];

#[test]
fn the_prompt_is_shown_as_it_was_typed() {
    for (had, told, is_same) in CASES.iter().copied() {
        let (had, told) = ((had, "Ok."), (told, "Ok."));
        let (one, three) = (("one", "First."), ("three", "Third."));
        for (before, behind) in [(&[one][..], &[three][..]), (&[], &[three]), (&[one], &[])] {
            let (store, world) = (Memory::new(), World::unrecorded());
            leave(begun(&store, &world, &json!({"loadSession": true}), &[before, &[had], behind].concat()));
            for since in [&[][..], &[("four", "Fourth.")], &[("four", "Fourth.")]] {
                let told = [before, &[told], behind, since].concat();
                let stays = [before, &[had], behind, since].concat();
                let (words, is_set_aside) = shown(&store, &world, &told);
                if is_same {
                    assert_eq!((words, is_set_aside), (as_shown(&stays), false), "{told:?}");
                } else if !behind.is_empty() && !before.is_empty() {
                    assert_eq!(words, as_shown(&told), "{told:?}");
                }
            }
        }
    }
}

#[test]
fn a_prompt_of_several_blocks_is_shown_as_it_was_sent() {
    let text = |text: &str| json!({"type": "text", "text": text});
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = begun(&store, &world, &json!({"loadSession": true}), &[("one", "First.")]);
    let prompt = [text("<system-reminder>be brief</system-reminder>"), text("What is that?")];
    prompt_until_sent(&mut desk, "turn", &prompt);
    desk.agent(says("Ok."));
    desk.agent(answers("turn"));
    leave(desk);
    let kept = "<system-reminder>be brief</system-reminder>What is that?";
    let expected =
        as_shown(&[("one", "First."), ("<system-reminder>be brief</system-reminder>> What is that?", "Ok.")]);
    for told in ["What is that?", kept] {
        assert_eq!(shown(&store, &world, &[("one", "First."), (told, "Ok.")]), (expected.clone(), false), "{told}");
    }
}
