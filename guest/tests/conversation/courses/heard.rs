//! What each of the agent's programs has heard, and what it is told.

use std::collections::BTreeSet;

use serde_json::Value;

use super::habit::Opens;
use super::{Course, Words};
use crate::scenes::IMAGE;

/// A turn of which it is known who has heard it.
#[derive(Debug, Default)]
pub(super) struct Had {
    /// What was said in it, no two of which are alike.
    pub(super) said: BTreeSet<String>,
    pub(super) how: How,
    /// The turns that were had meanwhile.
    pub(super) meanwhile: Vec<usize>,
}

/// How a turn has come out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum How {
    #[default]
    UnderWay,
    /// Well, so that every agent is to hear of it.
    Well,
    /// So that an agent need not have it, or not know which of its own it has.
    Otherwise,
}

/// How often an agent is to be told what it has not heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    Whatever,
    AtLeastOnce,
    Once,
}

impl Course<'_> {
    /// The program of this window reads what is told.
    pub(super) fn opens(&mut self, at: usize, told: &[Value], is_told: bool) {
        let texts: Vec<&str> = told.iter().filter_map(|told| told["content"]["text"].as_str()).collect();
        let is_read = |said: &&String| texts.iter().any(|text| text.contains(said.as_str()));
        let window = &mut self.windows[at];
        window.heard = self.had.iter().flat_map(|had| &had.said).filter(is_read).cloned().collect();
        window.may_have_heard.clear();
        // What is under way it may read in part. Where it tells nothing, nobody knows what it has of turns that were had at once.
        let is_unclear = |had: &&Had| had.how != How::Well || !had.meanwhile.is_empty() && !is_told;
        window.unclear = self.had.iter().filter(is_unclear).flat_map(|had| &had.said).cloned().collect();
    }

    /// The program of this window is sent this prompt: which turn that is, and what it is told before it. What it is told it has not
    /// heard, and all that has come to a good end it has heard then.
    pub(super) fn is_asked(
        &mut self,
        at: usize,
        blocks: &[Value],
        word: &str,
        is_command: bool,
    ) -> (usize, BTreeSet<String>) {
        let had = self.had.len();
        self.had.push(Had::default());
        let all = self.windows.iter().flat_map(|window| window.running.iter().chain(&window.queue));
        let meanwhile: Vec<usize> = all.map(|turn| turn.had).collect();
        for other in &meanwhile {
            self.had[*other].meanwhile.push(had);
        }
        self.had[had].meanwhile = meanwhile;
        if matches!(self.words, Words::Same) {
            return (had, BTreeSet::new());
        }
        let account: String = blocks[..blocks.len() - 1].iter().filter_map(|block| block["text"].as_str()).collect();
        let window = &mut self.windows[at];
        let all = || self.had.iter().filter(|had| had.how == How::Well);
        let told: BTreeSet<String> =
            self.had.iter().flat_map(|had| &had.said).filter(|said| account.contains(said.as_str())).cloned().collect();
        let is_told_twice = |had: &&Had| {
            // With one that did not come to a good end it may be told as a whole.
            let is_among_others = had.meanwhile.iter().any(|other| self.had[*other].how == How::Otherwise);
            let may_be = [&window.may_have_heard, &window.unclear, &self.lost_on_way];
            let is_clear = !is_among_others && may_be.iter().all(|may_be| had.said.is_disjoint(may_be));
            is_clear && had.said.is_subset(&window.heard) && !had.said.is_disjoint(&told)
        };
        let heard = [&told, &window.heard, &window.may_have_heard, &self.lost_on_way];
        let is_heard = |said: &String| heard.iter().any(|heard| heard.contains(said));
        // Which branch it goes on with where it tells nothing, nobody knows.
        let is_unknown = |had: &Had| self.habit.opens == Opens::ByResume && !had.meanwhile.is_empty();
        let untold = all().find(|had| !is_command && !is_unknown(had) && !had.said.iter().all(is_heard));
        let told_again = all().find(is_told_twice).map(|had| &had.said);
        let place = ["first", "second", "third"][at];
        let wrong = |how: &str, what| format!("with {word} the {place} window's agent is {how} {what:?}: {account:?}");
        let untold = untold.map(|had| wrong("not told of", &had.said));
        let told_again = told_again.map(|said| wrong("told once more of", said));
        self.untold = self.untold.take().or(untold);
        self.told_again = self.told_again.take().or(told_again);
        // If it does not come to a good end, it may not.
        window.may_have_heard.extend(told.iter().cloned());
        if word != IMAGE && !is_command {
            self.had[had].said.insert(word.to_owned());
            window.heard.insert(word.to_owned());
        }
        (had, told)
    }

    pub(super) fn mistold(self, told: Told) -> Option<String> {
        match told {
            Told::Whatever => None,
            Told::AtLeastOnce => self.untold,
            Told::Once => self.untold.or(self.told_again),
        }
    }
}
