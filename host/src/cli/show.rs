//! `acp-sessions show`

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use serde_json::Value;

use super::Outcome;
use super::answer::plain;
use super::store::{self, StoreOptions};

/// How many updates are read at once.
const PAGE: u32 = 500;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    store: StoreOptions,

    /// The session
    id: String,

    /// What was taken out of the conversation, because its agent went back behind it
    #[arg(long)]
    set_aside: bool,

    /// The updates as they are replayed to a client, one JSON object a line
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let component = store::engine()?;
    let mut engine = component.instantiate(arguments.store.open_existing()?)?;
    let mut out = BufWriter::new(io::stdout().lock());
    let mut reader = Reader::default();
    let mut after: Option<String> = None;
    loop {
        let (id, behind) = (arguments.id.as_str(), after.as_deref());
        let page = plain(if arguments.set_aside {
            engine.read_set_aside(id, behind, PAGE)
        } else {
            engine.read_transcript(id, behind, PAGE)
        })?;
        for update in &page.updates {
            if arguments.json {
                writeln!(out, "{}", update.update)?;
            } else {
                reader.write(&mut out, &serde_json::from_str(&update.update)?)?;
            }
        }
        match page.updates.last() {
            Some(last) if page.more => after = Some(last.cursor.clone()),
            _ => break,
        }
    }
    if !arguments.json {
        writeln!(out)?;
        let count = plain(engine.get_session(&arguments.id))?.set_aside;
        match (arguments.set_aside, count) {
            (false, 1..) => {
                writeln!(out, "\nThe agent went back behind other things that were said; --set-aside shows them.")?;
            }
            (true, 0) => writeln!(out, "Nothing was set aside.")?,
            _ => {}
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Writes updates as text, with a heading where another speaks.
#[derive(Debug, Default)]
struct Reader {
    speaker: Option<&'static str>,
}

impl Reader {
    fn write(&mut self, out: &mut impl Write, update: &Value) -> io::Result<()> {
        let kind = update["sessionUpdate"].as_str().unwrap_or_default();
        let speaker = match kind {
            "user_message_chunk" => "User",
            "agent_message_chunk" => "Agent",
            "agent_thought_chunk" => "Agent, thinking",
            "tool_call" => return self.tool(out, update),
            _ => return Ok(()),
        };
        if self.speaker != Some(speaker) {
            let gap = if self.speaker.is_some() { "\n\n" } else { "" };
            write!(out, "{gap}## {speaker}\n\n")?;
            self.speaker = Some(speaker);
        }
        let content = &update["content"];
        match content["text"].as_str() {
            Some(text) => write!(out, "{}", printable(text)),
            None => write!(out, "[{}]", content["type"].as_str().unwrap_or("unknown")),
        }
    }

    fn tool(&mut self, out: &mut impl Write, update: &Value) -> io::Result<()> {
        let gap = if self.speaker.take().is_some() { "\n\n" } else { "" };
        let title = update["title"].as_str().unwrap_or("a tool");
        write!(out, "{gap}[{}]\n\n", printable(title))
    }
}

/// Text of others may hold anything, and a terminal would obey it.
fn printable(text: &str) -> String {
    text.chars().filter(|character| !character.is_control() || matches!(character, '\n' | '\t')).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
            reader.write(&mut out, &update).expect("written");
        }
        let text = String::from_utf8(out).expect("text");
        assert_eq!(text, "## User\n\nHello[31m\n\n## Agent\n\nGood day\n\n[Read a file]\n\n## Agent\n\nDone");
    }
}
