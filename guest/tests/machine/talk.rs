//! What was said, as everybody but the layer knows it. Each prompt and each chunk carries a mark of its own.

use std::collections::{BTreeMap, BTreeSet};

use acp_sessions_guest::storage::Memory;
use acp_sessions_guest::store::{Origin, Store};

/// One mark; its text is `m<number>x`.
pub(crate) type Mark = usize;

/// What is known of a mark.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Said {
    /// The turn it belongs to; none if it was said outside the layer, or between turns.
    pub(crate) turn: Option<usize>,
    /// It may not be lost any more, whatever happens.
    pub(crate) firm: bool,
    /// Its agent has taken it back.
    pub(crate) rewound: bool,
    /// It was thought, and not said.
    pub(crate) thought: bool,
    /// It was said on this connection, which has not been told since that time has passed.
    pub(crate) unwritten: Option<u8>,
    /// A program of another connection has told it before it can have been written; see [`crate::checks::gaps`].
    pub(crate) crossed: bool,
    pub(crate) beside: Beside,
}

/// Whether it was said outside the layer while another process had the session open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Beside {
    #[default]
    Nothing,
    /// It was.
    Another,
    /// And that process has had a turn since, whose time is all that the agent's list tells.
    Covered,
}

/// A prompt and what followed.
#[derive(Debug, Clone)]
pub(crate) struct Turn {
    /// The session, by the layer's id.
    pub(crate) session: String,
    pub(crate) line: u8,
    pub(crate) began: u64,
    pub(crate) ended: Option<u64>,
    /// In the order in which they were said.
    pub(crate) marks: Vec<Mark>,
    /// When the agent has seen the prompt, if it has.
    pub(crate) given: Option<u64>,
    /// The instance was lost meanwhile: what it had not written yet may be missing.
    pub(crate) shaken: bool,
    /// When another connection took it for cut off, because its own was silent for so long by the clock.
    pub(crate) given_up: Option<u64>,
    /// The store has failed its connection meanwhile: the log need not tell of it.
    pub(crate) untold: bool,
    /// Its connection has ended before it was answered.
    pub(crate) unanswered: bool,
}

/// Where turns end for those that are one with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Where they were answered.
    Nowhere,
    /// One that was taken for cut off has ended then: others speak behind that, and what its connection is asked next is not
    /// one with what it was asked before (723412).
    WhereGivenUp,
}

/// Whether a session is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Life {
    #[default]
    Here,
    /// A delete is under way, or was not confirmed.
    Perhaps,
    Gone,
}

/// A turn that is in a session's transcript.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) turn: usize,
    /// In a fork, the marks that it has to have; the others of the turn are the parent's business.
    pub(crate) inherited: Option<Vec<Mark>>,
}

/// A session, by the layer's id.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Session {
    pub(crate) life: Life,
    pub(crate) parts: Vec<Part>,
    /// The title that the user has set last, if that was confirmed.
    pub(crate) title: Option<String>,
    /// The user may have set a title.
    pub(crate) is_titled: bool,
    /// The layer has named it: it was made, opened or listed.
    pub(crate) is_real: bool,
    /// It was made through the layer.
    pub(crate) is_made_here: bool,
    /// A client has seen it in a list, and its agent keeps it.
    pub(crate) is_kept_outside: bool,
}

/// Who has said something in an agent's own session.
#[derive(Debug, Default)]
struct Processes {
    /// When each of its processes last did, by when it began.
    last: BTreeMap<u64, u64>,
    /// Two of them did that ran at the same time, or one that had not read a prompt yet that was on its way to it.
    is_shared: bool,
}

/// Everything that was said.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Talk {
    /// The names of agents of which some programs hand out ids that were handed out before.
    pub(crate) counting: BTreeSet<Option<&'static str>>,
    /// The names of agents of which some programs go on with sessions that they are asked for by id.
    pub(crate) asked_by_id: BTreeSet<Option<&'static str>>,
    /// Which of an agent's processes have said something in a session of its own.
    processes: BTreeMap<(Option<&'static str>, String), Processes>,
    /// The sessions in which two of them did at the same time.
    shared: BTreeSet<String>,
    /// Something is on its way that the agent has not read.
    pub(crate) is_crossing: bool,
    /// The clock was set back.
    pub(crate) was_set_back: bool,
    /// There are agents that list what they keep.
    pub(crate) some_agent_lists: bool,
    /// There are agents that replay what they keep.
    pub(crate) some_agent_loads: bool,
    /// There are agents that list nothing of what other processes of their name had, or say of it that there is no such
    /// session.
    pub(crate) some_agent_forgets: bool,
    /// The store has failed, so that something could not be read when it was needed.
    pub(crate) had_faults: bool,
    /// Turns that were answered without a word of how they ended.
    pub(crate) hollow: BTreeSet<usize>,
    /// What an agent said it has deleted that is not the one that has it.
    pub(crate) deleted_elsewhere: BTreeSet<String>,
    /// Sessions of which an agent has told a part and said that this is all, with the time that its list gave then, and what
    /// it has not told.
    pub(crate) half_told: BTreeMap<String, (i64, BTreeSet<Mark>)>,
    /// What agents have made without the layer.
    pub(crate) made_outside: BTreeSet<String>,
    /// What they have deleted without it.
    pub(crate) gone_outside: BTreeSet<String>,
    /// What of that a list of theirs has left out since.
    pub(crate) unlisted: BTreeSet<String>,
    /// Counts what happens, to tell what came before what.
    pub(crate) moment: u64,
    pub(crate) said: Vec<Said>,
    pub(crate) turns: Vec<Turn>,
    pub(crate) sessions: BTreeMap<String, Session>,
    /// Session ids in the order in which they became known.
    pub(crate) names: Vec<String>,
}

impl Talk {
    pub(crate) fn next_moment(&mut self) -> u64 {
        self.moment += 1;
        self.moment
    }

    /// A new mark, and a text with it.
    pub(crate) fn mark(&mut self, turn: Option<usize>) -> (Mark, String) {
        let mark = self.said.len();
        self.said.push(Said { turn, ..Said::default() });
        if let Some(turn) = turn {
            self.turns[turn].marks.push(mark);
        }
        (mark, format!("m{mark}x "))
    }

    /// What is known of an id that somebody has used.
    pub(crate) fn session(&mut self, id: &str) -> &mut Session {
        self.sessions.entry(id.to_owned()).or_default()
    }

    /// A session that the layer has named.
    pub(crate) fn meet(&mut self, id: &str) -> &mut Session {
        let session = self.sessions.entry(id.to_owned()).or_default();
        if !std::mem::replace(&mut session.is_real, true) {
            self.names.push(id.to_owned());
        }
        session
    }

    /// Whether the layer has named a session so.
    pub(crate) fn is_real(&self, id: &str) -> bool {
        self.sessions.get(id).is_some_and(|session| session.is_real)
    }

    /// Whether an id is that of another session than the one that is given it, which was asked for when so many were known.
    /// The agent's list may have told of that before it was done, and it has taken the place of the row (670126). One that was
    /// never prompted here, and of which another program of its agent's name says that there is none, or whose agent lists it
    /// no more (589011), may be forgotten, and its id free again.
    pub(crate) fn is_anothers(&self, id: &str, known: usize) -> bool {
        let is_new = !self.made_outside.contains(id) && self.names.iter().skip(known).any(|name| name == id);
        let is_denied = self.some_agent_forgets || self.unlisted.contains(id);
        self.is_real(id) && !((is_new || is_denied) && self.is_only_a_row(id))
    }

    /// Whether nothing was done in it here.
    fn is_only_a_row(&self, id: &str) -> bool {
        let session = self.sessions.get(id);
        session.is_some_and(|session| !session.is_made_here && !session.is_titled)
            && self.required(id).iter().all(|(_, marks)| marks.is_empty())
    }

    /// So much time has passed that what was made here, or has its history here, may have been removed for its age.
    pub(crate) fn age(&mut self, store: &Store<&Memory>) {
        let has_history =
            |id: &str| store.session(id).ok().flatten().is_some_and(|record| record.origin == Origin::Layer);
        for (id, session) in &mut self.sessions {
            let is_here = session.is_made_here || !session.parts.is_empty() || has_history(id);
            if session.life == Life::Here && is_here {
                session.life = Life::Perhaps;
            }
        }
    }

    pub(crate) fn begin(&mut self, session: &str, line: u8) -> usize {
        let turn = self.turns.len();
        let began = self.next_moment();
        self.turns.push(Turn {
            session: session.to_owned(),
            line,
            began,
            ended: None,
            marks: Vec::new(),
            given: None,
            shaken: false,
            given_up: None,
            untold: false,
            unanswered: false,
        });
        self.session(session).parts.push(Part { turn, inherited: None });
        turn
    }

    /// An agent's process, known by when it began, says something in a session of its own or is told something in it, or
    /// its turn ends; by the layer's id it is this one.
    pub(crate) fn goes_on(&mut self, process: u64, agent: Option<&'static str>, own: &str, session: &str) {
        let (now, is_crossed) = (self.next_moment(), self.is_crossing);
        let known = self.processes.entry((agent, own.to_owned())).or_default();
        known.last.insert(process, now);
        known.is_shared |= is_crossed || known.last.iter().any(|(other, last)| *other != process && *last > process);
        if known.is_shared {
            self.shared.insert(session.to_owned());
        }
    }

    /// Whether two programs had a session of their agent's open at the same time, and both went on with it.
    pub(crate) fn is_shared(&self, session: &str) -> bool {
        let parts = self.sessions.get(session).map(|session| session.parts.as_slice()).unwrap_or_default();
        self.shared.contains(session) || parts.iter().any(|part| self.shared.contains(&self.turns[part.turn].session))
    }

    /// A turn was answered; `stored` if the layer says that it has it.
    pub(crate) fn end(&mut self, turn: usize, stored: bool) {
        let moment = self.next_moment();
        let turn = &mut self.turns[turn];
        turn.ended = Some(moment);
        if stored && turn.given.is_some() && !turn.shaken {
            for mark in &turn.marks {
                self.said[*mark].firm = true;
            }
        }
    }

    /// The instance of this connection was lost.
    pub(crate) fn shake(&mut self, line: u8) {
        for turn in self.turns.iter_mut().filter(|turn| turn.line == line && turn.ended.is_none()) {
            turn.shaken = true;
        }
    }

    /// Another connection opens a session while this one, which has a turn in it, cannot be known to be there.
    pub(crate) fn give_up(&mut self, line: u8, session: &str) {
        let moment = self.next_moment();
        let is_under_way = |turn: &&mut Turn| turn.line == line && turn.ended.is_none() && turn.session == session;
        self.turns.iter_mut().filter(is_under_way).for_each(|turn| turn.given_up = turn.given_up.or(Some(moment)));
    }

    /// The store has failed this connection: what was said in the turns under way on it may not be written, prompts
    /// included.
    pub(crate) fn fail(&mut self, line: u8) {
        for turn in self.turns.iter_mut().filter(|turn| turn.line == line && turn.ended.is_none()) {
            turn.untold = true;
            turn.marks.iter().for_each(|mark| self.said[*mark].unwritten = Some(line));
        }
    }

    /// What has been said between turns on this connection is written by now.
    pub(crate) fn write_out(&mut self, line: u8) {
        self.said.iter_mut().filter(|said| said.unwritten == Some(line)).for_each(|said| said.unwritten = None);
    }

    /// What has been said so on another connection, between turns or in one that was taken for cut off or that the log does not
    /// tell of, is told by an agent on this one.
    pub(crate) fn cross(&mut self, line: u8) {
        let is_unknown = |turn: usize| self.turns[turn].given_up.is_some() || self.turns[turn].untold;
        let is_others =
            |said: &&mut Said| said.unwritten.is_some_and(|other| other != line) && said.turn.is_none_or(is_unknown);
        self.said.iter_mut().filter(is_others).for_each(|said| said.crossed = true);
    }

    /// A connection has ended; what was under way on it will never be answered.
    pub(crate) fn cut_off(&mut self, line: u8) {
        let moment = self.next_moment();
        for turn in self.turns.iter_mut().filter(|turn| turn.line == line && turn.ended.is_none()) {
            turn.ended = Some(moment);
            turn.unanswered = true;
        }
    }

    /// What was said on this connection has been written by now.
    pub(crate) fn firm_up(&mut self, line: u8) {
        let turns = self.turns.iter().filter(|turn| turn.line == line && turn.ended.is_none());
        for turn in turns.filter(|turn| turn.given.is_some() && !turn.shaken) {
            for mark in &turn.marks {
                self.said[*mark].firm = true;
            }
        }
    }

    /// What a session's transcript must have by now, turn by turn.
    pub(crate) fn required(&self, session: &str) -> Vec<(usize, Vec<Mark>)> {
        let Some(session) = self.sessions.get(session) else { return Vec::new() };
        let required = |part: &Part| {
            let marks = part.inherited.as_ref().unwrap_or(&self.turns[part.turn].marks);
            marks.iter().copied().filter(|mark| self.said[*mark].firm).collect()
        };
        session.parts.iter().map(|part| (part.turn, required(part))).collect()
    }

    /// A session was forked; `required` is what the parent had to have when that was asked for.
    pub(crate) fn fork(&mut self, parent: &str, fork: &str, required: &[(usize, Vec<Mark>)]) {
        let parts = self.sessions.get(parent).map(|session| session.parts.clone()).unwrap_or_default();
        let inherit = |part: Part| {
            let marks = required.iter().find(|(turn, _)| *turn == part.turn).map(|(_, marks)| marks.clone());
            Part { turn: part.turn, inherited: Some(marks.unwrap_or_default()) }
        };
        // What the parent may have from elsewhere, its fork may have too.
        let is_made_here = self.sessions.get(parent).is_some_and(|session| session.is_made_here);
        let fork = self.meet(fork);
        // A client that guessed its id may have said something in it already.
        let said = std::mem::take(&mut fork.parts);
        fork.parts = parts.into_iter().map(inherit).chain(said).collect();
        fork.is_made_here = is_made_here;
    }

    /// When the first of those turns began, and the last of them ended, that overlap with this one on its connection, or
    /// with one that does, of those that are there: nobody can tell which chunk belongs to which, so they are one.
    pub(crate) fn span(&self, turn: &Turn, cut: Cut, is_there: impl Fn(&Turn) -> bool) -> (u64, u64) {
        let given_up = |turn: &Turn| turn.given_up.filter(|_| cut == Cut::WhereGivenUp);
        let end = |turn: &Turn| given_up(turn).or(turn.ended).unwrap_or(u64::MAX);
        // A prompt may wait for its session to be open.
        let start = |turn: &Turn| turn.given.unwrap_or(turn.began);
        let mut span = (start(turn), end(turn));
        let same = |other: &&Turn| other.line == turn.line && other.session == turn.session && is_there(other);
        loop {
            let overlaps = |other: &&Turn| start(other) < span.1 && span.0 < end(other);
            let found = self.turns.iter().filter(same).filter(overlaps);
            let wider = found.fold(span, |span, other| (span.0.min(start(other)), span.1.max(end(other))));
            if wider == span {
                return span;
            }
            span = wider;
        }
    }
}

/// The marks in a text.
pub(crate) fn marks(text: &str) -> Vec<Mark> {
    let mut found = Vec::new();
    let bytes = text.as_bytes();
    for (at, _) in text.match_indices('m') {
        let digits = bytes[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits > 0 && bytes.get(at + 1 + digits) == Some(&b'x') {
            found.extend(text[at + 1..at + 1 + digits].parse::<Mark>());
        }
    }
    found
}
