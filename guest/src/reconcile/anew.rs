//! What has come to a conversation beside what has come in the place of something else.

use std::collections::HashSet;

use super::fold::Fold;
use super::fold::pieces::Pieces;
use super::turn::sum::Sum;
use super::turn::{Strip, Turn};
use super::turns;
use crate::storage::{Result, Storage};
use crate::store::Segment;

/// Of these parts, which have come to a conversation as those others were taken out of it, the turns that the user begins
/// with other words than any that was taken out: nothing of them was in it before.
pub fn said_anew<S: Storage>(storage: &S, new: &[Segment], aside: &[Segment], strip: Strip) -> Result<Vec<Segment>> {
    let taken_out = turns::of_parts(storage, aside, Fold::new(strip))?;
    let gone: HashSet<Sum> = taken_out.iter().map(|turn| turn.user).filter(|prompt| !prompt.is_empty()).collect();
    let mut anew: Vec<Segment> = Vec::new();
    for part in new {
        let fold = Fold::of_pieces(strip, with_no_answer_between(&taken_out));
        for turn in turns::of_parts(storage, std::slice::from_ref(part), fold)? {
            if turn.user.is_empty() || turn.pieces().iter().any(|prompt| gone.contains(prompt)) {
                continue;
            }
            for run in turn.at.runs() {
                let (from, until) = (part.seq(run.start() - 1), part.seq(run.end() - 1));
                match anew.last_mut().filter(|last| last.log == part.log && last.until.checked_add(1) == Some(from)) {
                    Some(last) => last.until = until,
                    None => anew.push(Segment { log: part.log.clone(), from, until }),
                }
            }
        }
    }
    Ok(anew)
}

/// The prompts that nobody has answered, and what was said behind each: agents put that together.
fn with_no_answer_between(turns: &[Turn]) -> Pieces {
    let joined = turns.windows(2).filter(|two| two[0].agent.sum().is_empty());
    joined.flatten().map(|turn| turn.user).collect()
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use serde_json::json;

    use super::*;
    use crate::storage::{Durability, Memory, Write};
    use crate::transcript::{Entry, Kind};

    /// A log of what the user, `u`, and the agent, `a`, have said, and all of it as a part.
    fn part(storage: &Memory, log: &str, said: &[(&str, &str)]) -> Segment {
        let write = |((who, text), seq): (&(&str, &str), u32)| {
            let update = if *who == "u" { "user_message_chunk" } else { "agent_message_chunk" };
            let content = json!({"type": "text", "text": text});
            let json = json!({"update": {"sessionUpdate": update, "messageId": seq.to_string(), "content": content}});
            Write::Append { log: log.to_owned(), seq, value: Entry::text(Kind::Update, 1, &json.to_string()) }
        };
        let writes = said.iter().zip(1..).map(write).collect();
        storage.commit(&[], writes, Durability::Relaxed).unwrap();
        Segment { log: log.to_owned(), from: 1, until: u32::try_from(said.len()).unwrap() }
    }

    #[test]
    fn what_the_user_begins_with_other_words_is_new_however_an_agent_has_put_it_together() {
        let taken_out = [("u", "one"), ("a", "1"), ("u", "two"), ("a", ""), ("u", "three"), ("a", "3")];
        for (new, expected) in [
            (&[("u", "one"), ("a", "other")][..], 0),
            (&[("u", "twothree"), ("a", "3 and more")], 0),
            (&[("u", "threetwo"), ("a", "3")], 0),
            (&[("u", "onetwo"), ("a", "3")], 2),
            (&[("u", "four"), ("a", "4"), ("u", "three"), ("a", "3")], 2),
        ] {
            let storage = Memory::new();
            let (aside, new) = (part(&storage, "aside", &taken_out), part(&storage, "new", new));
            let anew = said_anew(&storage, std::slice::from_ref(&new), &[aside], |text| Cow::Borrowed(text)).unwrap();
            assert_eq!(anew.iter().map(Segment::length).sum::<u64>(), expected, "{new:?}");
        }
    }
}
