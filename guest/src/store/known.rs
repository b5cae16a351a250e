//! What each agent knows of a session.

use serde::{Deserialize, Serialize};

use super::{AsOf, Overtaken};

/// How many ids are remembered that an agent knew a session by.
const MOST_FORMER: usize = 16;

/// A second, in milliseconds: lists give no more of a time, or do.
const SECOND: i64 = 1000;

/// How many times at which its session was opened or let go of are remembered.
const MOST_TOUCHED: usize = 4;

/// How long an agent may take to end, or to close a session, once it is told to, in milliseconds.
const ENDING: i64 = 10_000;

/// How long before its end shows an agent that ends by itself may have written what it writes then, in milliseconds.
const ENDED: i64 = 250;

/// What an agent knows of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is something else that is known of it")]
pub struct Known {
    /// The id it knows the session by.
    pub id: String,
    /// Ids it knew the session by before it forgot it; the last few of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub former: Vec<String>,
    /// Ids of sessions of its own that this one was forked from, whose conversation it remembers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lineage: Vec<String>,
    /// Other names under which it has the same session: it was renamed, or keeps its sessions where another agent does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// How many entries of the transcript there were when its session began. It was told of them at most, and took no part.
    #[serde(default, skip_serializing_if = "is_none_yet")]
    pub since: u64,
    /// What its session, or one that it was forked from, need not have copied of the transcript: what stands behind the first of
    /// two places, up to the second, was written between when the agent was asked to fork and when it answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uncopied: Vec<(u64, u64)>,
    /// How many entries of the transcript it has heard, counted from the beginning over all segments. `u64::MAX`: all
    /// there are (records of an earlier version).
    pub heard: u64,
    /// When the last turn of it through the layer began and ended; milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_turn: Option<(i64, i64)>,
    /// When a turn of it through the layer last ended, where that is not [`Self::last_turn`]: it was cut off, or came behind
    /// something that was not looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<i64>,
    /// Something may have been said without the layer before that turn, which was not looked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gap: bool,
    /// What [`Self::listed`] was when a turn of it through the layer last ended, where the two did not agree: of what came
    /// after that it tells nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listed_before: Option<i64>,
    /// What [`Self::listed`] was when the transcript was last compared with its replay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared: Option<i64>,
    /// From when to when its session was opened here, or let go of, the last few times and when its own list says, in milliseconds since
    /// 1970: that alone moves the time that some lists give. Of openings those before which its own list was read not long ago.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touched: Vec<(i64, i64)>,
    /// Where one of its programs let go of the session last, without having heard all: another one, if each has a branch of its own,
    /// may go on with that one's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<Left>,
    /// The time of last activity that its own list gave last; milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listed: Option<i64>,
    /// Whether its own list gives no such time: it does not tell whether anything was said without the layer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub untimed: bool,
    /// Whether it has put the session away, as its own list said last or as it was told to since.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
    /// It has put the session away since it was told to, which its own list has not said yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archived_as_told: bool,
    /// The session has followed a folder that was moved here, of which its own list may know nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub moved: bool,
    /// What its own list may still say of the session's further directories, though they are others here by now.
    #[serde(default, alias = "moved_from", skip_serializing_if = "Overtaken::is_nothing")]
    pub overtaken: Overtaken,
    /// As of when it is known what its own list says of the session.
    #[serde(default, skip_serializing_if = "AsOf::is_unknown")]
    pub as_of: AsOf,
    /// It was told the title that the session's user has given it, and has answered: what its own list says of that is its own
    /// affair.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub told_title: bool,
}

/// What a program of an agent's had heard of a session that it let go of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Left {
    /// So many entries of the transcript.
    pub heard: u64,
    /// When it let go of it; milliseconds since 1970.
    pub at: i64,
}

/// What was said in a session without the layer before a turn through it, as far as is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Between {
    /// Nothing was.
    Nothing,
    /// It was not looked for.
    Unseen,
}

impl Known {
    /// What an agent knows that has heard this much.
    pub fn new(id: String, heard: u64) -> Self {
        Self {
            id,
            former: Vec::new(),
            lineage: Vec::new(),
            names: Vec::new(),
            since: 0,
            uncopied: Vec::new(),
            heard,
            last_turn: None,
            ended: None,
            gap: false,
            listed_before: None,
            compared: None,
            touched: Vec::new(),
            left: None,
            listed: None,
            untimed: false,
            archived: false,
            archived_as_told: false,
            moved: false,
            overtaken: Overtaken::default(),
            as_of: AsOf::default(),
            told_title: false,
        }
    }

    /// Remembers an id that the session is not to be asked for by.
    pub fn forget(&mut self, id: String) {
        self.former.retain(|former| *former != id);
        self.former.push(id);
        let surplus = self.former.len().saturating_sub(MOST_FORMER);
        self.former.drain(..surplus);
    }

    /// Whether its own list says that nothing was said in the session without the layer: its time is that of the last
    /// comparison, or one during the last turn, before which nothing was said either. A list that does not have it says nothing.
    pub fn agrees(&self) -> bool {
        !self.gap && !self.untimed && self.is_explained()
    }

    /// Whether the time that its own list gives is that of the last comparison, or one during the last turn. The clock may have
    /// been set back, so later is not all that matters.
    pub fn is_explained(&self) -> bool {
        let is_in_turn = |listed| self.last_turn.is_some_and(|(begun, ended)| (begun..ended).contains(&listed));
        self.listed.is_some_and(|listed| self.compared == Some(listed) || is_in_turn(listed))
    }

    /// A turn of it through the layer has ended. Where its list tells of something that came before the turn, and after what is
    /// known of, that was said without the layer, as it may have been where that was not looked for.
    pub fn note_turn(&mut self, turn: Option<(i64, i64)>, between: Between) {
        let is_known = self.last_turn.is_some() || self.compared.is_some();
        let is_before = |listed| turn.is_some_and(|(begun, _)| listed < begun);
        let is_listed = is_known && !self.is_explained() && self.listed.is_some_and(is_before);
        self.gap |= turn.is_some() && (is_listed || between == Between::Unseen);
        self.last_turn = turn;
    }

    /// A turn of it through the layer has ended at this time, however it did.
    pub fn note_turn_end(&mut self, at: i64) {
        // Who had it has written to the session last.
        self.left = None;
        self.ended = Some(at).filter(|at| self.last_turn.is_none_or(|(_, ended)| ended < *at));
    }

    /// The transcript was compared with its replay, when its own list gave this time.
    pub fn note_comparison(&mut self, listed: Option<i64>) {
        self.compared = listed.or(self.compared);
        self.gap = false;
    }

    /// It was asked for its session, and has opened it, when its list had given this time before.
    pub fn note_opening(&mut self, opened: (i64, i64), listed: Option<i64>) {
        if !listed.is_some_and(|listed| is_within(listed, opened)) {
            self.note_touched(opened);
        }
    }

    /// It has let go of its session by a close, or its program has ended, or is about to: what it writes then need not be anything that
    /// was said. What its list gave by then it does not give because of that. `heard`: how many entries of the transcript that
    /// program has heard, if not all.
    pub fn note_release(&mut self, at: i64, heard: Option<u64>) {
        let ended = (at.saturating_sub(ENDED), at);
        let was_listed = self.listed.is_some_and(|listed| is_within(listed, ended));
        self.left = heard.map(|heard| Left { heard, at });
        self.note_touched((if was_listed { at } else { ended.0 }, at.saturating_add(ENDING)));
    }

    /// How many entries of the transcript the program had heard that has written to its session last, as it let go of it, which the
    /// agent's own list shows; none if all, as far as is known.
    pub fn left_with(&self) -> Option<u64> {
        let (listed, ended) = (self.listed?, self.ended.max(self.last_turn.map(|(_, ended)| ended)));
        let left = self.left?;
        let is_of_end = is_within(listed, (left.at.saturating_sub(ENDED), left.at.saturating_add(ENDING)));
        // A program in which nothing was said may have written as it opened the session, and not as it let go of it.
        let is_of_opening = |(begun, opened): &(i64, i64)| {
            *opened <= left.at && ended.is_none_or(|ended| ended < *begun) && is_within(listed, (*begun, *opened))
        };
        (is_of_end || self.touched.iter().any(is_of_opening)).then_some(left.heard)
    }

    /// The window that had its session open was heard of last while its heartbeat was good until then, and its program has ended with it.
    pub fn note_loss(&mut self, (heard, until): (i64, i64)) {
        self.note_touched((heard, until));
    }

    fn note_touched(&mut self, stretch: (i64, i64)) {
        let last = self.touched.len().saturating_sub(MOST_TOUCHED - 1);
        let listed = self.touched[..last].iter().rfind(|before| self.listed.is_some_and(|at| is_within(at, **before)));
        self.touched = listed.into_iter().chain(&self.touched[last..]).copied().chain([stretch]).collect();
    }

    /// Whether its own list says that something was said without the layer since its last turn through it, or its replay was
    /// last compared. A time before that turn's end says nothing of what came then: an agent need not have kept the turn. Where
    /// the clock was set back meanwhile, it is not known.
    pub fn has_moved_on(&self) -> bool {
        let ended = self.ended.max(self.last_turn.map(|(_, ended)| ended));
        let is_later = self.listed.is_some_and(|listed| ended.is_none_or(|ended| ended < listed));
        is_later && !self.untimed && !self.is_explained() && self.listed != self.listed_before
    }

    /// Whether its list says that something was said without the layer since then, and not by a time at which it was
    /// opening the session, or letting go of it: that alone may move it.
    pub fn has_moved_on_by_itself(&self) -> bool {
        let is_of = |listed| self.touched.iter().any(|stretch| is_within(listed, *stretch));
        self.has_moved_on() && !self.listed.is_some_and(is_of)
    }

    /// Whether a prompt went to its session, or to one that it remembers: what was prompted is the session that an agent of this
    /// name knows by this id. `own` is the name of the agent that knows this.
    pub fn has_taken(&self, own: &str, (agent, id): (&str, &str)) -> bool {
        self.called(own).any(|name| name == agent) && self.taken().any(|taken| taken == id)
    }

    /// Where a stretch of the transcript begins that its session need not have copied, if these entries have some of it.
    pub fn uncopied_from(&self, (first, last): (u64, u64)) -> Option<u64> {
        let stretches = self.uncopied.iter().filter(|(behind, until)| *behind < last && first <= *until);
        stretches.map(|(behind, _)| behind + 1).min()
    }

    /// The names that its agent has, of which `own` is one.
    pub fn called<'k>(&'k self, own: &'k str) -> impl Iterator<Item = &'k str> {
        std::iter::once(own).chain(self.names.iter().map(String::as_str))
    }

    /// The ids of its session, and of those whose conversation that one remembers.
    pub fn taken(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.id.as_str()).chain(self.lineage.iter().map(String::as_str))
    }

    /// Every id it knows, or knew, the session by.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.id.as_str()).chain(self.former.iter().map(String::as_str))
    }
}

/// Whether a time that a list gives, in milliseconds or in whole seconds, is one of these.
fn is_within(listed: i64, (first, last): (i64, i64)) -> bool {
    let is_rounded = listed % SECOND == 0;
    let (first, last) = if is_rounded { (first - first % SECOND, last + SECOND - 1) } else { (first, last) };
    (first..=last).contains(&listed)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "it is what serde asks with")]
fn is_none_yet(number: &u64) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(paths: &[&str]) -> Vec<String> {
        paths.iter().map(|path| (*path).to_owned()).collect()
    }

    #[test]
    fn a_time_up_to_the_end_of_the_last_turn_is_no_sign_that_it_has_moved_on() {
        let mut known = Known::new("s1".to_owned(), 0);
        known.note_turn(Some((20, 30)), Between::Nothing);
        known.note_turn_end(30);
        assert_eq!(known.ended, None, "it is the last turn");
        let moved_on = |known: &Known, times: [i64; 5]| {
            times.map(|listed| Known { listed: Some(listed), ..known.clone() }.has_moved_on())
        };
        assert_eq!(moved_on(&known, [10, 20, 29, 30, 31]), [false, false, false, false, true]);
        // One that was cut off is no last turn that its list could agree with.
        known.note_turn_end(50);
        assert_eq!((known.last_turn, known.ended), (Some((20, 30)), Some(50)));
        assert_eq!(moved_on(&known, [25, 30, 40, 50, 51]), [false, false, false, false, true]);
        let is_agreed = [25, 30, 40].map(|listed| Known { listed: Some(listed), ..known.clone() }.agrees());
        assert_eq!(is_agreed, [true, false, false]);
        known.note_comparison(Some(51));
        assert_eq!(moved_on(&known, [10, 50, 51, 52, 60]), [false, false, false, true, true]);
        known.note_turn(Some((60, 70)), Between::Nothing);
        known.note_turn_end(70);
        assert_eq!(known.ended, None);
        assert_eq!(moved_on(&known, [51, 52, 69, 70, 71]), [false, false, false, false, true]);
    }

    #[test]
    fn without_a_turn_through_the_layer_any_other_time_says_that_it_has_moved_on() {
        let mut known = Known::new("s1".to_owned(), 0);
        assert!(!known.has_moved_on(), "it has no list");
        known.listed = Some(10);
        assert!(known.has_moved_on());
        known.note_comparison(Some(10));
        assert!(!known.has_moved_on());
        known.listed = Some(5);
        assert!(known.has_moved_on(), "the clock may have been set back");
        known.untimed = true;
        assert!(!known.has_moved_on());
    }

    #[test]
    fn a_time_at_which_it_was_opening_the_session_is_no_sign_that_it_has_moved_on() {
        let mut known = Known::new("s1".to_owned(), 0);
        known.note_turn(Some((20_000, 30_000)), Between::Nothing);
        known.note_opening((60_100, 61_200), Some(25_000));
        let moved_on = |known: &Known, times: &[i64]| {
            let is_sign = |listed: &i64| Known { listed: Some(*listed), ..known.clone() }.has_moved_on_by_itself();
            times.iter().map(is_sign).collect::<Vec<bool>>()
        };
        // Whole seconds may have been rounded.
        assert_eq!(moved_on(&known, &[59_000, 60_000, 61_000, 62_000, 63_000]), [true, false, false, false, true]);
        assert_eq!(moved_on(&known, &[60_099, 60_100, 61_200, 61_201]), [true, false, false, true]);
        // It is none either once the session is opened again, as long as the list gives it.
        known.listed = Some(61_000);
        known.note_opening((90_000, 90_500), Some(25_000));
        known.note_opening((100_000, 100_500), Some(25_000));
        assert_eq!(moved_on(&known, &[60_000, 61_000, 80_000, 90_000, 100_000]), [false, false, true, false, false]);
        assert!(!known.agrees());
        // What the list gave before, it does not give because of that.
        known.listed = Some(120_000);
        known.note_opening((120_100, 120_200), known.listed);
        assert!(known.has_moved_on_by_itself());
    }

    #[test]
    fn a_time_at_which_it_let_go_of_the_session_is_no_sign_that_it_has_moved_on() {
        let mut known = Known::new("s1".to_owned(), 0);
        known.note_turn(Some((20_000, 30_000)), Between::Nothing);
        let moved_on = |known: &Known, times: &[i64]| {
            let is_sign = |listed: &i64| Known { listed: Some(*listed), ..known.clone() }.has_moved_on_by_itself();
            times.iter().map(is_sign).collect::<Vec<bool>>()
        };
        // Its program may have ended by then, or is about to.
        known.note_release(150_500, None);
        assert_eq!(
            moved_on(&known, &[149_000, 150_249, 150_250, 158_123, 160_501, 162_000]),
            [true, true, false, false, true, true]
        );
        // What its list gave before, it does not give because of that.
        known.listed = Some(200_300);
        known.note_release(200_500, None);
        assert!(known.has_moved_on_by_itself());
        // As long as its list gives the time at which it let go, others behind that do not count.
        known.listed = Some(201_000);
        for at in [300_000, 400_000, 500_000, 600_000, 700_000] {
            known.note_release(at, None);
        }
        assert_eq!(known.touched.len(), MOST_TOUCHED + 1);
        assert_eq!(moved_on(&known, &[150_000, 201_000, 300_000, 400_000, 700_000]), [true, false, true, false, false]);
    }

    #[test]
    fn the_program_that_wrote_last_wrote_as_it_let_go_or_as_it_opened_the_session_behind_the_last_turn() {
        let mut known = Known::new("s1".to_owned(), 0);
        known.listed = Some(1_000);
        known.note_turn(Some((10_000, 20_000)), Between::Nothing);
        known.note_turn_end(20_000);
        known.note_opening((5_000, 5_500), known.listed);
        known.note_opening((30_000, 31_000), known.listed);
        known.note_release(40_000, Some(7));
        known.note_opening((50_000, 51_000), known.listed);
        for (listed, is_of_it) in [
            (5_200, false),
            (15_000, false),
            (30_900, true),
            (32_000, false),
            (39_900, true),
            (41_000, true),
            (50_500, false),
        ] {
            known.listed = Some(listed);
            assert_eq!(known.left_with(), is_of_it.then_some(7), "{listed}");
        }
    }

    #[test]
    fn where_directories_were_takes_no_room_before_they_are_moved_nor_once_they_are_back() {
        let mut known = Known::new("s1".to_owned(), 0);
        let plain = r#"{"id":"s1","heard":0}"#;
        assert_eq!(serde_json::to_string(&known).unwrap(), plain);
        known.overtaken.moved(&paths(&["/a", "/o"]), &paths(&["/b", "/o"]));
        known.overtaken.moved(&paths(&["/b", "/o"]), &paths(&["/c", "/o"]));
        assert!(known.overtaken.has_moved_from(&paths(&["/o/", "/a"])));
        assert!(!known.overtaken.has_moved_from(&paths(&["/b", "/o"])) && !known.overtaken.has_moved_from(&[]));
        let text = serde_json::to_string(&known).unwrap();
        assert_eq!(serde_json::from_str::<Known>(&text).unwrap(), known);
        let earlier = r#"{"id":"s1","heard":0,"moved_from":["/a","/o"]}"#;
        assert_eq!(serde_json::from_str::<Known>(earlier).unwrap(), known);
        known.overtaken.moved(&paths(&["/c", "/o"]), &paths(&["/a", "/o"]));
        assert_eq!(serde_json::to_string(&known).unwrap(), plain);
        assert!(!known.overtaken.has_moved_from(&[]));
        assert_eq!(serde_json::from_str::<Known>(plain).unwrap(), known);
    }
}
