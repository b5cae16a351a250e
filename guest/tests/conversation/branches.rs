//! An agent that keeps a session as a tree: each of its programs goes on from what it read when it opened the session, and a replay
//! follows one branch, from what was written last. What was said in other windows meanwhile stands on other branches. It is no less
//! said for that: it stays, and the agent is told of it.

mod tree;

use acp_sessions_guest::storage::Memory;
use acp_sessions_guest::time;
use serde_json::json;

use crate::desk::{Desk, World};
use crate::scenes::{IMAGE, Turns, account, begun, leave, lines, listing, load, mark, row, said, says, words};
use tree::{LATER, Tree, Window, assert_shown, assert_stays, loads};

#[test]
fn the_end_of_a_long_answer_stays_where_the_session_was_gone_on_with_in_a_window_that_was_opened_in_its_midst() {
    for (has_list, is_over, before, has_third) in [false, true].into_iter().flat_map(|has_list| {
        [(true, 1, false), (true, 2, false), (true, 0, false), (false, 1, false), (false, 2, false), (true, 1, true)]
            .map(|(is_over, before, has_third)| (has_list, is_over, before, has_third))
    }) {
        let when = format!("list: {has_list}, over: {is_over}, {before} before, third window: {has_third}");
        let (store, world, tree) = (Memory::new(), World::unrecorded(), Tree::default());
        let mut first = Window::first(&store, &world, &tree);
        first.prompt("Long");
        let pieces = ["I look at it. ", "There is more. ", "THE RESULT."];
        for piece in &pieces[..before] {
            first.say(piece);
        }
        let mut second = Window::open(&store, &world, &tree, false);
        let mut more = String::new();
        if has_third {
            let mut third = Window::open(&store, &world, &tree, false);
            third.turn("Beside", "At its side");
            leave(third.desk);
            more.push_str("> BesideAt its side");
        }
        let finish = |first: &mut Window<'_>| {
            for piece in &pieces[before..] {
                first.say(piece);
            }
            first.end();
        };
        if is_over {
            finish(&mut first);
            second.desk.wait(1000);
            let told = account(&second.turn("Next", "Well")).unwrap();
            assert_eq!(told.matches("THE RESULT.").count(), 1, "{when}: {told}");
        } else {
            second.prompt("Next");
            finish(&mut first);
            second.say("Well");
            second.end();
        }
        if is_over {
            second.turn("And more", "Sure");
        }
        leave(first.desk);
        leave(second.desk);
        let answer = pieces.concat();
        let next = if is_over { "> NextWell> And moreSure" } else { "> NextWell" };
        let lacks: &[&str] = if is_over { &[] } else { &["THE RESULT."] };
        let all = format!("> HiHo> Long{answer}{more}{next}");
        assert_stays((&store, &world), &tree, has_list, (&all, lacks), &when);
    }
}

#[test]
fn turns_beside_a_long_one_stay_and_the_agent_is_told_of_them() {
    for (has_list, count, is_outside) in
        [(false, 1, false), (true, 1, false), (true, 4, false), (false, 1, true), (true, 1, true), (true, 4, true)]
    {
        let when = format!("list: {has_list}, {count} beside, outside: {is_outside}");
        let (store, world, tree) = (Memory::new(), World::unrecorded(), Tree::default());
        let mut first = Window::first(&store, &world, &tree);
        let mut second = Window::open(&store, &world, &tree, false);
        first.prompt("Long");
        first.say("Begun, ");
        let prompts = ["One beside", "Two beside", "Three beside", "Four beside"];
        let (mut all, mut lacks) = ("> HiHo> LongBegun, and done".to_owned(), Vec::new());
        for prompt in &prompts[..count] {
            second.turn(prompt, &format!("Answer to {}", &prompt[..3]));
            all = format!("{all}> {prompt}Answer to {}", &prompt[..3]);
            lacks.push(*prompt);
        }
        first.say("and done");
        first.end();
        leave(first.desk);
        leave(second.desk);
        if is_outside {
            let asked = tree.write(tree.last(), true, "Outside");
            tree.write(asked, false, "There");
            all = format!("{all}> OutsideThere");
        }
        assert_stays((&store, &world), &tree, has_list, (&all, &lacks), &when);
    }
}

#[test]
fn an_agent_that_goes_on_with_another_windows_branch_is_told_the_turns_of_its_own() {
    let resumes = json!({"loadSession": true, "sessionCapabilities": {"resume": {}}});
    for (capabilities, has_list) in [&loads(), &resumes].into_iter().flat_map(|able| [(able, false), (able, true)]) {
        let when = format!("{capabilities}, list: {has_list}");
        let (store, world, tree) = (Memory::new(), World::unrecorded(), Tree::default());
        let mut first = Window::first(&store, &world, &tree);
        let mut second = Window::open_with(&store, &world, &tree, (capabilities, has_list));
        first.prompt("Long");
        second.turn("Beside", "At its side");
        first.say("Begun, ");
        leave(second.desk);
        let mut second = Window::open_with(&store, &world, &tree, (capabilities, has_list));
        second.assert_whole("> HiHo> LongBegun, > BesideAt its side", &when);
        let told = account(&second.turn("Next", "Well")).unwrap_or_default();
        for text in ["Beside", "At its side"] {
            assert_eq!(told.matches(text).count(), 1, "{when}: {told}");
        }
        let told = account(&second.turn("And more", "Sure"));
        assert_eq!(told, None, "{when}");
    }
}

#[test]
fn what_was_said_before_a_prompt_on_another_branch_is_not_told_again_whether_or_not_the_prompt_has_words() {
    for prompt in ["Next", IMAGE] {
        let (store, world, tree) = (Memory::new(), World::unrecorded(), Tree::default());
        let mut first = Window::first(&store, &world, &tree);
        let mut second = Window::open(&store, &world, &tree, false);
        first.turn("Before", "Said before");
        let told = account(&second.turn(prompt, "A picture")).unwrap_or_default();
        assert!(told.contains("Said before"), "{prompt}: {told}");
        leave(first.desk);
        leave(second.desk);
        let mut third = Window::open(&store, &world, &tree, false);
        third.assert_whole(&format!("> HiHo> BeforeSaid before> {prompt}A picture"), prompt);
        assert_eq!(account(&third.turn("And more", "Sure")), None, "{prompt}");
    }
}

/// In which of two windows each turn is had, which of them is closed last, and what that one's branch lacks.
const IN_TURN: [(&[usize], usize, &[&str]); 6] = [
    (&[1, 0], 1, &["Prompt 1"]),
    (&[1, 0], 0, &[]),
    (&[1, 0, 0], 1, &["Prompt 1", "Prompt 2"]),
    (&[1, 0, 1, 0], 1, &["Prompt 3"]),
    (&[1, 0, 1, 0], 0, &[]),
    (&[1, 0, 1], 0, &["Prompt 2"]),
];

/// Turns in these windows, one after the other; all that was said in the session.
fn take_turns(windows: &mut [Window<'_>; 2], course: &[usize]) -> String {
    let mut all = "> HiHo".to_owned();
    for (at, window) in course.iter().enumerate() {
        windows[*window].turn(&format!("Prompt {at}"), &format!("Answer {at}"));
        windows[1 - *window].desk.wait(1000);
        all = format!("{all}> Prompt {at}Answer {at}");
    }
    all
}

#[test]
fn turns_one_after_the_other_in_several_windows_are_told_to_whoever_goes_on_with_another_branch() {
    let resumes = json!({"loadSession": true, "sessionCapabilities": {"resume": {}}});
    for (capabilities, has_list) in [&loads(), &resumes].into_iter().flat_map(|able| [(able, false), (able, true)]) {
        for (course, last, lacks) in IN_TURN {
            let when = format!("{course:?}, closed last: {last}, {capabilities}, list: {has_list}");
            let (store, world, tree) = (Memory::new(), World::unrecorded(), Tree::default());
            let first = Window::first(&store, &world, &tree);
            let second = Window::open_with(&store, &world, &tree, (capabilities, has_list));
            let mut windows = [first, second];
            let all = take_turns(&mut windows, course);
            let leaf = windows[last].leaf;
            for window in windows {
                leave(window.desk);
            }
            tree.close(leaf);
            assert_stays((&store, &world), &tree, has_list, (&all, lacks), &when);
        }
    }
}

#[test]
fn who_goes_on_with_a_branch_that_is_not_the_one_that_is_told_is_told_what_that_one_lacks() {
    let resumes = json!({"loadSession": true, "sessionCapabilities": {"resume": {}}});
    for (capabilities, (course, last, lacks)) in
        [loads(), resumes].iter().flat_map(|able| IN_TURN.map(|course| (able, course)))
    {
        let when = format!("{course:?}, closed last: {last}, {capabilities}");
        let (store, world) = (Memory::new(), World::unrecorded());
        let tree = Tree { tells_last_said: true, ..Tree::default() };
        let open = || Window::open_with(&store, &world, &tree, (capabilities, true));
        let close = |window: Window<'_>| {
            leave(window.desk);
            tree.close(window.leaf);
            *tree.listed.borrow_mut() = Some(time::format(world.time()));
            world.now.set(world.now.get() + 60_000);
        };
        close(Window::first(&store, &world, &tree));
        let mut windows = [open(), open()];
        let all = take_turns(&mut windows, course);
        let [first, second] = windows;
        if last == 1 {
            close(first);
            close(second);
        } else {
            close(second);
            close(first);
        }
        for time in ["once", "twice"] {
            let window = open();
            window.assert_whole(&all, &format!("{when}, {time}"));
            close(window);
        }
        let mut window = open();
        let told = account(&window.turn("Last", "Yes")).unwrap_or_default();
        for text in lacks {
            assert_eq!(told.matches(text).count(), 1, "{when}: {told}");
        }
        assert_eq!(told.is_empty(), lacks.is_empty(), "{when}: {told}");
        close(window);
        assert_eq!(account(&open().turn("Very last", "Yes")), None, "{when}");
    }
}

#[test]
fn a_long_turn_beside_those_that_were_had_last_stays_and_the_agent_is_told_of_it() {
    for (has_list, is_told) in [(false, false), (true, false), (false, true), (true, true)] {
        let when = format!("list: {has_list}, told in its window: {is_told}");
        let (store, world, tree) = (Memory::new(), World::unrecorded(), Tree::default());
        let mut first = Window::first(&store, &world, &tree);
        let mut second = Window::open(&store, &world, &tree, false);
        first.prompt("Long");
        first.say("Begun, ");
        second.prompt("Beside");
        second.say("Answer");
        first.say("and done");
        first.end();
        second.say(" to it");
        second.end();
        let mut all = "> HiHo> LongBegun, and done> BesideAnswer to it".to_owned();
        if is_told {
            assert!(account(&second.turn("Next", "Well")).unwrap().contains("and done"), "{when}");
            all.push_str("> NextWell");
        }
        leave(first.desk);
        leave(second.desk);
        let lacks: &[&str] = if is_told { &[] } else { &["and done"] };
        assert_stays((&store, &world), &tree, has_list, (&all, lacks), &when);
    }
}

/// What is done in each of two windows: `> ` the user sends a prompt, the agent comes to an `=` with what it is at, or says this.
type Steps = &'static [(usize, &'static str)];

/// What is done, all that is said, and what the agent lacks of it.
const QUEUED: [(Steps, &str, &[&str]); 9] = [
    // Queued before anything is said, with a turn in the other window from before or behind that on,
    (
        &[(0, "> One"), (0, "> Two"), (1, "> Beside"), (1, "Aside"), (1, "="), (0, "1"), (0, "="), (0, "2"), (0, "=")],
        "> One> Two12> BesideAside",
        &["Aside"],
    ),
    (
        &[(0, "> One"), (1, "> Beside"), (0, "> Two"), (1, "Aside"), (1, "="), (0, "1"), (0, "="), (0, "2"), (0, "=")],
        "> One> Two12> BesideAside",
        &["Aside"],
    ),
    (
        &[(1, "> Beside"), (0, "> One"), (1, "Aside"), (0, "> Two"), (0, "1"), (0, "="), (0, "2"), (1, "="), (0, "=")],
        "> BesideAside> One> Two12",
        &["Aside"],
    ),
    // or in the midst of the first answer;
    (
        &[(0, "> One"), (1, "> Beside"), (0, "1"), (0, "> Two"), (0, "1"), (1, "Aside"), (1, "="), (0, "="), (0, "2")],
        "> One1> Two12> BesideAside",
        &["Aside"],
    ),
    // with the same answer twice,
    (
        &[(0, "> One"), (0, "> Two"), (1, "> Beside"), (1, "Aside"), (1, "="), (0, "OK"), (0, "="), (0, "OK")],
        "> One> TwoOKOK> BesideAside",
        &["Aside"],
    ),
    // and the same prompt;
    (
        &[(0, "> Go"), (0, "> Go"), (1, "> Go"), (1, "Aside"), (1, "="), (0, "OK"), (0, "="), (0, "OK")],
        "> Go> GoOKOK> GoAside",
        &["Aside"],
    ),
    // three of them,
    (
        &[
            (0, "> One"),
            (0, "> Two"),
            (1, "> Beside"),
            (1, "Aside"),
            (1, "="),
            (0, "> Three"),
            (0, "1"),
            (0, "="),
            (0, "2"),
            (0, "="),
            (0, "3"),
        ],
        "> One> Two> Three123> BesideAside",
        &["Aside"],
    ),
    // twice beside one long turn,
    (
        &[
            (1, "> Beside"),
            (0, "> One"),
            (0, "> Two"),
            (0, "1"),
            (0, "="),
            (0, "2"),
            (0, "="),
            (1, "Aside"),
            (0, "> Three"),
            (0, "> Four"),
            (0, "3"),
            (0, "="),
            (0, "4"),
            (1, "="),
            (0, "="),
        ],
        "> BesideAside> One> Two12> Three> Four34",
        &["Aside"],
    ),
    // and in both windows.
    (
        &[
            (0, "> One"),
            (0, "> Two"),
            (1, "> Beside"),
            (1, "> And beside"),
            (1, "A"),
            (1, "="),
            (1, "B"),
            (1, "="),
            (0, "1"),
            (0, "="),
            (0, "2"),
        ],
        "> One> Two12> Beside> And besideAB",
        &["AB"],
    ),
];

#[test]
fn a_turn_beside_prompts_that_were_queued_stays_and_the_agent_is_told_of_it() {
    let ways = [false, true].into_iter().flat_map(|has_list| {
        [(false, false), (true, false), (true, true)].map(|(is_gone_on, is_left)| (has_list, is_gone_on, is_left))
    });
    for (has_list, is_gone_on, is_left) in ways {
        for (steps, all, lacks) in QUEUED {
            let when = format!("{steps:?}, list: {has_list}, gone on with: {is_gone_on}, left before: {is_left}");
            let (store, world, tree) = (Memory::new(), World::unrecorded(), Tree::default());
            let first = Window::first(&store, &world, &tree);
            let second = Window::open(&store, &world, &tree, false);
            let mut windows = [first, second];
            let open = [(0, "="), (0, "=")].into_iter();
            let mut told = String::new();
            for (window, step) in steps.iter().copied().chain(open) {
                let window = &mut windows[window];
                match step.strip_prefix("> ") {
                    Some(prompt) => told += &account(&window.prompt(prompt)).unwrap_or_default(),
                    None if step != "=" => window.say(step),
                    None if window.waiting.is_empty() => {}
                    None => window.end(),
                }
            }
            let [mut first, second] = windows;
            let mut second = Some(second);
            if is_left && let Some(second) = second.take() {
                leave(second.desk);
            }
            let (mut all, mut lacks) = (format!("> HiHo{all}"), lacks);
            if is_gone_on {
                told += &account(&first.turn("Next", "Well")).unwrap_or_default();
                for text in lacks {
                    assert!(told.contains(text), "{when}: {told}");
                }
                (all, lacks) = (format!("{all}> NextWell"), &[]);
            }
            leave(first.desk);
            if let Some(second) = second {
                leave(second.desk);
            }
            assert_stays((&store, &world), &tree, has_list, (&all, lacks), &when);
        }
    }
}

#[test]
fn an_agent_is_believed_that_went_back_behind_a_turn_and_tells_something_else() {
    const ALL: Turns<'_> = &[("Hi", "Ho"), ("Go", "Going on and on"), ("Next", "Well")];
    let cases: [Turns<'_>; 6] = [
        &[("Hi", "Ho"), ("Go", "Going on"), ("Other", "Well")],
        &[("Hi", "Ho"), ("Go", "Going on"), ("Next", "Otherwise")],
        &[("Hi", "Ho"), ("Go", "Going on")],
        &[("Hi", "Ho"), ("Go", "Gone"), ("Next", "Well")],
        &[("Hi", "Ho"), ("Go", "Going on and on")],
        &[("Hi", "Ho")],
    ];
    for told in cases {
        let (store, world) = (Memory::new(), World::unrecorded());
        leave(begun(&store, &world, &loads(), ALL));
        let mut desk = listing(&store, &world, "a", &loads(), &[row("s1", "One", LATER)]);
        let out = load(&mut desk, "s1", told);
        assert_eq!(said(&out.client), lines(&[told]), "{told:?}");
        assert!(mark(&out, "load")["setAside"].is_u64(), "{told:?}");
    }
}

#[test]
fn a_turn_of_another_window_stays_though_the_turn_beside_it_is_told_with_a_prompt_that_nobody_had_answered() {
    for (fails, goes_on) in [(false, true), (true, true), (false, false), (true, false)] {
        let (store, world, tree) = (Memory::new(), World::unrecorded(), Tree::default());
        let mut first = Window::first(&store, &world, &tree);
        let mut second = Window::open(&store, &world, &tree, false);
        first.prompt("Stop me");
        let asked = first.waiting.pop_front().unwrap();
        if fails {
            first.desk.refuse(&asked, -32603);
        } else {
            first.desk.client(json!({"method": "session/cancel", "params": {"sessionId": "s1"}}));
            first.desk.reply(&asked, json!({"stopReason": "cancelled"}));
        }
        first.desk.wait(1000);
        first.prompt("Long");
        first.say("It takes ");
        second.turn("Other", "Its answer");
        first.say("long.");
        first.end();
        if goes_on {
            first.turn("Next", "Done");
        }
        leave(first.desk);
        leave(second.desk);
        // As it was had, by an agent that knows nothing of it.
        let mut desk = Desk::ready(&store, &world, &json!({}));
        let all = words(&load(&mut desk, "s1", &[]));
        assert!(all.contains("> OtherIts answer") && all.contains("> Stop me> Long"), "{all}");
        leave(desk);
        for has_list in [false, true, false] {
            let window = Window::open(&store, &world, &tree, has_list);
            window.assert_whole(&all, &format!("fails: {fails}, goes on: {goes_on}, list: {has_list}"));
            leave(window.desk);
        }
    }
}

#[test]
fn turns_beside_each_other_stay_where_another_window_was_opened_amid_both_and_its_agent_is_told_of_them() {
    let cases =
        [("One", "Two", "Three"), ("/cost", "Two", "Three"), ("One", "/cost", "Three"), ("/cost", "/cost", "Hi")];
    for (one, two, three) in cases {
        for has_list in [false, true] {
            let when = format!("{one}, {two}, {three}, list: {has_list}");
            let (store, world, tree) = (Memory::new(), World::unrecorded(), Tree::default());
            let mut first = Window::first(&store, &world, &tree);
            let mut second = Window::open(&store, &world, &tree, false);
            first.prompt(one);
            second.prompt(two);
            // It reads the prompts, as far as they stand on its branch.
            let mut third = Window::open(&store, &world, &tree, false);
            third.prompt(three);
            let mut all = "> HiHo".to_owned();
            for (window, prompt) in [(&mut first, one), (&mut second, two), (&mut third, three)] {
                let answer = if prompt == "Hi" { "Ho".to_owned() } else { format!("It is {prompt}.") };
                window.say(&answer);
                window.end();
                all = format!("{all}> {prompt}{answer}");
            }
            for window in [first, second, third] {
                leave(window.desk);
            }
            if two.starts_with('/') {
                assert_shown((&store, &world), &tree, has_list, &all, &when);
            } else {
                let lacks: &[&str] = if one.starts_with('/') { &["It is Two."] } else { &["It is One.", "It is Two."] };
                assert_stays((&store, &world), &tree, has_list, (&all, lacks), &when);
            }
        }
    }
}

#[test]
fn prompts_that_were_not_waited_for_stay_where_another_window_was_opened_as_the_first_was_answered() {
    for has_list in [false, true] {
        let (store, world, tree) = (Memory::new(), World::unrecorded(), Tree::default());
        let mut first = Window::first(&store, &world, &tree);
        first.prompt("One");
        first.prompt("Two");
        first.say("It is One.");
        first.end();
        let mut second = Window::open(&store, &world, &tree, false);
        second.prompt("Three");
        first.say("It is Two.");
        first.end();
        second.say("It is Three.");
        second.end();
        leave(first.desk);
        leave(second.desk);
        let all = "> HiHo> One> TwoIt is One.It is Two.> ThreeIt is Three.";
        assert_shown((&store, &world), &tree, has_list, all, &format!("list: {has_list}"));
    }
}

#[test]
fn the_end_of_an_answer_stays_though_what_it_begins_with_was_said_before_and_is_behind_it() {
    for has_list in [false, true] {
        let when = format!("list: {has_list}");
        let (store, world, tree) = (Memory::new(), World::unrecorded(), Tree::default());
        let mut first = Window::first(&store, &world, &tree);
        first.prompt("Hi");
        first.say("Ho");
        let mut second = Window::open(&store, &world, &tree, false);
        second.prompt("Hi");
        first.say(", and more");
        first.end();
        second.say("Ho");
        second.end();
        leave(first.desk);
        leave(second.desk);
        assert_stays((&store, &world), &tree, has_list, ("> HiHo> HiHo, and more> HiHo", &["and more"]), &when);
    }
}

/// Pi tells that it tries again, and how a prompt is queued, and keeps nothing of that.
#[test]
fn what_was_had_in_another_window_stays_behind_a_turn_of_which_the_agent_has_not_kept_all() {
    const PI: [&str; 3] =
        ["Retrying (attempt 1/3, waiting 1s)...", "Queued message (position 1).", "Retry finished, resuming."];
    const UNKNOWN: [&str; 3] = ["I try it again. ", "(again)", " Now it was well."];
    for (notices, is_known) in [(PI, true), (UNKNOWN, false)] {
        for has_list in [true, false] {
            let (store, world, tree) = (Memory::new(), World::unrecorded(), Tree::default());
            let mut first = Window::first(&store, &world, &tree);
            first.prompt("Do it");
            first.desk.agent(says(notices[0]));
            first.say("It is ");
            first.desk.agent(says(notices[1]));
            first.say("done.");
            first.desk.agent(says(notices[2]));
            first.end();
            let mut second = Window::open(&store, &world, &tree, has_list);
            second.turn("Elsewhere", "There, too.");
            first.turn("And now?", "Now all is done.");
            let [begins, amid, ends] = if is_known { notices } else { [""; 3] };
            let done = format!("{begins}It is {amid}done.{ends}");
            let expected = format!("> HiHo> Do it{done}> ElsewhereThere, too.> And now?Now all is done.");
            leave(second.desk);
            leave(first.desk);
            for time in ["once", "again", "and again"] {
                world.now.set(world.now.get() + 60_000);
                let later = Window::open(&store, &world, &tree, has_list);
                let when = format!("{notices:?}, {has_list}, {time}");
                assert_eq!(words(&later.opened), expected, "{when}");
                assert_eq!(mark(&later.opened, "load")["setAside"].is_null(), is_known, "{when}");
                leave(later.desk);
            }
        }
    }
}

#[test]
fn what_its_user_went_back_behind_goes_with_what_is_told_otherwise_though_the_same_is_said_behind_it() {
    let (store, world, tree) = (Memory::new(), World::unrecorded(), Tree::default());
    let mut first = Window::first(&store, &world, &tree);
    first.turn("Do it", "It is done.");
    first.turn("More", "That, too.");
    leave(first.desk);
    let mut second = Window::open(&store, &world, &tree, true);
    second.turn("And now?", "Now all is done.");
    leave(second.desk);
    let ends = ["Hi", "Ho", "Do it", "It is done otherwise.", "And now?", "Now all is done."];
    let anew = Tree::default();
    let mut leaf = None;
    for (at, text) in ends.into_iter().enumerate() {
        leaf = anew.write(leaf, at % 2 == 0, text);
    }
    let expected = "> HiHo> Do itIt is done otherwise.> And now?Now all is done.";
    for time in ["once", "again"] {
        world.now.set(world.now.get() + 60_000);
        let later = Window::open(&store, &world, &anew, true);
        assert_eq!(words(&later.opened), expected, "{time}");
        leave(later.desk);
    }
}
