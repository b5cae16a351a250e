//! A small OpenAI-compatible model on the loopback, for real agents that need one to answer prompts.
//!
//! It streams its replies word by word. A prompt that says "read FILE" gets a call of the tool for reading files that
//! the agent offers; the reply after a tool's result says how long that result was.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use serde_json::{Value, json};

/// A running stub; it stops when dropped.
pub struct ModelStub {
    address: SocketAddr,
    stopping: Arc<AtomicBool>,
    server: Option<JoinHandle<()>>,
}

impl ModelStub {
    /// Listens on a free port of the loopback.
    pub fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port on the loopback");
        let address = listener.local_addr().expect("the port of the model stub");
        let stopping = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&stopping);
        let server = thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if stop.load(Ordering::SeqCst) {
                    break;
                }
                // An agent that hangs up in mid-reply is its own business.
                thread::spawn(move || serve(&stream).unwrap_or_default());
            }
        });
        Self { address, stopping, server: Some(server) }
    }

    /// The base address to configure in an agent, with the `/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }
}

impl Drop for ModelStub {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        // Wakes the accept loop so that it sees the flag.
        drop(TcpStream::connect(self.address));
        if let Some(server) = self.server.take() {
            server.join().unwrap_or_default();
        }
    }
}

fn serve(stream: &TcpStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut request_line = String::new();
    reader.read_line(&mut request_line)?;
    let mut length = 0;
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header)? == 0 || header.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = header.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let mut out = stream;
    if !request_line.contains("/chat/completions") {
        let models = json!({"object": "list", "data": [{"id": "stub", "object": "model", "owned_by": "tests"}]});
        return respond(&mut out, "application/json", &models.to_string());
    }
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let reply = Reply::to(&request);
    if request["stream"] == true {
        respond(&mut out, "text/event-stream", &reply.as_events())
    } else {
        respond(&mut out, "application/json", &reply.as_completion().to_string())
    }
}

fn respond(out: &mut impl Write, content_type: &str, body: &str) -> std::io::Result<()> {
    write!(
        out,
        "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )?;
    out.flush()
}

/// What the model says.
#[derive(Debug, PartialEq)]
enum Reply {
    Text(String),
    ToolCall { name: String, arguments: Value },
}

impl Reply {
    fn to(request: &Value) -> Self {
        let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let last = messages.last().cloned().unwrap_or_default();
        let text = text_of(&last["content"]);
        if last["role"] == "tool" {
            return Self::Text(format!(
                "The tool returned {} lines; that is all I wanted to know.",
                text.lines().count()
            ));
        }
        let tools = request["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
        if let Some(file) = file_to_read(&text)
            && let Some(call) = tools.iter().find_map(|tool| read_call(&tool["function"], file))
        {
            return call;
        }
        Self::Text("Here is what I think of it: it is fine, it works,\nand it could be shorter.".into())
    }

    fn as_message(&self) -> (Value, &'static str) {
        match self {
            Self::Text(text) => (json!({"role": "assistant", "content": text}), "stop"),
            Self::ToolCall { name, arguments } => (
                json!({"role": "assistant", "content": null, "tool_calls": [{"index": 0, "id": "call_1", "type": "function",
                    "function": {"name": name, "arguments": arguments.to_string()}}]}),
                "tool_calls",
            ),
        }
    }

    fn as_completion(&self) -> Value {
        let (message, finish) = self.as_message();
        json!({"id": "stub-1", "object": "chat.completion", "created": 1, "model": "stub",
            "choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": usage()})
    }

    fn as_events(&self) -> String {
        let (message, finish) = self.as_message();
        let mut deltas = match self {
            Self::Text(text) => text.split_inclusive(' ').map(|word| json!({"content": word})).collect(),
            Self::ToolCall { .. } => vec![message],
        };
        deltas.insert(0, json!({"role": "assistant"}));
        let mut events = String::new();
        let mut push = |choice: Value, usage: Value| {
            let chunk = json!({"id": "stub-1", "object": "chat.completion.chunk", "created": 1, "model": "stub",
                "choices": [choice], "usage": usage});
            events.push_str("data: ");
            events.push_str(&chunk.to_string());
            events.push_str("\n\n");
        };
        for delta in deltas {
            push(json!({"index": 0, "delta": delta, "finish_reason": null}), Value::Null);
        }
        push(json!({"index": 0, "delta": {}, "finish_reason": finish}), usage());
        events.push_str("data: [DONE]\n\n");
        events
    }
}

fn usage() -> Value {
    json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15})
}

/// The text of a message's content, which is a string or a list of parts.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

/// The file named in "read FILE", where a prompt says that.
fn file_to_read(text: &str) -> Option<&str> {
    let (_, rest) = text.rsplit_once("read /")?;
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let start = text.len() - rest.len() - 1;
    Some(&text[start..=start + end])
}

/// A call of this tool, if it is one that reads a file.
fn read_call(function: &Value, file: &str) -> Option<Reply> {
    let name = function["name"].as_str().filter(|name| matches!(*name, "read" | "read_file"))?;
    let properties = function["parameters"]["properties"].as_object()?;
    let argument = properties.keys().find(|key| key.to_lowercase().contains("path"))?;
    Some(Reply::ToolCall { name: name.into(), arguments: json!({argument: file}) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_to_read_calls_the_agents_own_tool() {
        let request = json!({"messages": [{"role": "user", "content": "please read /tmp/a.txt now"}], "tools": [
            {"function": {"name": "read", "parameters": {"properties": {"filePath": {"type": "string"}}}}}]});
        let call = Reply::ToolCall { name: "read".into(), arguments: json!({"filePath": "/tmp/a.txt"}) };
        assert_eq!(Reply::to(&request), call);
    }

    #[test]
    fn a_tools_result_gets_a_closing_text() {
        let request = json!({"messages": [{"role": "tool", "content": "a\nb"}]});
        assert!(matches!(Reply::to(&request), Reply::Text(text) if text.contains("2 lines")));
    }
}
