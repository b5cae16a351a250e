//! Random histories: two agents, turns through the layer and without it, agents that rewind, compact, lose their end and
//! give text back with other white space; after each step the agent replays and is reconciled.

use std::collections::BTreeSet;

use acp_sessions_guest::sessions::adopt::Adopted;
use acp_sessions_guest::storage::Storage;
use acp_sessions_guest::transcript::{Entry, Kind};
use proptest::prelude::*;

use crate::scene::{Ended, ID, Said, Scene};

const AGENTS: [&str; 2] = ["one", "other"];

/// What happens to a session, by or at one of the agents.
#[derive(Debug, Clone, Copy)]
enum Step {
    Prompt {
        ended: Ended,
    },
    /// A turn of which the layer has seen only the beginning.
    CutOff,
    Outside,
    /// The last turns are gone, and the agent's list says so.
    Rewind {
        turns: usize,
        goes_on: bool,
    },
    /// The first turns are a summary.
    Compact {
        turns: usize,
    },
    LoseTail {
        turns: usize,
    },
    LeaveOut {
        at: usize,
    },
    Load,
}

fn steps() -> impl Strategy<Value = Vec<(usize, Step)>> {
    let ended = prop_oneof![4 => Just(Ended::Well), 1 => Just(Ended::Cancelled), 1 => Just(Ended::Failed)];
    let step = prop_oneof![
        4 => ended.prop_map(|ended| Step::Prompt { ended }),
        1 => Just(Step::CutOff),
        2 => Just(Step::Outside),
        1 => (1_usize..4, any::<bool>()).prop_map(|(turns, goes_on)| Step::Rewind { turns, goes_on }),
        1 => (1_usize..4).prop_map(|turns| Step::Compact { turns }),
        1 => (1_usize..3).prop_map(|turns| Step::LoseTail { turns }),
        1 => (0_usize..8).prop_map(|at| Step::LeaveOut { at }),
        3 => Just(Step::Load),
    ];
    // The first agent does most of it.
    proptest::collection::vec((prop_oneof![3 => Just(0_usize), 1 => Just(1)], step), 1..16)
}

/// An agent, as it is.
#[derive(Debug, Default)]
struct Agent {
    memory: Vec<Said>,
    /// Its list says that the session has changed.
    moved_on: bool,
    /// What it does not replay.
    left_out: BTreeSet<String>,
}

struct World {
    scene: Scene,
    agents: [Agent; 2],
    said: usize,
    /// Whether the same prompts and answers come again and again.
    repeats: bool,
    spaces: Vec<bool>,
}

impl World {
    fn new_turn(&mut self, ended: Ended) -> Said {
        self.said += 1;
        let number = self.said;
        let (user, agent) = match number % 3 {
            _ if !self.repeats => (format!("ask {number}"), format!("answer {number} and the rest of it")),
            0 => ("continue".to_owned(), "ok".to_owned()),
            1 => ("continue".to_owned(), format!("ok {number}")),
            _ => (format!("do {number}"), "ok".to_owned()),
        };
        Said { user, agent, ended }
    }

    /// What an agent gives back, with white space of its own.
    fn replay(&self, of: usize) -> Vec<Said> {
        let agent = &self.agents[of];
        let space = |text: &str| -> String {
            let mut choices = self.spaces.iter().cycle();
            text.split(' ').fold(String::new(), |joined, word| match choices.next() {
                _ if joined.is_empty() => word.to_owned(),
                Some(true) => joined + "\n\n" + word,
                _ => joined + word,
            })
        };
        let kept = agent.memory.iter().filter(|said| !agent.left_out.contains(&said.text()));
        kept.map(|said| Said { user: space(&said.user), agent: space(&said.agent), ended: said.ended }).collect()
    }

    fn happens(&mut self, of: usize, step: Step) {
        let turn_of = |agent: &Agent, turns: usize| agent.memory.len().saturating_sub(turns);
        match step {
            Step::Prompt { ended } => {
                let turn = self.new_turn(ended);
                self.scene.say(&turn);
                self.agents[of].memory.push(turn);
                self.scene.tell(AGENTS[of], usize::MAX);
            }
            Step::CutOff => {
                let turn = self.new_turn(Ended::Never);
                let seen: String = turn.agent.chars().take(turn.agent.len() / 2).collect();
                self.scene.say(&Said { agent: seen, ..turn.clone() });
                self.agents[of].memory.push(turn);
                self.scene.tell(AGENTS[of], usize::MAX);
            }
            Step::Outside => {
                let turn = self.new_turn(Ended::Well);
                self.agents[of].memory.push(turn);
                self.agents[of].moved_on = true;
            }
            Step::Rewind { turns, goes_on } => {
                let left = turn_of(&self.agents[of], turns);
                self.agents[of].memory.truncate(left);
                self.agents[of].moved_on = true;
                if goes_on {
                    self.happens(of, Step::Outside);
                }
            }
            Step::Compact { turns } => {
                let turns = turns.min(self.agents[of].memory.len());
                let summary = self.new_turn(Ended::Well);
                self.agents[of].memory.splice(..turns, [Said { agent: "understood".to_owned(), ..summary }]);
                self.agents[of].moved_on = true;
            }
            Step::LoseTail { turns } => {
                let left = turn_of(&self.agents[of], turns);
                self.agents[of].memory.truncate(left);
            }
            Step::LeaveOut { at } => {
                if let Some(said) = self.agents[of].memory.get(at).filter(|_| !self.repeats) {
                    let text = said.text();
                    self.agents[of].left_out.insert(text);
                }
            }
            Step::Load => self.load(of),
        }
    }

    fn load(&mut self, of: usize) {
        let (name, replay) = (AGENTS[of], self.replay(of));
        let moved_on = std::mem::take(&mut self.agents[of].moved_on);
        let before = self.scene.entries();
        let (aside_before, heard_before) = (self.scene.aside(), self.scene.heard(name));
        let visible_before: BTreeSet<String> = keys(&self.scene.visible()).into_iter().collect();
        let told_before: BTreeSet<String> =
            keys(&self.scene.visible())[..self.begun(heard_before)].iter().cloned().collect();
        let reconciled = self.scene.load(name, &replay, moved_on);
        assert!(matches!(reconciled.adopted, Adopted::Done(_)));

        // Every entry of the log is in the conversation or aside, once, in its order.
        let (after, aside) = (self.scene.entries(), self.scene.aside());
        assert_eq!(aside[..aside_before.len()], aside_before);
        let places = |entries: &[((String, u32), String)]| -> Vec<(String, u32)> {
            let is_mark = |text: &str| Entry::parse(text).is_some_and(|entry| entry.kind == Kind::Fork);
            entries.iter().filter(|(_, text)| !is_mark(text)).map(|(place, _)| place.clone()).collect()
        };
        let (old, kept, put_aside) = (places(&before), places(&after), places(&aside[aside_before.len()..]));
        let all: BTreeSet<_> = kept.iter().chain(&put_aside).cloned().collect();
        assert_eq!(all.len(), kept.len() + put_aside.len(), "nothing is there twice");
        assert!(is_in_order(&old, &kept.iter().filter(|place| old.contains(place)).cloned().collect::<Vec<_>>()));
        assert!(is_in_order(&old, &put_aside));
        assert!(old.iter().all(|place| all.contains(place)), "nothing of the log is lost");

        // The conversation has all that the agent replays, in its order.
        let visible = keys(&self.scene.visible());
        let replayed = keys(&replay);
        assert!(contains(&visible, &replayed), "{replayed:?} in {visible:?}");

        // Nothing that the agent has not heard is set aside, but for the beginning of what it replays whole.
        if !self.repeats {
            let put_aside: Vec<String> = aside[aside_before.len()..].iter().map(|(_, text)| text.clone()).collect();
            for said in keys(&crate::scene::said(&put_aside)) {
                let is_beginning = replayed.iter().any(|text| text.starts_with(&said));
                assert!(told_before.contains(&said) || is_beginning, "{said} was not heard by {name}");
            }
            // What is visible and not replayed was not heard, or is left out before something that is not, or is lost.
            let last = visible.iter().rposition(|said| replayed.contains(said));
            for (at, said) in visible.iter().enumerate().filter(|(_, said)| !replayed.contains(said)) {
                assert!(visible_before.contains(said));
                let is_explained = !told_before.contains(said)
                    || last.is_none_or(|last| at < last)
                    || !moved_on
                    || is_begun(said, &replayed);
                assert!(is_explained, "{said} in {visible:?} of {replayed:?}");
            }
            // What the agent is said to have heard it replays or had heard before.
            for said in visible.iter().take(self.scene.told(name)) {
                assert!(replayed.contains(said) || told_before.contains(said) || is_begun(said, &replayed));
            }
        }
        assert!(self.scene.heard(name) <= after.len() as u64);

        // The same again changes nothing.
        let state = |scene: &Scene| (scene.session().to_text(), scene.store.storage().counts());
        let before = state(&self.scene);
        for moved_on in [false, true] {
            self.scene.load(name, &replay, moved_on);
            assert_eq!(state(&self.scene), before);
        }
    }

    /// How many turns begin before this position.
    fn begun(&self, heard: u64) -> usize {
        self.scene.turns().iter().take_while(|turn| turn.at.start() <= heard).count()
    }
}

/// Turns without white space.
fn keys(turns: &[Said]) -> Vec<String> {
    let squeeze = |text: &str| -> String { text.chars().filter(|character| !character.is_whitespace()).collect() };
    turns.iter().map(|said| squeeze(&said.text())).collect()
}

/// Whether one has more of a turn than the other.
fn is_begun(said: &str, replayed: &[String]) -> bool {
    replayed.iter().any(|text| text.starts_with(said) || said.starts_with(text.as_str()))
}

fn is_in_order<T: PartialEq>(all: &[T], some: &[T]) -> bool {
    let mut all = all.iter();
    some.iter().all(|one| all.any(|other| other == one))
}

/// Whether these turns are all among those, in order; a turn may be there at greater length.
fn contains(visible: &[String], replayed: &[String]) -> bool {
    let mut visible = visible.iter();
    replayed.iter().all(|said| visible.any(|other| other.starts_with(said)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happened_without_us_the_conversation_is_whole(
        steps in steps(),
        repeats in any::<bool>(),
        spaces in proptest::collection::vec(any::<bool>(), 1..6),
    ) {
        let mut world = World { scene: Scene::new(), agents: Default::default(), said: 0, repeats, spaces };
        for (of, step) in steps {
            world.happens(of, step);
        }
        for of in [0, 1, 0] {
            world.load(of);
        }
        prop_assert!(world.scene.store.storage().log_end(ID).is_ok());
    }
}
