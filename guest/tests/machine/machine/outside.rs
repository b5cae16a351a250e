//! What happens to an agent's sessions behind the layer's back.

use super::Machine;
use crate::agent::Agent;
use crate::case::Change;
use crate::disk::{CWD, Piece};
use crate::kind::Trait;
use crate::talk::{Beside, Mark, marks};

/// How long ago an agent's own sessions were last used, in milliseconds.
const DAYS: i64 = 3 * 86_400_000;
/// What an agent tells in its user's name of what it has compacted.
const SUMMARY: &str =
    "This session is being continued from a previous conversation that ran out of context. Summary: ...";

impl Machine<'_> {
    pub(super) fn outside(&mut self, line: u8, at: u8, change: Change) {
        let now = self.bench.world.now();
        let kind = self.next_kind();
        let loading: Vec<String> = self.lines.iter().flatten().flat_map(|open| open.agent.loading()).collect();
        let ground = &mut self.ground;
        let mut idle = Agent::resting(kind);
        let other = self.lines[usize::from(1 - line)].as_ref().map(|open| &open.agent);
        let other = other.filter(|other| other.kind.name() == kind.name() && !other.kind.forgets());
        let elsewhere = other.map(|other| other.open.clone()).unwrap_or_default();
        let agent = match &mut self.lines[usize::from(line)] {
            Some(open) => &mut open.agent,
            None => &mut idle,
        };
        if change == Change::Create {
            let (_, said) = ground.talk.mark(None);
            let (_, answer) = ground.talk.mark(None);
            let disk = agent.disk(ground);
            let id = disk.create(CWD[usize::from(at) % 2], now - DAYS, true);
            ground.talk.made_outside.insert(id.clone());
            let disk = agent.disk(ground);
            if let Some(kept) = disk.sessions.get_mut(&id) {
                kept.pieces.push(Piece { by_user: true, text: said });
                kept.pieces.push(Piece { by_user: false, text: answer });
            }
            return;
        }
        let Some(id) = agent.disk(ground).id_at(at).cloned() else { return };
        // What is open here is nobody else's to change.
        if agent.open.contains(&id) {
            return;
        }
        let mut taken_back = Vec::new();
        let (first, is_open_elsewhere) = (ground.talk.said.len(), elsewhere.contains(&id));
        match change {
            Change::Create => {}
            Change::Continue => {
                for by_user in [true, false] {
                    let (_, text) = ground.talk.mark(None);
                    if let Some(kept) = agent.kept(ground, &id) {
                        kept.pieces.push(Piece { by_user, text });
                        kept.change_at(now);
                    }
                }
            }
            Change::Rename => {
                let title = format!("Named outside {}", ground.talk.next_moment());
                if let Some(kept) = agent.kept(ground, &id) {
                    kept.title = Some(title);
                }
            }
            Change::Archive | Change::Unarchive => {
                let archives = agent.kind.is(Trait::Archive);
                if let Some(kept) = agent.kept(ground, &id).filter(|_| archives) {
                    kept.archived = change == Change::Archive;
                }
            }
            Change::Delete => {
                agent.disk(ground).sessions.remove(&id);
                if let Some(session) = ground.talk.sessions.get_mut(&id) {
                    session.is_kept_outside = false;
                }
                ground.talk.gone_outside.insert(id.clone());
            }
            Change::Rewind => {
                if let Some(kept) = agent.kept(ground, &id) {
                    let from = kept.pieces.iter().rposition(|piece| piece.by_user).unwrap_or(0);
                    taken_back = marks_of(&kept.pieces.split_off(from));
                    if from == 0 {
                        taken_back.append(&mut kept.summed_up);
                    }
                    kept.is_cut = true;
                    kept.change_at(now);
                }
            }
            Change::Compact if agent.kind.is(Trait::Remarks) => {
                let summary = Piece { by_user: true, text: SUMMARY.to_owned() };
                // What it tells for a load it has read as it was.
                if let Some(kept) = agent.kept(ground, &id).filter(|_| !loading.contains(&id)) {
                    kept.summed_up = kept.marks();
                    kept.pieces = vec![summary];
                    kept.change_at(now);
                }
            }
            Change::Compact => {
                let (_, text) = ground.talk.mark(None);
                if let Some(kept) = agent.kept(ground, &id) {
                    taken_back = kept.marks();
                    kept.summed_up.clear();
                    kept.pieces = vec![Piece { by_user: false, text }];
                    kept.change_at(now);
                }
            }
        }
        if is_open_elsewhere {
            ground.talk.said[first..].iter_mut().for_each(|said| said.beside = Beside::Another);
        }
        for mark in taken_back {
            ground.talk.said[mark].rewound = true;
        }
    }
}

fn marks_of(pieces: &[Piece]) -> Vec<Mark> {
    pieces.iter().flat_map(|piece| marks(&piece.text)).collect()
}
