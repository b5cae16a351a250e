//! Lines of the greatest length, each of another kind.

use acp_sessions::component::connection::{Content, Peer};

/// What the host lets through from a client.
const OF_CLIENT: usize = 16 << 20;
/// What it lets through from an agent.
const OF_AGENT: usize = 64 << 20;

/// A line, and when it comes.
pub(crate) struct Line {
    pub(crate) name: &'static str,
    pub(crate) peer: Peer,
    pub(crate) content: Content,
    /// It comes while the session is being made, not in its turn.
    pub(crate) is_before_turn: bool,
}

/// `before`, as many times `again` as the line has room for, `after`.
fn fill(length: usize, before: &str, again: &str, after: &str) -> String {
    let times = (length - before.len() - after.len()) / again.len();
    [before, &again.repeat(times), after].concat()
}

fn client(name: &'static str, before: &str, again: &str, after: &str) -> Line {
    let content = Content::Line(fill(OF_CLIENT, before, again, after));
    Line { name, peer: Peer::Client, content, is_before_turn: false }
}

fn agent(name: &'static str, before: &str, again: &str, after: &str) -> Line {
    let content = Content::Line(fill(OF_AGENT, before, again, after));
    Line { name, peer: Peer::Agent, content, is_before_turn: false }
}

fn prompt(name: &'static str, before: &str, again: &str, after: &str) -> Line {
    let head = r#"{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"s1","prompt":["#;
    client(name, &format!("{head}{before}"), again, &format!("{after}]}}}}"))
}

fn update(name: &'static str, before: &str, again: &str, after: &str) -> Line {
    let head = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"#;
    agent(name, &format!("{head}{before}"), again, &format!("{after}}}}}}}"))
}

pub(crate) fn lines() -> Vec<Line> {
    let text = r#"{"type":"text","text":""#;
    let mut all = vec![
        prompt("a prompt of words", text, "word ", "\"}"),
        prompt("a prompt of letters", text, "a ", "\"}"),
        prompt("a prompt in Chinese", text, "\u{5b57}\u{8a9e}", "\"}"),
        prompt("a prompt of capitals that fold to more", text, "\u{130}", "\"}"),
        prompt("a prompt of escapes", text, "\\u5b57", "\"}"),
        prompt("a prompt of small blocks", text, r#"a"},{"type":"text","text":""#, "\"}"),
        prompt("a prompt of empty objects", "{}", ",{}", ""),
        prompt("a prompt of a deep block", "{\"_meta\":", "[", ""),
        client(
            "a new session of many members",
            r#"{"jsonrpc":"2.0","id":"n","method":"session/new","params":{"cwd":"/","mcpServers":[],"_meta":{"a":1"#,
            r#","b":2"#,
            "}}}",
        ),
        client(
            "a new session of many folders",
            r#"{"jsonrpc":"2.0","id":"n","method":"session/new","params":{"cwd":"/","mcpServers":[],"additionalDirectories":["/a""#,
            r#","/a""#,
            "]}}",
        ),
        client(
            "a search for many words",
            r#"{"jsonrpc":"2.0","id":"l","method":"session/list","params":{"_meta":{"acp-sessions":{"search":""#,
            "a ",
            "\"}}}}",
        ),
        client("a long id", r#"{"jsonrpc":"2.0","id":""#, "x", r#"","method":"session/list"}"#),
        client(
            "a load under a long id",
            r#"{"jsonrpc":"2.0","id":"l","method":"session/load","params":{"cwd":"/","mcpServers":[],"sessionId":""#,
            "x",
            "\"}}",
        ),
        client(
            "a title",
            r#"{"jsonrpc":"2.0","id":"t","method":"session/set_title","params":{"sessionId":"s1","title":""#,
            "\u{5b57}",
            "\"}}",
        ),
        client("a method of nobody", r#"{"jsonrpc":"2.0","id":"x","method":"_x/y","params":{"a":["#, "1,", "1]}}"),
        client("many messages", "[", r#"{"jsonrpc":"2.0","id":1,"method":"x"},"#, "1]"),
        client("no message", "", "{", ""),
    ];
    all.extend(of_agents());
    let not_text = |peer, length: usize| Line {
        name: "no text",
        peer,
        content: Content::NotText("\u{fffd}".repeat(length / 3)),
        is_before_turn: false,
    };
    all.extend([not_text(Peer::Client, OF_CLIENT), not_text(Peer::Agent, OF_AGENT)]);
    all
}

/// What agents say, and answer.
fn of_agents() -> Vec<Line> {
    let chunk = r#""agent_message_chunk","content":{"type":"text","text":""#.to_owned();
    vec![
        update("words", &chunk, "word ", "\"}"),
        update("Chinese", &chunk, "\u{5b57}\u{8a9e}", "\"}"),
        update("escapes", &chunk, "\\u5b57", "\"}"),
        update(
            "a call of small contents",
            r#""tool_call","toolCallId":"c","title":"t","content":[{"type":"content","content":{"type":"text","text":"a"}}"#,
            r#",{"type":"content","content":{"type":"text","text":"a"}}"#,
            "]",
        ),
        update("a change of a call", r#""tool_call_update","toolCallId":"c","rawOutput":["#, "1,", "1]"),
        update(
            "a plan",
            r#""plan","entries":[{"content":"a","priority":"low","status":"pending"}"#,
            r#",{"content":"a","priority":"low","status":"pending"}"#,
            "]",
        ),
        update(
            "commands",
            r#""available_commands_update","availableCommands":[{"name":"a","description":"a"}"#,
            r#",{"name":"a","description":"a"}"#,
            "]",
        ),
        update("a title", r#""session_info_update","title":""#, "\u{5b57}", "\""),
        update("metadata", r#""session_info_update","_meta":{"a":["#, "1,", "1]}"),
        agent(
            "the answer of a turn",
            r#"{"jsonrpc":"2.0","id":"turn","result":{"stopReason":"end_turn","_meta":{"a":["#,
            "1,",
            "1]}}}",
        ),
        agent(
            "a request of the agent's",
            r#"{"jsonrpc":"2.0","id":9,"method":"fs/write_text_file","params":{"sessionId":"s1","path":"/a","content":""#,
            "a\\n",
            "\"}}",
        ),
        agent("messages on one line", "", r#"{"jsonrpc":"2.0","method":"x"}"#, ""),
        Line {
            is_before_turn: true,
            ..agent(
                "a new session with options",
                r#"{"jsonrpc":"2.0","id":"new","result":{"sessionId":"s1","configOptions":[{"id":"a","name":"a"}"#,
                r#",{"id":"a","name":"a"}"#,
                "]}}",
            )
        },
        Line {
            is_before_turn: true,
            ..agent(
                "an update before its session",
                r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""#,
                "\u{5b57}",
                "\"}}}}",
            )
        },
    ]
}
