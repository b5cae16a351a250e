//! How the demo looks.

use serde_json::Value;

use super::editor::Speaker;
use crate::style;

/// Longest text shown of one message.
const WIDTH: usize = 90;

/// What happens next, in words.
pub(super) fn scene(text: &str) {
    println!("\n{}", style::heading(text));
}

/// A request, and in short what came of it.
pub(super) fn exchange(method: &str, came: impl std::fmt::Display) {
    println!("  {} {method:<20} {} {came}", style::dim("→"), style::dim("←"));
}

/// A conversation, one line a message.
pub(super) fn conversation(said: &[(Speaker, String)]) {
    for (speaker, text) in said {
        let name = match speaker {
            Speaker::User => style::notice(" user"),
            Speaker::Agent => style::good("agent"),
        };
        println!("    {name}  {}", short(text));
    }
}

/// Sessions as a table.
pub(super) fn table(sessions: &[Value]) {
    let titles = ["SESSION", "TITLE", "DIRECTORY", "LAST ACTIVITY"].map(str::to_owned);
    let text = |row: &Value, key: &str| short(row[key].as_str().unwrap_or("-"));
    let rows = sessions.iter().map(|row| ["sessionId", "title", "cwd", "updatedAt"].map(|key| text(row, key)));
    let rows: Vec<[String; 4]> = std::iter::once(titles).chain(rows).collect();
    let mut widths = [0; 4];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    for (number, row) in rows.iter().enumerate() {
        let cells: Vec<_> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        let line = cells.join("  ");
        let line = line.trim_end();
        println!("    {}", if number == 0 { style::dim(line) } else { line.to_owned() });
    }
}

/// One line, cut where it is too long.
fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= WIDTH {
        return line;
    }
    line.chars().take(WIDTH - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::{WIDTH, short};

    #[test]
    fn long_text_becomes_one_line() {
        assert_eq!(short("one\n  two"), "one two");
        let cut = short(&"ü".repeat(WIDTH + 1));
        assert_eq!(cut.chars().count(), WIDTH);
        assert!(cut.ends_with('…'));
    }
}
