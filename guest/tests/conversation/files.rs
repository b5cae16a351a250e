//! What is none of the layer's business.

use acp_sessions_guest::engine::{Arrival, Content, Output, Peer};
use acp_sessions_guest::storage::Memory;
use serde_json::json;

use crate::desk::{Desk, World};

/// Lines of both sides that must pass byte for byte.
#[test]
fn what_the_layer_has_no_business_with_passes_byte_for_byte() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", "/");
    for (peer, line) in [
        (Peer::Client, r#"{ "jsonrpc":"2.0" , "id":"x\u0041", "method":"_vendor/do", "params":{"a":1.0,"a2":[ ]}}"#),
        (Peer::Agent, r#"{"id":"xA","jsonrpc":"2.0","result":{ "b" : 1e3 }}"#),
        (Peer::Client, r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":77}}"#),
        (
            Peer::Agent,
            r#"{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file","params":{"sessionId":"s1","path":"/x","new":0.10}}"#,
        ),
        (Peer::Client, r#"{"jsonrpc":"2.0","id":1,"result":{"content":"é\u00e9"}}"#),
        (
            Peer::Agent,
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"tool_call","toolCallId":"1","title":"T","x":0.50},"sessionId":"s1","_meta":{"k":1}}}"#,
        ),
        (Peer::Agent, r#"{"jsonrpc":"2.0","method":"_vendor/told","params":null}"#),
    ] {
        desk.engine.receive([Arrival { peer, content: Content::Line(line.to_owned()) }]);
        let passed: Vec<String> = desk
            .engine
            .pull(u32::MAX)
            .into_iter()
            .filter_map(|output| match (peer, output) {
                (Peer::Client, Output::ToAgent(line)) | (Peer::Agent, Output::ToClient(line)) => Some(line),
                _ => None,
            })
            .collect();
        assert_eq!(passed, [line]);
    }
}
