//! Colours on a terminal, plain text in a pipe.

use std::fmt::Display;
use std::io::IsTerminal as _;
use std::sync::LazyLock;

static COLOURED: LazyLock<bool> =
    LazyLock::new(|| std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty()));

fn paint(code: &str, text: impl Display) -> String {
    if *COLOURED { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
}

/// A heading.
pub(crate) fn heading(text: impl Display) -> String {
    paint("1;36", text)
}

/// Something that went as it should.
pub(crate) fn good(text: impl Display) -> String {
    paint("32", text)
}

/// Something to know about.
pub(crate) fn notice(text: impl Display) -> String {
    paint("33", text)
}

/// Something that went wrong.
pub(crate) fn error(text: impl Display) -> String {
    paint("1;31", text)
}

/// What may be passed over.
pub(crate) fn dim(text: impl Display) -> String {
    paint("2", text)
}
