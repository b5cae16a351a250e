//! A layer behind a layer, with a store of its own or over the same one, and an agent behind them.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World};
use crate::scenes::{CWD, said, updates};
use crate::side_by_side::shown;
use crate::stack::{Bottom, Does, KINDS, Stack};

#[test]
fn two_layers_are_as_good_as_one() {
    for kind in KINDS {
        are_as_good_as_one(kind, [&Memory::new(), &Memory::new()]);
    }
}

#[test]
fn two_layers_tell_the_title_once() {
    for kind in KINDS {
        let (stores, world) = ([&Memory::new(), &Memory::new()], World::unrecorded());
        let mut bottom = Bottom::of(kind);
        let mut stack = Stack::ready(stores, &world, &mut bottom);
        let id = stack.new_session();
        stack.prompt(&id, "First question");
        stack.close();
        for method in ["session/load", "session/resume"] {
            let mut stack = Stack::ready(stores, &world, &mut bottom);
            for time in ["first", "live"] {
                let out = stack.ask(method, json!({"sessionId": id, "cwd": CWD, "mcpServers": []}));
                let told: Vec<&Value> =
                    updates(&out, "session_info_update").iter().map(|told| &told["title"]).collect();
                assert_eq!(told, ["First question"], "{kind}, {method}, {time}");
            }
            stack.close();
        }
    }
}

#[test]
fn two_windows_through_two_layers_are_shown_each_others_turns_once() {
    for kind in KINDS {
        for is_one_store in [false, true] {
            let (outer, inner) = (Memory::new(), Memory::new());
            let (stores, world) = (if is_one_store { [&outer; 2] } else { [&outer, &inner] }, World::unrecorded());
            let bottom = || Bottom::of(kind);
            let (mut one, mut two) = (bottom(), bottom());
            let mut first = Stack::ready(stores, &world, &mut one);
            let id = first.new_session();
            first.prompt(&id, "First question");
            two.sessions.clone_from(&first.bottom.sessions);
            let mut second = Stack::ready(stores, &world, &mut two);
            second.load(&id, &Value::Null);
            // An instance that has taken over knows as well whose the client's store is.
            let memos = std::mem::take(&mut second.inner.memos);
            second.inner = Desk::carry_on(stores[1], &world, &[], memos, Vec::new());
            second.prompt(&id, "Second question");
            let out = first.settle(Out::default());
            let told = ["> Second question", "Re: Second question"];
            assert_eq!(shown(&out), told, "{kind}, one store: {is_one_store}");
            first.prompt(&id, "Third question");
            assert_eq!(first.bottom.told("Re: Second question"), 1, "{kind}, one store: {is_one_store}");
            assert_eq!(first.bottom.told("Re: First question"), 0, "{kind}, one store: {is_one_store}");
            let all =
                [&["> First question", "Re: First question"], &told[..], &["> Third question", "Re: Third question"]];
            let is_whole = |stack: &mut Stack<'_>| {
                let out = stack.load(&id, &Value::Null);
                assert_eq!(said(&out.client), all.concat(), "{kind}, one store: {is_one_store}");
                assert!(!format!("{:?}", out.client).contains("elsewhere"), "{kind}, one store: {is_one_store}");
            };
            is_whole(&mut first);
            is_whole(&mut second);
            first.close();
            second.close();
            let mut again = Stack::ready(stores, &world, &mut one);
            is_whole(&mut again);
            let inner = again.inner.ask("session/list", json!({}))["result"]["sessions"].clone();
            assert_eq!(inner.as_array().unwrap().len(), 1, "{kind}");
        }
    }
}

/// How a window's turn stands when another window prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beside {
    /// It has failed, and both had the session open.
    Failed,
    /// It is under way, and the other has just opened the session.
    UnderWay,
    /// Both have had one, and the session is forked then.
    Forked,
}

#[test]
fn an_agent_behind_two_layers_is_never_told_twice_what_other_windows_have_said() {
    for (kind, beside) in
        KINDS.iter().flat_map(|kind| [Beside::Failed, Beside::UnderWay, Beside::Forked].map(|beside| (kind, beside)))
    {
        let ([outer, inner], world) = ([(); 2].map(|()| Memory::new()), World::unrecorded());
        let bottom = || Bottom::of(kind);
        let (mut one, mut two) = (bottom(), bottom());
        let mut first = Stack::ready([&outer, &inner], &world, &mut one);
        let id = first.new_session();
        first.prompt(&id, "First question");
        two.sessions.clone_from(&first.bottom.sessions);
        let mut second = Stack::ready([&outer, &inner], &world, &mut two);
        if beside != Beside::UnderWay {
            second.load(&id, &Value::Null);
        }
        first.bottom.does = match beside {
            Beside::Failed => Does::Fails,
            Beside::UnderWay => Does::Nothing,
            Beside::Forked => Does::Answers,
        };
        let prompt = json!([{"type": "text", "text": "Second question"}]);
        first.ask("session/prompt", json!({"sessionId": id, "prompt": prompt}));
        if beside == Beside::UnderWay {
            second.load(&id, &Value::Null);
        }
        let mut asked = id.clone();
        if beside == Beside::Forked {
            second.prompt(&id, "Another question");
            let out = second.ask("session/fork", json!({"sessionId": id, "cwd": CWD}));
            out.answer("session/fork")["result"]["sessionId"].as_str().unwrap().clone_into(&mut asked);
        }
        let before = second.bottom.told("User: Second question");
        second.prompt(&asked, "Third question");
        let told = second.bottom.told("User: Second question") - before;
        assert!(told <= 1, "{kind}, {beside:?}: {told} times");
        first.close();
        second.close();
        // The account is nobody's words, in neither store.
        for store in [&outer, &inner] {
            let mut desk = Desk::open(store, &world, &[]);
            desk.greet(Some("bottom"), &json!({}));
            let out = desk.client(json!({"id": "load", "method": "session/load",
                "params": {"sessionId": asked, "cwd": CWD, "mcpServers": []}}));
            let said = said(&out.client).concat();
            assert!(!said.contains("restored for you"), "{kind}, {beside:?}: {said}");
        }
    }
}

#[test]
fn what_was_said_through_a_layer_with_another_store_is_shown_once() {
    // Where two windows have the session open through one store, a load shows it, and each window's client once.
    for (kind, is_beside) in KINDS.iter().flat_map(|kind| [(kind, false), (kind, true)]) {
        let ([one, two, inner], world) = ([(); 3].map(|()| Memory::new()), World::unrecorded());
        let bottom = || Bottom::of(kind);
        let (mut first, mut second, mut third) = (bottom(), bottom(), bottom());
        let mut here = Stack::ready([&one, &inner], &world, &mut first);
        let id = here.new_session();
        here.prompt(&id, "First question");
        second.sessions.clone_from(&here.bottom.sessions);
        let mut there = Stack::ready([&two, &inner], &world, &mut second);
        there.load(&id, &Value::Null);
        third.sessions.clone_from(&here.bottom.sessions);
        let mut beside = is_beside.then(|| {
            let mut beside = Stack::ready([&one, &inner], &world, &mut third);
            beside.load(&id, &Value::Null);
            beside
        });
        there.prompt(&id, "Second question");
        let told: &[&str] = if is_beside { &[] } else { &["> Second question", "Re: Second question"] };
        assert_eq!(shown(&here.settle(Out::default())), told, "{kind}");
        if let Some(beside) = &mut beside {
            assert_eq!(shown(&beside.settle(Out::default())), [""; 0], "{kind}");
        }
        here.prompt(&id, "Third question");
        assert_eq!(here.bottom.told("Re: Second question"), 1, "{kind}");
        here.close();
        there.settle(Out::default());
        there.close();
        if let Some(mut beside) = beside {
            beside.settle(Out::default());
            beside.close();
        }
        let all = ["First", "Second", "Third"].map(|nth| [format!("> {nth} question"), format!("Re: {nth} question")]);
        for stores in [[&one, &inner], [&two, &inner]] {
            for _ in 0..2 {
                let mut again = Stack::ready(stores, &world, &mut first);
                let out = again.load(&id, &Value::Null);
                assert_eq!(said(&out.client), all.concat(), "{kind}, {is_beside}");
                assert!(!format!("{:?}", out.client).contains("elsewhere"), "{kind}");
                again.close();
            }
        }
    }
}

/// The life of a session and of a fork of it.
pub(crate) fn are_as_good_as_one(kind: &str, stores: [&Memory; 2]) {
    let world = World::default();
    let mut bottom = Bottom::of(kind);
    let mut stack = Stack::ready(stores, &world, &mut bottom);
    let id = stack.new_session();
    let out = stack.prompt(&id, "First question");
    assert_eq!(said(&out.client), ["Re: First question"], "{kind}");
    stack.prompt(&id, "Second question");
    stack.close();

    let whole = ["> First question", "Re: First question", "> Second question", "Re: Second question"];
    for _ in 0..2 {
        let mut stack = Stack::ready(stores, &world, &mut bottom);
        let rows = stack.rows(json!({}));
        let titles: Vec<&Value> = rows.iter().map(|row| &row["title"]).collect();
        assert_eq!(titles, ["First question"], "{kind}");
        assert_eq!(stack.rows(json!({"_meta": {"acp-sessions": {"search": "second"}}})).len(), 1, "{kind}");
        let out = stack.load(&id, &json!({"last": 1}));
        assert_eq!(said(&out.client), [*whole.last().unwrap()], "{kind}");
        assert_eq!(said(&stack.load(&id, &Value::Null).client), whole, "{kind}: live");
        stack.close();
        let mut stack = Stack::ready(stores, &world, &mut bottom);
        let out = stack.load(&id, &Value::Null);
        assert_eq!(said(&out.client), whole, "{kind}");
        let titles = updates(&out, "session_info_update");
        assert!(!titles.is_empty() && titles.iter().all(|told| told["title"] == "First question"), "{kind}");
        stack.close();
    }

    let mut stack = Stack::ready(stores, &world, &mut bottom);
    stack.load(&id, &Value::Null);
    let out = stack.prompt(&id, "Third question");
    assert_eq!(said(&out.client), ["Re: Third question"], "{kind}");
    let told = stack.bottom.told("Re: First question");
    assert_eq!(told, usize::from(!stack.bottom.remembers()), "{kind}: told of it once, where it has forgotten");
    stack.prompt(&id, "Fourth question");
    assert_eq!(stack.bottom.told("Re: First question"), told, "{kind}: and never again");
    let out = stack.load(&id, &Value::Null);
    assert_eq!(said(&out.client).len(), 8, "{kind}");
    stack.close();

    let mut stack = Stack::ready(stores, &world, &mut bottom);
    let out = stack.ask("session/fork", json!({"sessionId": id, "cwd": CWD}));
    let fork = out.answer("session/fork")["result"]["sessionId"].as_str().unwrap().to_owned();
    stack.prompt(&fork, "Only here");
    assert_eq!(said(&stack.load(&fork, &Value::Null).client).len(), 10, "{kind}");
    assert_eq!(said(&stack.load(&id, &Value::Null).client).len(), 8, "{kind}");
    stack.ask("session/set_title", json!({"sessionId": fork, "title": "Mine"}));
    stack.close();

    let mut stack = Stack::ready(stores, &world, &mut bottom);
    let mut titles: Vec<Value> = stack.rows(json!({})).iter().map(|row| row["title"].clone()).collect();
    titles.sort_by_key(Value::to_string);
    assert_eq!(titles.len(), 2, "{kind}: {titles:?}");
    assert_eq!(titles[1], "Mine", "{kind}");
    let mut inner = stack.inner.ask("session/list", json!({}))["result"]["sessions"].clone();
    inner.as_array_mut().unwrap().retain(|row| row["title"] == "Mine");
    assert_eq!(inner.as_array().unwrap().len(), 1, "{kind}: the inner layer has the title too");
    for session in [&id, &fork] {
        let out = stack.ask("session/delete", json!({"sessionId": session}));
        assert_eq!(out.answer("session/delete")["result"], json!({}), "{kind}");
    }
    assert_eq!(stack.rows(json!({})), [] as [Value; 0], "{kind}");
    stack.close();
    let mut stack = Stack::ready(stores, &world, &mut bottom);
    assert_eq!(stack.rows(json!({})), [] as [Value; 0], "{kind}");
    let (inner, warnings) = (stack.inner.listed(), [stack.outer.warnings.clone(), stack.inner.warnings.clone()]);
    assert_eq!((inner, warnings.concat()), (vec![], vec![]), "{kind}");
    let left = stores.map(Memory::counts).map(|(_, entries, texts)| (entries, texts));
    assert_eq!(left, [(0, 0); 2], "{kind}");
}
