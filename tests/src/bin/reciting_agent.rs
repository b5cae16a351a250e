//! An agent that says what it was told to, byte for byte. It is started with a file of lines such as
//!
//! ```text
//! session/new {"jsonrpc":"2.0","id":$ID,"result":{"sessionId":"one"}}
//! ```
//!
//! and answers each request and notification with all lines of its method, in their order; `$ID` is the request's id. Other
//! requests are refused.

use std::io::{self, BufRead as _, Write as _};

use serde_json::Value;

fn main() -> io::Result<()> {
    let script = std::env::args().nth(1).ok_or_else(|| io::Error::other("a file with what to say is to be named"))?;
    let script = std::fs::read_to_string(script)?;
    let script: Vec<(&str, &str)> = script.lines().filter_map(|line| line.split_once(' ')).collect();
    for line in io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        let (id, method) = (message["id"].to_string(), message["method"].as_str().unwrap_or_default());
        let mut output = io::stdout().lock();
        let mut said = script.iter().filter(|(of, _)| *of == method).peekable();
        if said.peek().is_none() && id != "null" && !method.is_empty() {
            writeln!(
                output,
                r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"Method not found"}}}}"#
            )?;
        }
        for (_, text) in said {
            writeln!(output, "{}", text.replace("$ID", &id))?;
        }
        output.flush()?;
    }
    Ok(())
}
