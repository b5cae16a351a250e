//! Carrying out a plan: one commit, whatever others do at the same time, and nothing left behind.

use std::cell::Cell;

use acp_sessions_guest::environment::Environment;
use acp_sessions_guest::reconcile::{self, Replayed, turns};
use acp_sessions_guest::sessions::adopt::{self, Adopted, Adoption};
use acp_sessions_guest::sessions::delete;
use acp_sessions_guest::sessions::fork::{self, Fork};
use acp_sessions_guest::storage::{Durability, Storage, Write};
use acp_sessions_guest::store::{Holders, Origin, Segment, Session, keys};
use acp_sessions_guest::transcript::{Kind, Recorder};
use serde_json::json;

use crate::scene::{ID, Said, Scene};

/// Random numbers that are none.
#[derive(Debug, Default)]
pub(crate) struct Counting(Cell<u64>);

impl Environment for Counting {
    fn now(&self) -> i64 {
        1
    }

    fn random(&self) -> u64 {
        self.0.set(self.0.get() + 1);
        self.0.get()
    }
}

fn parse(turns: &[&str]) -> Vec<Said> {
    turns.iter().map(|text| Said::parse(text)).collect()
}

fn scene(log: &[&str]) -> Scene {
    let scene = Scene::new();
    for turn in parse(log) {
        scene.say(&turn);
    }
    scene.tell("agent", usize::MAX);
    scene
}

fn visible(scene: &Scene) -> Vec<String> {
    scene.visible().iter().map(Said::text).collect()
}

fn segment(log: &str, from: u32, until: u32) -> Segment {
    Segment { log: log.to_owned(), from, until }
}

fn holders(scene: &Scene, log: &str) -> Option<Holders> {
    let text = scene.store.record(keys::log_holders(log)).unwrap()?;
    Some(Holders::parse(Some(&text)).unwrap())
}

fn is_gone(scene: &Scene, log: &str) -> bool {
    scene.store.storage().log_end(log).unwrap() == 0 && holders(scene, log).is_none()
}

#[test]
fn the_transcript_is_made_of_as_few_parts_as_can_be() {
    // A turn in the log has three entries, one in a replay two.
    type Parts = &'static [(&'static str, u32, u32)];
    type Case = (&'static [&'static str], &'static [&'static str], bool, Parts, u32, Parts, u64);
    let cases: &[Case] = &[
        (&[], &["a/1", "b/2"], false, &[("staging-1", 1, 4)], 1, &[], 0),
        (&["a/1"], &["a/1", "b/2"], false, &[(ID, 1, 3), ("staging-1", 3, 4)], 5, &[], 0),
        (&["b/2"], &["a/1", "b/2"], false, &[("staging-1", 1, 2)], 1, &[], 1),
        (&["a/1", "c/3"], &["a/1", "b/2", "c/3"], false, &[(ID, 1, 3), ("staging-1", 3, 4)], 4, &[], 1),
        (&["a/1", "b/2", "c/3"], &["a/1"], true, &[(ID, 1, 3)], 11, &[(ID, 4, 9)], 1),
        (&["a/1", "b/2", "c/3"], &["x/9", "c/3"], true, &[("staging-1", 1, 2)], 7, &[(ID, 1, 6)], 1),
        (&["a/1", "b/2"], &["b/2"], true, &[], 1, &[], 0),
    ];
    for (log, replay, moved_on, segments, tail, aside, layout) in cases {
        let mut scene = scene(log);
        scene.load("agent", &parse(replay), *moved_on);
        let parts = |parts: Parts| -> Vec<Segment> {
            parts.iter().map(|(log, from, until)| segment(log, *from, *until)).collect()
        };
        let session = scene.session();
        assert_eq!(session.segments, parts(segments), "{log:?} {replay:?}");
        assert_eq!(session.aside, parts(aside), "{log:?} {replay:?}");
        assert_eq!((session.tail, session.layout), (*tail, *layout), "{log:?} {replay:?}");
    }
}

#[test]
fn parts_that_come_together_again_are_one() {
    let mut scene = scene(&["a/1", "b/2", "c/3"]);
    scene.load("agent", &parse(&["a/1", "x/9", "b/2", "c/3"]), true);
    assert_eq!(scene.session().segments, [segment(ID, 1, 3), segment("staging-1", 3, 4)]);
    scene.load("agent", &parse(&["a/1", "b/2"]), true);
    // What the agent leaves out is kept; what it was rewound from is not.
    assert_eq!(scene.session().segments, [segment(ID, 1, 3), segment("staging-1", 3, 4), segment(ID, 4, 6)]);
    assert_eq!(scene.session().aside, [segment(ID, 7, 9)]);
    scene.load("agent", &parse(&["a/1", "y/8", "b/2"]), true);
    assert_eq!(scene.session().segments, [segment(ID, 1, 3), segment("staging-3", 3, 4), segment(ID, 4, 6)]);
    assert_eq!(scene.session().aside, [segment(ID, 7, 9), segment("staging-1", 3, 4)]);
    assert_eq!(visible(&scene), ["a/1", "y/8", "b/2"]);
}

#[test]
fn only_what_is_used_of_a_replay_stays() {
    let mut scene = scene(&["a/1", "c/3"]);
    scene.load("agent", &parse(&["a/1", "b/2", "c/3"]), false);
    assert_eq!(scene.store.storage().log_end("staging-1").unwrap(), 4);
    let held = holders(&scene, "staging-1").unwrap();
    assert_eq!(held.holders.into_iter().collect::<Vec<_>>(), [(ID.to_owned(), 4)]);
    assert!(held.orphaned);
    scene.load("agent", &parse(&["a/1", "b/2", "c/3"]), false);
    assert!(is_gone(&scene, "staging-2"));
    adopt::discard(&scene.store, "staging-1", &[]).unwrap();
    assert_eq!(visible(&scene), ["a/1", "b/2", "c/3"], "what is used is not dropped");
}

#[test]
fn a_replay_that_is_given_up_leaves_nothing() {
    let mut scene = scene(&[]);
    let before = scene.store.storage().counts();
    let staging = scene.record(&parse(&["a/1", "b/2"]));
    assert_ne!(scene.store.storage().counts(), before);
    adopt::discard(&scene.store, &staging, &[]).unwrap();
    scene.remove_all();
    assert_eq!(scene.store.storage().counts(), before);
}

#[test]
fn what_was_said_meanwhile_stays_behind_everything() {
    for (log, replay) in [(&["a/1"][..], &["a/1", "b/2"][..]), (&[], &["a/1", "b/2"])] {
        let mut scene = scene(log);
        let (session, own_end) = (scene.session(), scene.store.storage().log_end(ID).unwrap());
        let staging = scene.record(&parse(replay));
        let plan = scene.plan("agent", &staging, false);
        scene.say(&Said::parse("z/9"));
        scene.change(|session| session.title = acp_sessions_guest::store::Title::Set("mine".to_owned()));
        let adopted = scene.adopt("agent", &session, own_end, &staging, &plan);
        assert!(matches!(adopted, Adopted::Done(_)));
        assert_eq!(visible(&scene), ["a/1", "b/2", "z/9"]);
        assert_eq!(scene.session().layout, 1, "what was said meanwhile has moved");
        assert_eq!(scene.session().title.text(), Some("mine"));
        assert_eq!(scene.told("agent"), 2);
    }
}

#[test]
fn what_the_agent_heard_meanwhile_it_has_heard() {
    let mut scene = scene(&["a/1"]);
    let (session, own_end) = (scene.session(), scene.store.storage().log_end(ID).unwrap());
    let staging = scene.record(&parse(&["a/1", "b/2"]));
    let plan = scene.plan("agent", &staging, false);
    scene.say(&Said::parse("z/9"));
    scene.tell("agent", usize::MAX);
    scene.adopt("agent", &session, own_end, &staging, &plan);
    assert_eq!((visible(&scene).len(), scene.told("agent")), (3, 3));
}

#[test]
fn of_two_processes_that_adopt_the_first_counts() {
    for (log, origin) in [(&["a/1"][..], Origin::Layer), (&[], Origin::Agent)] {
        let mut scene = scene(log);
        scene.change(|session| session.origin = origin);
        let (session, own_end) = (scene.session(), scene.store.storage().log_end(ID).unwrap());
        let replay = parse(&["a/1", "b/2"]);
        let stagings = [scene.record(&replay), scene.record(&replay)];
        let plans = stagings.each_ref().map(|staging| scene.plan("agent", staging, false));
        let first = scene.adopt("agent", &session, own_end, &stagings[0], &plans[0]);
        assert!(matches!(first, Adopted::Done(_)));
        let record = scene.session().to_text();
        let second = scene.adopt("agent", &session, own_end, &stagings[1], &plans[1]);
        assert!(matches!(second, Adopted::Outrun));
        assert!(is_gone(&scene, &stagings[1]));
        let again = scene.adopt("agent", &session, own_end, &stagings[0], &plans[0]);
        assert!(matches!(again, Adopted::Outrun), "the same one twice");
        assert_eq!(scene.session().to_text(), record);
        assert_eq!(visible(&scene), ["a/1", "b/2"]);
    }
}

#[test]
fn a_replay_that_another_session_holds_is_left_to_it() {
    let mut scene = scene(&[]);
    let (session, staging) = (scene.session(), scene.record(&parse(&["a/1", "b/2"])));
    let plan = scene.plan("agent", &staging, false);
    let other = Session::new("t".to_owned(), "/work".to_owned(), 1);
    let (own_end, staging, plan, compared) = (0, staging.as_str(), &plan, None);
    let (agent, agent_id, now) = ("agent", "t", 1);
    let adoption = Adoption { session: &other, own_end, staging, plan, agent, agent_id, compared, now };
    assert!(matches!(adopt::create(&scene.store, &Counting::default(), &adoption).unwrap(), Adopted::Done(_)));
    scene.remove_all();
    assert!(matches!(scene.adopt("agent", &session, 0, staging, plan), Adopted::Outrun));
    assert_eq!(scene.session().to_text(), session.to_text());
    assert_eq!(scene.store.storage().log_end(staging).unwrap(), 4);
}

#[test]
fn a_session_deleted_meanwhile_stays_deleted() {
    let mut scene = scene(&["a/1"]);
    let (session, own_end) = (scene.session(), scene.store.storage().log_end(ID).unwrap());
    let staging = scene.record(&parse(&["a/1", "b/2"]));
    let plan = scene.plan("agent", &staging, false);
    delete::delete(&scene.store, ID, 1).unwrap();
    let adopted = scene.adopt("agent", &session, own_end, &staging, &plan);
    assert!(matches!(adopted, Adopted::Deleted));
    assert!(is_gone(&scene, &staging));
    assert!(scene.store.session(ID).unwrap().is_none());
}

#[test]
fn a_replay_that_another_process_has_given_up_is_not_taken_over() {
    let mut scene = scene(&["a/1"]);
    let (session, own_end) = (scene.session(), scene.store.storage().log_end(ID).unwrap());
    let staging = scene.record(&parse(&["a/1", "b/2"]));
    let plan = scene.plan("agent", &staging, false);
    // That one has not heard of this connection for long.
    adopt::discard(&scene.store, &staging, &[]).unwrap();
    assert!(matches!(scene.adopt("agent", &session, own_end, &staging, &plan), Adopted::Outrun));
    assert_eq!(visible(&scene), ["a/1"]);
    assert!(is_gone(&scene, &staging));
}

#[test]
fn a_plan_for_another_transcript_is_not_carried_out() {
    let mut scene = scene(&["a/1"]);
    let (session, own_end) = (scene.session(), scene.store.storage().log_end(ID).unwrap());
    scene.say(&Said::parse("z/9"));
    let staging = scene.record(&parse(&["a/1", "b/2"]));
    let plan = scene.plan("agent", &staging, false);
    assert!(matches!(scene.adopt("agent", &session, own_end, &staging, &plan), Adopted::Outrun));
    assert_eq!(visible(&scene), ["a/1", "z/9"]);
}

#[test]
fn what_was_set_aside_is_not_amended_by_a_recorder_that_goes_on() {
    let mut scene = scene(&["a/1"]);
    let chunk = |recorder: &mut Recorder, text: &str| {
        let update = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}});
        let (update, params) = (update.to_string(), json!({ "update": update }).to_string());
        let params = acp_sessions_guest::rpc::Object::parse(&params).unwrap();
        recorder.push_chunk(1, &update, &params, || "\"m\"".to_owned());
    };
    let mut recorder = Recorder::new(ID);
    let prompt = json!({"prompt": [{"type": "text", "text": "b"}], "messageId": "p"}).to_string();
    recorder.push(Kind::Prompt, 1, &prompt);
    chunk(&mut recorder, "two");
    recorder.flush(&scene.store, &[], Durability::Relaxed).unwrap();
    scene.tell("agent", usize::MAX);
    scene.load("agent", &parse(&["a/1"]), true);
    let aside = scene.aside();
    assert_eq!(aside.len(), 2);
    chunk(&mut recorder, " and three");
    recorder.flush(&scene.store, &[], Durability::Relaxed).unwrap();
    assert_eq!(scene.aside(), aside);
    assert_eq!(visible(&scene), ["a/1 and three"]);
}

#[test]
fn a_fork_keeps_what_it_shares_and_the_last_one_takes_everything_with_it() {
    let mut scene = scene(&["a/1", "b/2"]);
    let empty = Scene::new().store.storage().counts().1;
    scene.load("agent", &parse(&["a/1", "x/9"]), true);
    let environment = Counting::default();
    let (agent, agent_id, heard) = (None, None, 0);
    let fork = Fork {
        parent: ID,
        wanted_id: "f".to_owned(),
        cwd: "/work".to_owned(),
        agent,
        agent_id,
        heard,
        lineage: Vec::new(),
        asked_at: None,
        told: None,
        open: Vec::new(),
        directories: Vec::new(),
        now: 1,
    };
    let fork = fork::fork(&scene.store, &environment, &fork).unwrap().unwrap();
    delete::delete(&scene.store, ID, 1).unwrap();
    scene.remove_all();
    assert_eq!(scene.store.storage().log_end("staging-1").unwrap(), 4);
    delete::delete(&scene.store, &fork.id, 1).unwrap();
    scene.remove_all();
    assert!(is_gone(&scene, "staging-1") && is_gone(&scene, ID));
    let (_, entries, texts) = scene.store.storage().counts();
    assert_eq!((entries, texts), (empty, 0));
}

#[test]
fn other_agents_have_not_heard_what_is_new() {
    // How many turns of the log the other agent had heard, and how many of the conversation it has then.
    let cases: &[(&[&str], &[&str], usize, usize)] = &[
        (&["a/1", "b/2"], &["a/1", "b/2"], 1, 1),
        (&["a/1", "b/2"], &["a/1", "b/2", "c/3"], 2, 2),
        (&["a/1", "c/3"], &["a/1", "b/2", "c/3"], 2, 1),
        (&["a/1", "c/3"], &["x/0", "a/1", "c/3"], 2, 0),
        (&["a/1", "b/2", "c/3"], &["a/1"], 3, 1),
        (&["a/1", "b/2", "c/3"], &["a/1", "x/9", "c/3"], 3, 1),
        (&["a/1", "b/2", "c/3"], &["a/1", "x/9", "c/3"], 1, 1),
    ];
    for (log, replay, heard, told) in cases {
        let mut scene = scene(log);
        scene.tell("other", *heard);
        scene.load("agent", &parse(replay), true);
        assert_eq!(scene.told("other"), *told, "{log:?} {replay:?}");
    }
    let mut scene = scene(&["a/1", "b/2"]);
    scene.change(|session| session.give_to("earlier", "e", u64::MAX));
    scene.load("agent", &parse(&["a/1"]), true);
    assert_eq!(scene.heard("earlier"), u64::MAX, "all there is stays all there is");
}

#[test]
fn an_unknown_session_is_created_with_what_its_agent_replays() {
    let mut scene = scene(&["a/1"]);
    let new = Session::new(ID.to_owned(), "/other".to_owned(), 5);
    let environment = Counting::default();
    let create = |scene: &mut Scene, agent_id: &str, replay: &[&str]| {
        let staging = scene.record(&parse(replay));
        let (_, replay) =
            turns::of_both(scene.store.storage(), &new, 0, Replayed::Log(&staging), "agent", crate::scene::strip)
                .unwrap();
        let plan = reconcile::plan(&[], 0, &replay, false);
        let (session, own_end, compared) = (&new, 0, Some(4));
        let adoption =
            Adoption { session, own_end, staging: &staging, plan: &plan, agent: "agent", agent_id, compared, now: 1 };
        let adopted = adopt::create(&scene.store, &environment, &adoption).unwrap();
        scene.remove_all();
        (adopted, staging)
    };

    let (Adopted::Done(session), staging) = create(&mut scene, "n", &["x/1", "y/2"]) else { panic!("not created") };
    assert_ne!(session.id, ID, "the id is another session's");
    assert_eq!(session.segments, [segment(&staging, 1, 4)]);
    assert_eq!((session.agents["agent"].heard, session.agents["agent"].compared), (4, Some(4)));
    assert_eq!((session.agent.as_deref(), session.layout), (Some("agent"), 0));
    assert!(!session.is_unprompted());
    let mapped = scene.store.record(keys::agent_session("agent", "n")).unwrap();
    assert_eq!(mapped.as_deref(), Some(session.id.as_str()));
    assert_eq!(scene.store.session(&session.id).unwrap().unwrap().to_text(), session.to_text());

    let (again, staging) = create(&mut scene, "n", &["x/1", "y/2"]);
    assert!(matches!(again, Adopted::Outrun) && is_gone(&scene, &staging));

    let tombstone = Write::Put { key: keys::agent_tombstone("agent", "gone"), value: "1".to_owned() };
    scene.store.commit(&[], vec![tombstone], Durability::Relaxed).unwrap();
    let (deleted, staging) = create(&mut scene, "gone", &["x/1"]);
    assert!(matches!(deleted, Adopted::Deleted) && is_gone(&scene, &staging));

    let (Adopted::Done(silent), staging) = create(&mut scene, "silent", &["/"]) else { panic!("not created") };
    assert_eq!((silent.origin, silent.segments.len()), (Origin::Agent, 0));
    assert!(!silent.is_unprompted() && is_gone(&scene, &staging));
}
