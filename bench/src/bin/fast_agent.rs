//! An agent that costs next to nothing: raw lines, nothing kept. What the benches put behind what they measure.
//!
//! A prompt of `stream COUNT BYTES KIND` is answered with that many updates of about that many bytes of text:
//! `text` are chunks of one message, `mixed` are messages and tool calls in turn, of which none can be joined, and
//! `tools` are tool calls with output. The notification `_bench/poke` is answered with one chunk.
//!
//! With the arguments `COUNT PAGE` it has a list of that many sessions of its own, given in pages of that many, the
//! newest first. The last of them is in the directory `/bench/last`.

use std::borrow::Cow;
use std::io::{self, BufRead as _, BufWriter, Write};

use serde::Deserialize;
use serde_json::value::RawValue;

/// As much as a pipe holds on Linux.
const BUFFER: usize = 64 << 10;

#[derive(Deserialize)]
struct Incoming<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    session_id: String,
    #[serde(default)]
    prompt: Vec<Block>,
}

#[derive(Deserialize)]
struct Page {
    /// How many sessions come before it, as text.
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Deserialize)]
struct Block {
    #[serde(default)]
    text: String,
}

/// What a prompt asks for.
struct Stream {
    count: usize,
    kind: String,
    /// The text of each update, as JSON without its quotes.
    text: String,
}

impl Stream {
    fn of_prompt(prompt: &[Block]) -> Option<Self> {
        // What comes before the last block may be a layer's reminder of an earlier conversation.
        let mut words = prompt.last()?.text.strip_prefix("stream ")?.split(' ');
        let (count, bytes) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let kind = words.next()?.to_owned();
        let text = "some words of output\\n".chars().cycle().take(bytes).collect::<String>();
        Some(Self { count, kind, text: text.trim_end_matches('\\').to_owned() })
    }

    fn write(&self, session: &str, to: &mut impl Write) -> io::Result<()> {
        let text = &self.text;
        for at in 0..self.count {
            write!(
                to,
                r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"{session}","update":{{"sessionUpdate":"#
            )?;
            match (self.kind.as_str(), at % 2) {
                ("mixed", 0) => {
                    write!(
                        to,
                        r#""agent_message_chunk","messageId":"m{at}","content":{{"type":"text","text":"{text}"}}"#
                    )
                }
                ("mixed", _) => write!(to, r#""tool_call_update","toolCallId":"c{at}","status":"completed""#),
                ("tools", _) => write!(
                    to,
                    r#""tool_call_update","toolCallId":"c{at}","content":[{{"type":"content","content":{{"type":"text","text":"{text}"}}}}]"#
                ),
                _ => write!(to, r#""agent_message_chunk","content":{{"type":"text","text":"{text}"}}"#),
            }?;
            to.write_all(b"}}}\n")?;
        }
        Ok(())
    }
}

/// The sessions that it lists.
struct Listed {
    count: usize,
    page: usize,
}

impl Listed {
    fn of_arguments() -> Option<Self> {
        let mut arguments = std::env::args().skip(1).map_while(|argument| argument.parse().ok());
        Some(Self { count: arguments.next()?, page: arguments.next()? })
    }

    /// The answer to a `session/list`.
    fn page(&self, params: Option<&RawValue>) -> String {
        let params = params.and_then(|params| serde_json::from_str::<Page>(params.get()).ok());
        let from: usize = params.and_then(|params| params.cursor?.parse().ok()).unwrap_or(0);
        let until = (from + self.page).min(self.count);
        let rows: Vec<String> = (from..until).map(|at| self.row(at)).collect();
        let next = if until < self.count { format!(r#","nextCursor":"{until}""#) } else { String::new() };
        format!(r#"{{"sessions":[{}]{next}}}"#, rows.join(","))
    }

    fn row(&self, at: usize) -> String {
        let directory = if at + 1 == self.count { "last".to_owned() } else { format!("project-{}", at % 40) };
        // The later in the list, the longer ago.
        let minutes = self.count - at;
        let (day, hour, minute) = (1 + minutes / 1440 % 28, minutes / 60 % 24, minutes % 60);
        let (year, month) = (2000 + minutes / (1440 * 28 * 12), 1 + minutes / (1440 * 28) % 12);
        format!(
            r#"{{"sessionId":"0199f7a4-5b1c-7de0-8a3f-{at:012}","cwd":"/bench/{directory}","title":"Find out why number {at} is slow, and mend it","updatedAt":"{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:00.000Z"}}"#
        )
    }
}

fn answer(to: &mut impl Write, id: &RawValue, result: &str) -> io::Result<()> {
    writeln!(to, r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id.get())
}

fn main() -> io::Result<()> {
    let mut input = io::stdin().lock();
    let mut output = BufWriter::with_capacity(BUFFER, io::stdout().lock());
    let mut line = String::new();
    let mut opened = 0;
    let listed = Listed::of_arguments();
    while input.read_line(&mut line)? > 0 {
        let Ok(message) = serde_json::from_str::<Incoming<'_>>(&line) else { break };
        let params = message.params.and_then(|params| serde_json::from_str::<Params>(params.get()).ok());
        match (message.method.as_deref(), message.id) {
            (Some("initialize"), Some(id)) => {
                let capabilities = if listed.is_some() { r#"{"sessionCapabilities":{"list":{}}}"# } else { "{}" };
                let info = r#"{"name":"fast-agent","version":"1"}"#;
                let result =
                    format!(r#"{{"protocolVersion":1,"agentInfo":{info},"agentCapabilities":{capabilities}}}"#);
                answer(&mut output, id, &result)?;
            }
            (Some("session/list"), Some(id)) => {
                let page = listed.as_ref().map(|listed| listed.page(message.params));
                answer(&mut output, id, page.as_deref().unwrap_or("{}"))?;
            }
            (Some("session/new"), Some(id)) => {
                opened += 1;
                answer(&mut output, id, &format!(r#"{{"sessionId":"fast-{}-{opened}"}}"#, std::process::id()))?;
            }
            (Some("session/prompt"), Some(id)) => {
                if let Some(Params { session_id, prompt }) = params
                    && let Some(stream) = Stream::of_prompt(&prompt)
                {
                    stream.write(&session_id, &mut output)?;
                }
                answer(&mut output, id, r#"{"stopReason":"end_turn"}"#)?;
            }
            (Some(_), Some(id)) => answer(&mut output, id, "{}")?,
            (Some("_bench/poke"), None) => {
                if let Some(Params { session_id, .. }) = params {
                    Stream { count: 1, kind: "text".into(), text: "poked".into() }.write(&session_id, &mut output)?;
                }
            }
            _ => {}
        }
        output.flush()?;
        line.clear();
    }
    output.flush()
}
