//! Turns that did not come to their end, of which the agent has kept a part, the prompt alone or nothing. Whichever it is of which of
//! them, that is no change of the conversation.

use proptest::prelude::*;

use crate::case::texts;
use crate::scene::{Ended, Said, Scene};

/// What an agent has of a turn that did not come to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    All,
    Part,
    Prompt,
    Nothing,
}

/// A turn as it is had, and what the agent has of it.
#[derive(Debug, Clone, Copy)]
struct Had {
    ended: Ended,
    /// The agent has answered nothing until then.
    is_unanswered: bool,
    kept: Kept,
    /// What it gives of the user's is one message with what it gives before.
    is_joined: bool,
}

fn had() -> impl Strategy<Value = Had> {
    let ended = prop_oneof![
        3 => Just(Ended::Well),
        2 => Just(Ended::Cancelled),
        1 => Just(Ended::Failed),
        1 => Just(Ended::Never)
    ];
    let kept =
        prop_oneof![1 => Just(Kept::All), 1 => Just(Kept::Part), 4 => Just(Kept::Prompt), 1 => Just(Kept::Nothing)];
    let all = (ended, prop::bool::weighted(0.2), kept, any::<bool>());
    all.prop_map(|(ended, is_unanswered, kept, is_joined)| {
        let kept = if ended == Ended::Well { Kept::All } else { kept };
        Had { ended, is_unanswered, kept, is_joined }
    })
}

/// What the agent gives back: prompts with nothing between them one behind the other, or as one message.
fn replay(turns: &[Said], had: &[Had]) -> Vec<Said> {
    let mut told: Vec<Said> = Vec::new();
    for (turn, had) in turns.iter().zip(had).filter(|(_, had)| had.kept != Kept::Nothing) {
        let agent = match had.kept {
            Kept::All => turn.agent.as_str(),
            Kept::Part => &turn.agent[..turn.agent.len() / 2],
            Kept::Prompt | Kept::Nothing => "",
        };
        let before = told.last_mut().filter(|before| had.is_joined && before.agent.is_empty());
        match before {
            Some(before) => {
                before.user = format!("{}\n\n{}", before.user, turn.user);
                agent.clone_into(&mut before.agent);
            }
            None => told.push(Said { user: turn.user.clone(), agent: agent.to_owned(), ended: Ended::Never }),
        }
    }
    told
}

/// The agent replays what it has of these turns, twice: nothing is set aside, and all is shown as it was.
fn assert_stays(had: &[Had], moved_on: bool) -> Result<(), TestCaseError> {
    let turn = |(number, had): (usize, &Had)| Said {
        user: format!("ask {number}."),
        agent: if had.is_unanswered { String::new() } else { format!("answer {number}") },
        ended: had.ended,
    };
    let turns: Vec<Said> = had.iter().enumerate().map(turn).collect();
    let mut scene = Scene::new();
    for turn in &turns {
        scene.say(turn);
    }
    scene.tell("agent", usize::MAX);
    let (before, replay) = (texts(&scene.visible()), replay(&turns, had));
    for time in ["once", "twice"] {
        let plan = scene.load("agent", &replay, moved_on).plan;
        prop_assert!(plan.keeps_all(), "{time}: {plan:?} of {replay:?}");
        prop_assert_eq!(texts(&scene.visible()), &before[..]);
    }
    Ok(())
}

#[test]
fn turns_of_which_nothing_was_kept_between_prompts_that_are_told_together_stay() {
    let kept = |ended, is_unanswered, kept| Had { ended, is_unanswered, kept, is_joined: false };
    let lost = kept(Ended::Cancelled, false, Kept::Nothing);
    let unanswered = kept(Ended::Well, true, Kept::All);
    let after = kept(Ended::Well, false, Kept::All);
    for told in [Ended::Well, Ended::Cancelled] {
        let had = [lost, unanswered, kept(told, false, Kept::All), lost, lost, after];
        assert_stays(&had, false).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_an_agent_has_of_turns_that_were_cut_short_the_conversation_stays_as_it_is(
        had in proptest::collection::vec(had(), 1..10),
        moved_on in any::<bool>(),
    ) {
        // Of the last turn it has something: where its list says that the session has changed, its user may have gone back.
        prop_assume!(had.last().is_some_and(|had| had.kept != Kept::Nothing));
        assert_stays(&had, moved_on)?;
    }
}
