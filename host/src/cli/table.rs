//! Rows for people to read.

use std::borrow::Cow;
use std::io::{self, Write};

use super::printable::{Form, columns, padded, printable, shortened};
use crate::component::sessions::{Session, SessionState};

/// Longer ids are cut; `--json` has them whole. Nobody types one of this length.
pub(super) const ID_WIDTH: usize = 128;

/// Longer titles are cut.
pub(super) const TITLE_WIDTH: usize = 60;

/// Longer folders are cut: no system has them.
pub(super) const FOLDER_WIDTH: usize = 4096;

/// Writes sessions as a table.
pub(super) fn write(out: &mut impl Write, sessions: &[Session]) -> io::Result<()> {
    let id_width = sessions.iter().map(|session| columns(&id(session))).max().unwrap_or(0).max(2);
    writeln!(out, "{:<id_width$}  {:<20}  {:<TITLE_WIDTH$}  FOLDER", "ID", "LAST ACTIVE", "TITLE")?;
    for session in sessions {
        let id = padded(&id(session), id_width);
        let title = padded(&title(session), TITLE_WIDTH);
        let updated = session.updated_at.as_deref().map_or_else(|| "-".into(), seconds);
        let (folder, mark) = (folder(session), mark(session));
        writeln!(out, "{id}  {updated:<20}  {title}  {folder}{mark}")?;
        if let Some(snippet) = &session.snippet {
            let is_aside = session.matched_in.as_deref() == Some("setAside");
            let mark = if is_aside { " (set aside)" } else { "" };
            writeln!(out, "{:id_width$}  … {}{mark}", "", printable(snippet, Form::Line))?;
        }
    }
    Ok(())
}

/// What is to be said of a session besides: whether it is put away, and what is being done in it.
fn mark(session: &Session) -> String {
    let state = session.state.and_then(|state| match state {
        SessionState::Idle => None,
        SessionState::Running => Some("running"),
        SessionState::RequiresAction => Some("waits for you"),
    });
    let marks: Vec<&str> = session.archived.then_some("archived").into_iter().chain(state).collect();
    if marks.is_empty() { String::new() } else { format!(" ({})", marks.join(", ")) }
}

/// A session's id on a line.
pub(super) fn id(session: &Session) -> Cow<'_, str> {
    shortened(&session.id, ID_WIDTH)
}

/// A session's folder on a line.
pub(super) fn folder(session: &Session) -> Cow<'_, str> {
    shortened(&session.cwd, FOLDER_WIDTH)
}

/// A session's title on a line.
pub(super) fn title(session: &Session) -> Cow<'_, str> {
    shortened(session.title.as_deref().unwrap_or("-"), TITLE_WIDTH)
}

/// An RFC 3339 time without the part below a second.
pub(super) fn seconds(time: &str) -> String {
    match (time.split_once('.'), time.ends_with('Z')) {
        (Some((whole, _)), true) => format!("{whole}Z"),
        _ => time.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(title: &str) -> Session {
        Session {
            id: "s1".into(),
            cwd: "/work".into(),
            title: Some(title.into()),
            created_at: "2026-01-02T03:04:05.678Z".into(),
            updated_at: Some("2026-01-02T03:04:05.678Z".into()),
            last_prompt_at: None,
            last_turn_ended_at: None,
            model: None,
            forked_from: None,
            state: Some(SessionState::RequiresAction),
            cost: None,
            archived: true,
            agent: None,
            meta: None,
            snippet: Some("a snippet".into()),
            matched_in: Some("setAside".into()),
            set_aside: 3,
        }
    }

    fn written(sessions: &[Session]) -> String {
        let mut out = Vec::new();
        write(&mut out, sessions).expect("written");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn long_titles_and_control_characters_do_not_break_the_table() {
        let text = written(&[session(&format!("a\x1b[31m\n{}", "ä".repeat(100)))]);
        let row = text.lines().nth(1).expect("a row");
        assert!(row.starts_with("s1  2026-01-02T03:04:05Z  a�[31m ä"), "{row}");
        assert!(row.ends_with("…  /work (archived, waits for you)"), "{row}");
        assert_eq!(text.lines().nth(2), Some("    … a snippet (set aside)"));
    }

    #[test]
    fn folders_stand_in_one_column_whatever_the_script_of_titles() {
        let wide = "東京の試験はなぜ金曜日に失敗するのか".repeat(4);
        let text = written(&["Mend the roof", "屋根を直す", "cafe\u{301}", &wide].map(session));
        let places: Vec<usize> = text.lines().filter_map(|line| Some(columns(line.split_once("/work")?.0))).collect();
        let (id, updated) = (2, 20);
        assert_eq!(places, [id + 2 + updated + 2 + TITLE_WIDTH + 2; 4], "{text}");
    }
}
