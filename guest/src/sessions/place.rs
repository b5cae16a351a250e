//! Places in a transcript as those carry them who read it. A cursor says whose it is: in another session, or in what was taken out of
//! the conversation, the same place is another one.

use super::cursor_mark::CursorMark;
use super::fingerprint::Fingerprint;
use crate::store::Session;
use crate::transcript::{Part, Position};

/// The cursor of a place in a part of a session's transcript.
pub fn to_cursor(session: &Session, part: Part, place: &Position) -> String {
    mark(&session.id, part).cursor(&place.to_cursor(session.layout))
}

/// The layout and the place that a cursor means in a part of the transcript of this session; `None` for one of another's. Those
/// of an earlier version do not say whose they are.
pub fn from_cursor(cursor: &str, id: &str, part: Part) -> Option<(u64, Position)> {
    Position::from_cursor(cursor).or_else(|| Position::from_cursor(mark(id, part).place(cursor)?))
}

/// What the cursors of a part of a session's transcript begin with.
fn mark(id: &str, part: Part) -> CursorMark {
    let mut print = Fingerprint::default();
    print.text("transcript");
    print.text(id);
    print.number(match part {
        Part::Conversation => 0,
        Part::SetAside => 1,
    });
    CursorMark::short(&print, '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_one_of_its_own_session_and_part() {
        let parts = [Part::Conversation, Part::SetAside];
        let all: Vec<_> = ["s", "s1", ""].into_iter().flat_map(|id| parts.map(|part| (id, part))).collect();
        for &(id, part) in &all {
            let mut session = Session::new(id.into(), "/w".into(), 1);
            session.layout = 3;
            let cursor = to_cursor(&session, part, &Position::at(17));
            for &(other, other_part) in &all {
                let is_its = (other, other_part) == (id, part);
                let read = from_cursor(&cursor, other, other_part);
                assert_eq!(read, is_its.then(|| (3, Position::at(17))), "{cursor} {other} {other_part:?}");
            }
        }
    }

    #[test]
    fn a_cursor_is_written_as_it_always_was() {
        let session = Session::new("s1".into(), "/w".into(), 1);
        for (part, cursor) in [(Part::Conversation, "5cbb55-r2-0-17"), (Part::SetAside, "7c36ea-r2-0-17")] {
            assert_eq!(to_cursor(&session, part, &Position::at(17)), cursor);
        }
    }

    #[test]
    fn cursors_of_earlier_versions_are_read_and_what_is_none_is_refused() {
        for (cursor, place) in [
            ("r1-5", Some((0, 5))),
            ("r2-3-17", Some((3, 17))),
            ("000000-r2-3-17", None),
            ("-r2-3-17", None),
            ("", None),
        ] {
            let place = place.map(|(layout, count)| (layout, Position::at(count)));
            assert_eq!(from_cursor(cursor, "s", Part::Conversation), place, "{cursor}");
        }
    }
}
