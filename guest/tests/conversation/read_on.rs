//! A history that is read on behind a cursor which was taken in the midst of another window's words: all comes that was said
//! since, also what has joined the words before it.

use acp_sessions_corpus::Call;
use acp_sessions_guest::storage::{Memory, Storage};
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, update};
use crate::scenes::{CWD, ask_prompt, leave, mark, oblige, said};
use crate::side_by_side::{SOON, ends, shown, two_windows};

/// How long it takes until what an agent has said stands in the log, in milliseconds.
const WRITTEN: i64 = 150;

fn says_piece<S: Storage>(desk: &mut Desk<'_, S>, piece: &str) {
    desk.agent(update("b1", chunk("agent_message_chunk", piece)));
    desk.wait(WRITTEN);
}

/// Loads `s1`, as far as this asks for.
fn load<S: Storage>(desk: &mut Desk<'_, S>, replay: Option<Value>) -> Out {
    let mut params = json!({"sessionId": "s1", "cwd": CWD, "mcpServers": []});
    if let Some(replay) = replay {
        params["_meta"] = json!({"acp-sessions": {"replay": replay}});
    }
    let out = desk.client(json!({"id": "load", "method": "session/load", "params": params}));
    oblige(desk, out, &[], "fresh")
}

fn cursor(loaded: &Out) -> Value {
    mark(loaded, "load")["cursor"].clone()
}

fn opens<'a>(store: &'a Memory, world: &'a World) -> Desk<'a> {
    Desk::ready(store, world, &json!({"sessionCapabilities": {"resume": {}}}))
}

/// What a client has read of the conversation, who goes on where it was.
#[derive(Default)]
struct Panel {
    cursor: Option<String>,
    read: String,
}

impl Panel {
    fn read_on(&mut self, store: &Memory, world: &World, limit: u32) {
        loop {
            let after = self.cursor.clone();
            let call = Call::ReadTranscript { session_id: "s1".to_owned(), after, limit };
            let page = world.recorder.typed(store, world.time(), call);
            for row in page["ok"]["updates"].as_array().unwrap_or_else(|| panic!("{page}")) {
                let update: Value = serde_json::from_str(row["update"].as_str().unwrap()).unwrap();
                self.read.push_str(update["content"]["text"].as_str().unwrap_or_default());
                self.cursor = row["cursor"].as_str().map(str::to_owned);
            }
            if page["ok"]["more"] != true {
                return;
            }
        }
    }
}

#[test]
fn a_panel_that_reads_on_while_an_answer_grows_has_all_of_it() {
    for limit in [1, 100] {
        for is_in_turn in [false, true] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let (first, mut second) = two_windows(&store, &world);
            leave(first);
            let theirs = is_in_turn.then(|| ask_prompt(&mut second, "theirs", "s1", "Theirs"));
            let (mut every, mut some) = (Panel::default(), Panel::default());
            for at in 0..6 {
                says_piece(&mut second, &format!("piece {at} é\u{1f600}\n\"\\, "));
                every.read_on(&store, &world, limit);
                if at % 4 == 1 {
                    some.read_on(&store, &world, limit);
                }
            }
            if let Some(theirs) = theirs {
                ends(&mut second, &theirs);
            }
            second.turn("s1", "More", &["More of it"]);
            leave(second);
            let mut whole = Panel::default();
            whole.read_on(&store, &world, limit);
            for mut panel in [every, some] {
                panel.read_on(&store, &world, limit);
                assert_eq!(panel.read, whole.read, "limit {limit}, in a turn: {is_in_turn}");
                panel.read_on(&store, &world, limit);
                assert_eq!(panel.read, whole.read, "nothing comes twice");
            }
        }
    }
}

#[test]
fn who_left_in_the_midst_of_anothers_turn_is_shown_the_rest_of_it_when_it_comes_back() {
    for (before, after) in [(1, 0), (1, 1), (1, 3), (3, 1), (0, 2)] {
        for goes_on in [false, true] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let (first, mut second) = two_windows(&store, &world);
            leave(first);
            let theirs = ask_prompt(&mut second, "theirs", "s1", "Theirs");
            (0..before).for_each(|at| says_piece(&mut second, &format!("piece {at}, ")));
            let mut third = opens(&store, &world);
            let begun = load(&mut third, None);
            leave(third);
            (before..before + after).for_each(|at| says_piece(&mut second, &format!("piece {at}, ")));
            ends(&mut second, &theirs);
            if goes_on {
                second.turn("s1", "More", &["More of it"]);
            }
            leave(second);
            let mut fourth = opens(&store, &world);
            let rest = load(&mut fourth, Some(json!({"after": cursor(&begun)})));
            let again = load(&mut fourth, Some(json!({"after": cursor(&rest)})));
            let whole = said(&load(&mut fourth, None).client).concat();
            let seen = said(&begun.client).concat() + &said(&rest.client).concat();
            assert_eq!(seen, whole, "{before}, {after}, goes on: {goes_on}");
            assert_eq!(said(&again.client), [""; 0]);
        }
    }
}

#[test]
fn of_a_turn_elsewhere_the_rest_is_shown_behind_loads_that_went_on_in_the_midst_of_it() {
    // Before which pieces it is loaded once more, behind the cursor of the load before.
    for loads in [vec![2], vec![2, 3], vec![0, 4]] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let (first, mut second) = two_windows(&store, &world);
        leave(first);
        let theirs = ask_prompt(&mut second, "theirs", "s1", "Theirs");
        says_piece(&mut second, "begun, ");
        let mut third = opens(&store, &world);
        let mut loaded = load(&mut third, None);
        let mut seen = said(&loaded.client);
        for at in 0..5 {
            if loads.contains(&at) {
                loaded = load(&mut third, Some(json!({"after": cursor(&loaded)})));
                seen.extend(said(&loaded.client));
            }
            says_piece(&mut second, &format!("piece {at}, "));
            assert_eq!(said(&third.wait(SOON).client), [""; 0]);
        }
        ends(&mut second, &theirs);
        seen.extend(shown(&third.wait(SOON)));
        let whole = "> HiHo> Theirsbegun, piece 0, piece 1, piece 2, piece 3, piece 4, ";
        assert_eq!(seen.concat(), whole, "{loads:?}");
    }
}

#[test]
fn of_a_turn_elsewhere_the_rest_is_shown_behind_a_load_that_has_shown_nothing() {
    // The cursor is one of an earlier version, behind all that was said.
    for replay in [json!({"last": 0}), json!({"after": "r2-0-5-tx"})] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let (first, mut second) = two_windows(&store, &world);
        leave(first);
        let theirs = ask_prompt(&mut second, "theirs", "s1", "Theirs");
        says_piece(&mut second, "before, ");
        let mut third = opens(&store, &world);
        let loaded = load(&mut third, Some(replay.clone()));
        assert_eq!(said(&loaded.client), [""; 0], "{replay}");
        says_piece(&mut second, "after");
        ends(&mut second, &theirs);
        assert_eq!(shown(&third.wait(SOON)), ["after"], "{replay}");
        let rest = load(&mut third, Some(json!({"after": cursor(&loaded)})));
        assert_eq!(said(&rest.client), ["after"], "{replay}, behind its cursor");
    }
}
