//! Rows for people to read.

use std::io::{self, Write};

use crate::component::sessions::Session;

/// Longer titles are cut.
const TITLE_WIDTH: usize = 60;

/// Writes sessions as a table.
pub(super) fn write(out: &mut impl Write, sessions: &[Session]) -> io::Result<()> {
    let id_width = sessions.iter().map(|session| session.id.chars().count()).max().unwrap_or(0).max(2);
    writeln!(out, "{:<id_width$}  {:<20}  {:<TITLE_WIDTH$}  FOLDER", "ID", "LAST ACTIVE", "TITLE")?;
    for session in sessions {
        let title = shorten(session.title.as_deref().unwrap_or("-"));
        let updated = session.updated_at.as_deref().map_or_else(|| "-".into(), seconds);
        let mark = if session.archived { " (archived)" } else { "" };
        writeln!(out, "{:<id_width$}  {updated:<20}  {title:<TITLE_WIDTH$}  {}{mark}", session.id, session.cwd)?;
        if let Some(snippet) = &session.snippet {
            let is_aside = session.matched_in.as_deref() == Some("setAside");
            let mark = if is_aside { " (set aside)" } else { "" };
            writeln!(out, "{:id_width$}  … {}{mark}", "", one_line(snippet))?;
        }
    }
    Ok(())
}

/// An RFC 3339 time without the part below a second.
fn seconds(time: &str) -> String {
    match (time.split_once('.'), time.ends_with('Z')) {
        (Some((whole, _)), true) => format!("{whole}Z"),
        _ => time.to_owned(),
    }
}

/// Text of others may hold anything, and a terminal would obey it.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

fn shorten(title: &str) -> String {
    let title = one_line(title);
    if title.chars().count() <= TITLE_WIDTH {
        return title;
    }
    title.chars().take(TITLE_WIDTH - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_titles_and_control_characters_do_not_break_the_table() {
        let session = Session {
            id: "s1".into(),
            cwd: "/work".into(),
            title: Some(format!("a\x1b[31m\n{}", "ä".repeat(100))),
            created_at: "2026-01-02T03:04:05.678Z".into(),
            updated_at: Some("2026-01-02T03:04:05.678Z".into()),
            archived: true,
            agent: None,
            meta: None,
            snippet: Some("a snippet".into()),
            matched_in: Some("setAside".into()),
            set_aside: 3,
        };
        let mut out = Vec::new();
        write(&mut out, &[session]).expect("written");
        let text = String::from_utf8(out).expect("text");
        let row = text.lines().nth(1).expect("a row");
        assert!(row.starts_with("s1  2026-01-02T03:04:05Z  a [31m ä"), "{row}");
        assert!(row.ends_with("…  /work (archived)"), "{row}");
        assert_eq!(text.lines().nth(2), Some("    … a snippet (set aside)"));
    }
}
