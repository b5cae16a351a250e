//! The least an agent can be: it opens sessions, answers prompts with one chunk, and keeps nothing. The floor that the
//! benches measure against.

use std::sync::atomic::{AtomicU64, Ordering};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, InitializeRequest, InitializeResponse, NewSessionRequest, NewSessionResponse,
    PromptRequest, PromptResponse, SessionNotification, SessionUpdate, StopReason,
};
use agent_client_protocol::{Agent, Error, Stdio, on_receive_request};

fn main() -> Result<(), Error> {
    let opened = AtomicU64::new(0);
    let agent = Agent
        .v1()
        .name("bare-agent")
        .on_receive_request(
            async |_: InitializeRequest, responder, _| responder.respond(InitializeResponse::new(ProtocolVersion::V1)),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |_: NewSessionRequest, responder, _| {
                let number = opened.fetch_add(1, Ordering::Relaxed) + 1;
                responder.respond(NewSessionResponse::new(format!("bare-{number}")))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async |request: PromptRequest, responder, client| {
                let said = ContentChunk::new(ContentBlock::from("Noted."));
                let update = SessionUpdate::AgentMessageChunk(said);
                client.send_notification(SessionNotification::new(request.session_id, update))?;
                responder.respond(PromptResponse::new(StopReason::EndTurn))
            },
            on_receive_request!(),
        );
    futures::executor::block_on(agent.connect_to(Stdio::new()))
}
