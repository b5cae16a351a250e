//! `acp-sessions show`

mod named_calls;

use std::io::{self, Write};
use std::process::ExitCode;

use super::Outcome;
use super::engine::EngineOptions;
use super::permissions;
use super::printable::{Form, Out, printable};
use super::store::StoreOptions;
use super::update::Update;
use crate::sessions::Sessions;
use named_calls::NamedCalls;

/// How many updates are read at once.
const PAGE: u32 = 500;
/// How many updates are read, at least, before one is written: what a call is called may come behind it.
const AHEAD: usize = PAGE as usize;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    store: StoreOptions,

    #[command(flatten)]
    engine: EngineOptions,

    /// The session
    id: String,

    /// What was taken out of the conversation, because its agent went back behind it
    #[arg(long)]
    set_aside: bool,

    /// What permission was asked for, and who answered what, when
    #[arg(long, conflicts_with = "set_aside")]
    permissions: bool,

    /// The updates as they are replayed to a client, or the permissions, one JSON object a line
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Outcome {
    let component = arguments.engine.load()?;
    let mut sessions = Sessions::of(&component, arguments.store.open_existing()?)?;
    if arguments.permissions {
        permissions::write(&mut sessions, &arguments.id, arguments.json, out)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (mut reader, mut calls) = (Reader::default(), NamedCalls::default());
    let mut after: Option<String> = None;
    loop {
        let (id, behind) = (arguments.id.as_str(), after.as_deref());
        let page = if arguments.set_aside {
            sessions.set_aside(id, behind, PAGE)
        } else {
            sessions.transcript(id, behind, PAGE)
        }?;
        for update in &page.updates {
            if arguments.json {
                out.json(&update.update)?;
            } else {
                calls.push(Update::read(&update.update));
            }
        }
        let kept = if page.more { AHEAD } else { 0 };
        for update in calls.take_but(kept) {
            reader.write(out, update)?;
        }
        match page.updates.last() {
            Some(last) if page.more => after = Some(last.cursor.clone()),
            _ => break,
        }
    }
    if !arguments.json {
        writeln!(out)?;
        let count = sessions.get(&arguments.id)?.set_aside;
        match (arguments.set_aside, count) {
            (false, 1..) => {
                writeln!(out, "\nThe agent went back behind other things that were said; --set-aside shows them.")?;
            }
            (true, 0) => writeln!(out, "Nothing was set aside.")?,
            _ => {}
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes updates as text, with a heading where another speaks, and a paragraph where the same one says something else.
#[derive(Debug, Default)]
struct Reader {
    speaker: Option<&'static str>,
    message: Option<String>,
}

impl Reader {
    /// Writes an update; none is one that cannot be read.
    fn write(&mut self, out: &mut impl Write, update: Option<Update>) -> io::Result<()> {
        let Some(update) = update else { return self.aside(out, "an update that cannot be read") };
        let speaker = match update.kind.as_deref() {
            Some("user_message_chunk") => "User",
            Some("agent_message_chunk") => "Agent",
            Some("agent_thought_chunk") => "Agent, thinking",
            Some("tool_call") => return self.aside(out, update.title.as_deref().unwrap_or("a tool")),
            _ => return Ok(()),
        };
        if self.speaker != Some(speaker) {
            let gap = if self.speaker.is_some() { "\n\n" } else { "" };
            write!(out, "{gap}## {speaker}\n\n")?;
            self.speaker = Some(speaker);
        } else if update.message.is_some() && self.message.is_some() && update.message != self.message {
            write!(out, "\n\n")?;
        }
        self.message = update.message;
        match (&update.content.text, &update.content.kind) {
            (Some(text), _) => write!(out, "{}", printable(text, Form::Text)),
            (None, kind) => write!(out, "[{}]", printable(kind.as_deref().unwrap_or("unknown"), Form::Line)),
        }
    }

    /// A line that nobody has said.
    fn aside(&mut self, out: &mut impl Write, what: &str) -> io::Result<()> {
        let gap = if self.speaker.take().is_some() { "\n\n" } else { "" };
        write!(out, "{gap}[{}]\n\n", printable(what, Form::Line))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_paragraph_for_each_message_of_one_speaker() {
        let say = |message: &str, text: &str| {
            let content = json!({ "type": "text", "text": text });
            json!({ "sessionUpdate": "user_message_chunk", "messageId": message, "content": content }).to_string()
        };
        let (mut out, mut reader) = (Vec::new(), Reader::default());
        for (message, text) in [("1", "One, "), ("1", "and more"), ("2", "Two")] {
            reader.write(&mut out, Update::read(&say(message, text))).expect("written");
        }
        assert_eq!(String::from_utf8(out).expect("text"), "## User\n\nOne, and more\n\nTwo");
    }

    #[test]
    fn a_heading_for_each_speaker() {
        let say =
            |kind: &str, text: &str| json!({ "sessionUpdate": kind, "content": { "type": "text", "text": text } });
        let mut out = Vec::new();
        let mut reader = Reader::default();
        for update in [
            say("user_message_chunk", "Hello\x1b[31m"),
            say("agent_message_chunk", "Good "),
            say("agent_message_chunk", "day"),
            json!({ "sessionUpdate": "tool_call", "toolCallId": "1", "title": "Read a file" }),
            json!({ "sessionUpdate": "usage_update", "used": 1, "size": 2 }),
            say("agent_message_chunk", "Done"),
        ] {
            reader.write(&mut out, Update::read(&update.to_string())).expect("written");
        }
        let text = String::from_utf8(out).expect("text");
        assert_eq!(text, "## User\n\nHello�[31m\n\n## Agent\n\nGood day\n\n[Read a file]\n\n## Agent\n\nDone");
    }
}
