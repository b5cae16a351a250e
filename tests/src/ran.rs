//! A command that runs to its end.

use std::process::Stdio;

use crate::launch::Launch;

/// What a command has printed and how it ended.
#[derive(Debug)]
pub struct Ran {
    /// Its exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// What it printed.
    pub out: String,
    /// What it wrote to its error output.
    pub complaint: String,
}

impl Ran {
    /// Runs it, with nothing to read.
    pub fn of(launch: &Launch) -> Self {
        let output = launch.command().stdin(Stdio::null()).stderr(Stdio::piped()).output().expect("the program starts");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        Self { code: output.status.code(), out: text(output.stdout), complaint: text(output.stderr) }
    }

    /// What it printed; it must have done what it was told, without a complaint.
    pub fn printed(self) -> String {
        assert_eq!((self.code, self.complaint.as_str()), (Some(0), ""), "{self:?}");
        self.out
    }

    /// What it complained of, though it did what it was told.
    pub fn warned(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.complaint
    }

    /// What it complained of, in one sentence; it must have printed nothing else.
    pub fn complained(self) -> String {
        assert_eq!((self.code, self.out.as_str()), (Some(1), ""), "{self:?}");
        let complaint = self.complaint.strip_prefix("acp-sessions: ").and_then(|text| text.strip_suffix('\n'));
        let complaint = complaint.unwrap_or_else(|| panic!("not one plain line: {self:?}"));
        assert!(!complaint.contains('\n'), "not one line: {complaint}");
        complaint.to_owned()
    }
}
