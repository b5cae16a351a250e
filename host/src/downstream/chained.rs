//! No agent of the program's own: the agent is further down in a chain that a conductor keeps, and is spoken to by way of
//! the client's pipe. Nothing is ever sent here then. A client that is no conductor is told so.

use std::io::{self, BufRead as _, BufReader, PipeReader, PipeWriter, Write as _, pipe};
use std::os::fd::BorrowedFd;
use std::thread;
use std::time::Duration;

use super::Agent;
use super::rpc::{self, Call, Failure};
use crate::transport::{Input, Output, Side};

/// The longest line taken from it: it says nothing but refusals.
const LONGEST_LINE: usize = 1 << 20;

const REFUSAL: &str = "Internal error: there is no agent. `acp-sessions proxy` without a command is a proxy in the chain \
                       of a conductor, which begins with `proxy/initialize`; name the agent's command behind `--`";

/// The place of the agent that is elsewhere.
#[derive(Debug)]
pub struct Chained(());

impl Chained {
    /// Opens the streams that nobody speaks on.
    pub fn start() -> io::Result<(Self, Side)> {
        let (heard, to) = pipe()?;
        let (from, said) = pipe()?;
        thread::spawn(move || refuse_all(heard, said));
        Ok((Self(()), Side { from: Input::new(from, LONGEST_LINE), to: Output::new(to) }))
    }
}

/// Refuses each request, until nothing more is sent or nobody listens.
fn refuse_all(heard: PipeReader, mut said: PipeWriter) {
    let mut heard = BufReader::new(heard);
    let mut line = Vec::new();
    while heard.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        if let Ok(Call { id: Some(id), .. }) = serde_json::from_slice(&line) {
            let refusal = rpc::response(&id, Err(Failure::internal(REFUSAL)));
            if said.write_all(format!("{refusal}\n").as_bytes()).is_err() {
                return;
            }
        }
        line.clear();
    }
}

impl Agent for Chained {
    fn exit(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn terminate(&self) {}

    fn kill(&self) {}

    fn ended(&self, _: Duration) -> Option<String> {
        Some("there is none".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::component::connection::Content;

    #[test]
    fn requests_are_refused_and_its_output_ends_with_its_input() {
        let (_chained, mut side) = Chained::start().expect("pipes");
        side.to.extend([
            r#"{"jsonrpc":"2.0","method":"session/cancel"}"#,
            r#"{"jsonrpc":"2.0","id":"x","result":{}}"#,
            "nonsense",
            r#"{"jsonrpc":"2.0","id":1.0,"method":"initialize","params":{}}"#,
        ]);
        side.to.close();
        let mut said = Vec::new();
        while !side.from.has_ended() {
            said.extend(side.from.read());
        }
        let [Content::Line(line)] = &said[..] else { panic!("{said:?}") };
        assert!(line.contains(r#""id":1.0"#) && line.contains("proxy/initialize"), "{line}");
    }
}
