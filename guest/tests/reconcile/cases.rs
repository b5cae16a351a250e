//! What becomes of a log and a replay, case by case.

use crate::case::{CASE, Case, texts};
use crate::scene::{ID, Said, Scene, said};
use acp_sessions_guest::sessions::adopt::Adopted;
use acp_sessions_guest::storage::Storage;
use acp_sessions_guest::store::Origin;

#[rustfmt::skip]
const CASES: &[Case] = &[
    // The two agree.
    Case { name: "the same", log: &["a/1", "b/2"], replay: &["a/1", "b/2"],
        visible: &["a/1", "b/2"], told: 2, ..CASE },
    Case { name: "the same, with other white space and line ends", log: &["a  b/1\n2", "c/x\\\ny"], replay: &["a\nb/1\r\n\r\n2", "c/x y"],
        visible: &["a  b/1\n2", "c/x\\\ny"], told: 2, ..CASE },
    Case { name: "the same, the prompt with our digest in front", log: &["a/1", "b/2"], heard: 1, replay: &["a/1", "[digest]a: 1[end]\n\nb/2"],
        visible: &["a/1", "b/2"], told: 2, ..CASE },
    Case { name: "one prompt again and again", log: &["a/1", "continue/2", "continue/3", "continue/4"], replay: &["a/1", "continue/2", "continue/3", "continue/4"],
        visible: &["a/1", "continue/2", "continue/3", "continue/4"], told: 4, ..CASE },
    Case { name: "the agent replays the turns of a cancelled prompt as one", log: &["a/!", "b/2", "c/3"], replay: &["a\n\nb/2", "c/3"],
        visible: &["a/", "b/2", "c/3"], told: 3, ..CASE },
    Case { name: "an empty prompt is left out", log: &["a/1", "/", "b/2", "c/3"], replay: &["a/1", "b/2", "c/3"],
        visible: &["a/1", "/", "b/2", "c/3"], told: 4, ..CASE },
    Case { name: "the agent joins what was said in two turns", log: &["a/1", "b/2", "c/3"], replay: &["a\n\nb/1\n\n2", "c/3"],
        visible: &["a/1", "b/2", "c/3"], told: 3, ..CASE },
    Case { name: "the agent leaves an answer out", log: &["a/1", "b/2"], replay: &["a/", "b/2"],
        visible: &["a/1", "b/2"], told: 2, ..CASE },
    Case { name: "the agent has less of a cancelled answer", log: &["a/1", "b/two and three!"], replay: &["a/1", "b/two"],
        visible: &["a/1", "b/two and three"], told: 2, ..CASE },
    // The replay tells nothing.
    Case { name: "an empty replay", log: &["a/1", "b/2"], heard: 1, replay: &[],
        visible: &["a/1", "b/2"], told: 1, ..CASE },
    Case { name: "a silent replay, though the session has moved on", log: &["a/1"], replay: &["/"], moved_on: true,
        visible: &["a/1"], told: 1, ..CASE },
    // The agent has more.
    Case { name: "a session the layer has nothing of", log: &[], replay: &["a/1", "b/2"],
        visible: &["a/1", "b/2"], told: 2, ..CASE },
    Case { name: "continued without the layer", log: &["a/1"], replay: &["a/1", "b/2", "c/3"], moved_on: true,
        visible: &["a/1", "b/2", "c/3"], told: 3, ..CASE },
    Case { name: "an agent's own session that was resumed and prompted before it was loaded", log: &["c/3"], replay: &["a/1", "b/2", "c/3"],
        visible: &["a/1", "b/2", "c/3"], told: 3, ..CASE },
    Case { name: "continued without the layer between two turns with it", log: &["a/1", "d/4"], replay: &["a/1", "b/2", "c/3", "d/4"],
        visible: &["a/1", "b/2", "c/3", "d/4"], told: 4, ..CASE },
    Case { name: "a greeting before the first prompt", log: &["a/1"], replay: &["/hello", "a/1"],
        visible: &["/hello", "a/1"], told: 2, ..CASE },
    Case { name: "the same prompt was asked again without the layer", log: &["continue/1"], replay: &["continue/1", "continue/2", "continue/2"],
        visible: &["continue/1", "continue/2", "continue/2"], told: 3, ..CASE },
    // The agent has put together what was said apart, or the other way round.
    Case { name: "prompts that nobody answered are joined with the next, all along", log: &["a/", "b/1", "c/", "d/"], replay: &["ab/1", "cd/"],
        visible: &["a/", "b/1", "c/", "d/"], told: 4, ..CASE },
    Case { name: "the same, and more without the layer", log: &["a/", "b/1", "c/", "d/"], replay: &["ab/1", "cd/", "x/9"],
        visible: &["a/", "b/1", "c/", "d/", "x/9"], told: 5, ..CASE },
    Case { name: "prompts of which the client did not wait for the first are told apart", log: &["ab/an answer of many letters"], replay: &["a/", "b/an answer of many letters"],
        visible: &["ab/an answer of many letters"], told: 1, ..CASE },
    Case { name: "a prompt that nobody answered, and one more without the layer", log: &["a/1", "b/"], heard: 1, replay: &["a/1", "b\n\nx/9"],
        visible: &["a/1", "b\n\nx/9"], aside: &["b/"], told: 2, ..CASE },
    Case { name: "the same, the other way round", log: &["a/1", "b/"], heard: 1, replay: &["a/1", "x\n\nb/9"],
        visible: &["a/1", "x\n\nb/9"], aside: &["b/"], told: 2, ..CASE },
    Case { name: "a prompt that only looks like a part of what was said without the layer", log: &["a/1", "b/"], heard: 1, replay: &["a/1", "x b x/9"],
        visible: &["a/1", "b/", "x b x/9"], told: 1, ..CASE },
    Case { name: "what the agent said unasked, of which the beginning was lost", log: &["/two"], heard: 0, replay: &["/one two"], moved_on: true,
        visible: &["/one two"], aside: &["/two"], told: 1 },
    Case { name: "what the agent said unasked, as the end of an answer that is not here", log: &["/two"], heard: 0, replay: &["a/one two", "b/3"],
        visible: &["a/one two", "b/3"], aside: &["/two"], told: 2, ..CASE },
    // Cut off in mid-turn.
    Case { name: "the agent went on when the layer had died", log: &["a/1", "b/tw~"], replay: &["a/1", "b/two"],
        visible: &["a/1", "b/two"], aside: &["b/tw"], told: 2, ..CASE },
    Case { name: "the layer died before the answer", log: &["a/1", "b/~"], replay: &["a/1", "b/two", "c/3"],
        visible: &["a/1", "b/two", "c/3"], aside: &["b/"], told: 3, ..CASE },
    Case { name: "a failed turn that the agent finished", log: &["a/o#", "b/2"], replay: &["a/one", "b/2"],
        visible: &["a/one", "b/2"], aside: &["a/o"], told: 2, ..CASE },
    Case { name: "of two tries the one that was finished is known again", log: &["a/!", "a/1"], replay: &["a/1"],
        visible: &["a/", "a/1"], told: 2, ..CASE },
    Case { name: "an answer that ended well is another one, not the beginning of a longer one", log: &["a/1", "b/tw"], replay: &["a/1", "b/two"],
        visible: &["a/1", "b/two"], aside: &["b/tw"], told: 2, ..CASE },
    Case { name: "of two answers cut off, the one that has all that is replayed", log: &["a/x!", "a/xyz!"], replay: &["a/xy"],
        visible: &["a/x", "a/xyz"], told: 2, ..CASE },
    Case { name: "cut off, and the end lost, of a conversation that repeats itself", log: &["c/o~", "d/ok", "c/ok", "c/4", "e/ok", "c/ok"], replay: &["c/one", "d/ok", "c/ok"],
        visible: &["c/one", "d/ok", "c/ok", "c/4", "e/ok", "c/ok"], aside: &["c/o"], told: 3, ..CASE },
    Case { name: "another agent's answer is no beginning, though one to the same prompt was cut off", log: &["a/tw!", "a/on"], heard: 1, replay: &["a/tw", "a/one"],
        visible: &["a/tw", "a/on", "a/one"], told: 1, ..CASE },
    // Of turns that did not come to their end the agent has the prompts alone.
    Case { name: "the prompt of a cancelled turn, put together with the next", log: &["a/1", "b/tw!", "c/3"], replay: &["a/1", "b\n\nc/3"],
        visible: &["a/1", "b/tw", "c/3"], told: 3, ..CASE },
    Case { name: "the same, before the next", log: &["a/1", "b/tw!", "c/3"], replay: &["a/1", "b/~", "c/3"], moved_on: true,
        visible: &["a/1", "b/tw", "c/3"], told: 3, ..CASE },
    Case { name: "the prompts of turns that failed, were cut off and cancelled, and more behind", log: &["a/1", "b/tw#", "c/th~", "d/!", "e/5", "f/6"], replay: &["a/1", "bcde/5", "f/6"],
        visible: &["a/1", "b/tw", "c/th", "d/", "e/5", "f/6"], told: 6, ..CASE },
    Case { name: "some of them not even by their prompts", log: &["a/1", "b/tw#", "c/th~", "d/!", "e/5"], replay: &["a/1", "be/5"], moved_on: true,
        visible: &["a/1", "b/tw", "c/th", "d/", "e/5"], told: 5, ..CASE },
    Case { name: "two that follow each other at the end", log: &["a/1", "b/tw!", "c/thre~"], replay: &["a/1", "bc/th"],
        visible: &["a/1", "b/tw", "c/thre"], told: 3, ..CASE },
    Case { name: "the same, of the last nothing", log: &["a/1", "b/tw!", "c/thre~"], replay: &["a/1", "bc/"],
        visible: &["a/1", "b/tw", "c/thre"], told: 3, ..CASE },
    Case { name: "what came to its end is not told by its prompt", log: &["a/1", "b/2", "c/3"], replay: &["a/1", "bc/3"],
        visible: &["a/1", "bc/3"], aside: &["b/2", "c/3"], told: 2, ..CASE },
    // The agent has less.
    Case { name: "the agent replays the end only", log: &["a/1", "b/2", "c/3"], replay: &["c/3"],
        visible: &["a/1", "b/2", "c/3"], told: 3, ..CASE },
    Case { name: "the agent leaves a turn out", log: &["a/1", "b/2", "c/3"], replay: &["a/1", "c/3"], moved_on: true,
        visible: &["a/1", "b/2", "c/3"], told: 3, ..CASE },
    Case { name: "the agent has lost the end and is to be told of it", log: &["a/1", "b/2", "c/3"], replay: &["a/1"],
        visible: &["a/1", "b/2", "c/3"], told: 1, ..CASE },
    Case { name: "the agent was rewound", log: &["a/1", "b/2", "c/3"], replay: &["a/1"], moved_on: true,
        visible: &["a/1"], aside: &["b/2", "c/3"], told: 1, ..CASE },
    Case { name: "a prompt that failed need not have reached the agent", log: &["a/1", "b/#"], heard: 1, replay: &["a/1"], moved_on: true,
        visible: &["a/1", "b/"], told: 1, ..CASE },
    // They contradict each other.
    Case { name: "rewound and continued", log: &["a/1", "b/2", "c/3"], replay: &["a/1", "x/9"], moved_on: true,
        visible: &["a/1", "x/9"], aside: &["b/2", "c/3"], told: 2, ..CASE },
    Case { name: "rewound to the same prompt", log: &["continue/1", "continue/2", "continue/3"], replay: &["continue/1", "continue/4"],
        visible: &["continue/1", "continue/4"], aside: &["continue/2", "continue/3"], told: 2, ..CASE },
    Case { name: "compacted", log: &["a/1", "b/2", "c/3"], replay: &["summary of a and b/", "c/3"],
        visible: &["summary of a and b/", "c/3"], aside: &["a/1", "b/2"], told: 2, ..CASE },
    Case { name: "compacted to nothing but a summary by the agent", log: &["a/1", "b/2"], replay: &["/summary"],
        visible: &["/summary"], aside: &["a/1", "b/2"], told: 1, ..CASE },
    Case { name: "compacted, then continued without the layer", log: &["a/1", "b/2"], replay: &["/summary", "b/2", "x/9"],
        visible: &["/summary", "b/2", "x/9"], aside: &["a/1"], told: 3, ..CASE },
    // Another agent has taken part.
    Case { name: "another agent's turns at the end", log: &["a/1", "b/2"], heard: 1, replay: &["a/1"], moved_on: true,
        visible: &["a/1", "b/2"], told: 1, ..CASE },
    Case { name: "another agent's turns, and more without the layer", log: &["a/1", "b/2"], heard: 1, replay: &["a/1", "x/9"],
        visible: &["a/1", "b/2", "x/9"], told: 1, ..CASE },
    Case { name: "another agent's turns in the middle, told by now", log: &["a/1", "b/2", "c/3"], replay: &["a/1", "[digest]b: 2[end]c/3"],
        visible: &["a/1", "b/2", "c/3"], told: 3, ..CASE },
    Case { name: "another agent's turns in the middle, not told yet", log: &["a/1", "b/2", "c/3"], heard: 1, replay: &["a/1", "c/3"],
        visible: &["a/1", "b/2", "c/3"], told: 1, ..CASE },
    Case { name: "another agent's turns behind those that it was rewound from", log: &["a/1", "b/2", "c/3"], heard: 2, replay: &["a/1"], moved_on: true,
        visible: &["a/1", "c/3"], aside: &["b/2"], told: 1 },
    Case { name: "another agent's turns, and rewound and continued", log: &["a/1", "b/2", "c/3"], heard: 2, replay: &["a/1", "x/9"],
        visible: &["a/1", "x/9", "c/3"], aside: &["b/2"], told: 2, ..CASE },
    Case { name: "nothing was heard of what another agent did", log: &["a/1", "b/2"], heard: 0, replay: &["x/8", "y/9"],
        visible: &["a/1", "b/2", "x/8", "y/9"], told: 0, ..CASE },
];

fn parse(turns: &[&str]) -> Vec<Said> {
    turns.iter().map(|text| Said::parse(text)).collect()
}

#[test]
fn a_log_and_a_replay_become_one_conversation() {
    for case in CASES {
        let name = case.name;
        let mut scene = case.scene(&parse(case.log));
        let replay = parse(case.replay);
        let Adopted::Done(session) = scene.load("agent", &replay, case.moved_on).adopted else {
            panic!("{name}: not adopted")
        };
        assert_eq!(texts(&scene.visible()), case.visible, "{name}: what is visible");
        let aside: Vec<String> = scene.aside().into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts(&said(&aside)), case.aside, "{name}: what is set aside");
        assert_eq!(scene.told("agent"), case.told, "{name}: what the agent has heard");
        assert_eq!(session.to_text(), scene.session().to_text(), "{name}: what is returned");

        let is_used = session.segments.iter().any(|segment| segment.log != ID);
        let kept = scene.store.storage().log_end("staging-1").unwrap() > 0;
        assert_eq!(kept, is_used, "{name}: what is not used of a replay is dropped");
        let before = (scene.session().to_text(), scene.store.storage().counts());
        for moved_on in [false, true] {
            let again = scene.load("agent", &replay, moved_on);
            assert!(again.plan.keeps_all(), "{name}: {:?}", again.plan);
            assert_eq!((scene.session().to_text(), scene.store.storage().counts()), before, "{name}: a second time");
        }
    }
}

#[test]
fn a_replay_that_tells_nothing_leaves_the_history_with_the_agent() {
    let mut scene = Scene::new();
    scene.change(|session| session.origin = Origin::Agent);
    scene.load("agent", &[], false);
    assert_eq!(scene.session().origin, Origin::Agent);
    scene.load("agent", &parse(&["a/1"]), false);
    let session = scene.session();
    assert_eq!(session.origin, Origin::Layer);
    assert_eq!(session.agents["agent"].compared, Some(7));
    assert!(!session.is_unprompted());
    assert_eq!(scene.store.storage().log_end(ID).unwrap(), 0);
}

#[test]
fn what_an_agent_replays_shorter_than_before_it_has_changed() {
    let mut scene = Scene::new();
    scene.load("agent", &parse(&["a/1", "b/two"]), false);
    for _ in 0..2 {
        scene.load("agent", &parse(&["a/1", "b/tw", "c/3"]), false);
        assert_eq!(texts(&scene.visible()), ["a/1", "b/tw", "c/3"]);
    }
}
