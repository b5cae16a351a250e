//! One run of the agent command with the official Rust SDK in the client's seat.

use std::sync::{Arc, Mutex};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    CancelNotification, ContentBlock, ContentChunk, Implementation, InitializeRequest, InitializeResponse,
    ListSessionsRequest, PromptRequest, PromptResponse, SessionInfo, SessionNotification, SessionUpdate,
};
use agent_client_protocol::{AcpAgent, AcpAgentConfig, Agent, Client, Error, JsonRpcRequest, on_receive_notification};
use futures::StreamExt;
use futures::channel::mpsc::{UnboundedReceiver, unbounded};

/// Which chunks to join.
#[derive(Clone, Copy)]
pub(crate) enum Speaker {
    User,
    Agent,
}

/// The client's side of one conversation.
pub(crate) struct Seat {
    connection: ConnectionTo<Agent>,
    pub(crate) hello: InitializeResponse,
    updates: Arc<Mutex<Vec<SessionNotification>>>,
    told: UnboundedReceiver<()>,
}

/// Starts the agent, says hello, tells the scene, and waits for the agent's end.
pub(crate) async fn play<T>(
    command: &[String],
    scene: impl AsyncFnOnce(&mut Seat) -> Result<T, Error>,
) -> Result<T, Error> {
    let agent = AcpAgent::new(AcpAgentConfig::new(&command[0]).args(&command[1..]));
    let updates: Arc<Mutex<Vec<SessionNotification>>> = Arc::default();
    let (tell, told) = unbounded();
    let log = Arc::clone(&updates);
    Client
        .v1()
        .name("rust-story")
        .on_receive_notification(
            async move |update: SessionNotification, _| {
                log.lock().expect("no update panics").push(update);
                tell.unbounded_send(()).map_err(Error::into_internal_error)
            },
            on_receive_notification!(),
        )
        .connect_with(agent, async move |connection: ConnectionTo<Agent>| {
            let hello = InitializeRequest::new(ProtocolVersion::V1);
            let hello = hello.client_info(Implementation::new("rust-story", "1.0.0"));
            let hello = connection.send_request(hello).block_task().await?;
            scene(&mut Seat { connection, hello, updates, told }).await
        })
        .await
}

impl Seat {
    pub(crate) async fn request<R: JsonRpcRequest>(&self, request: R) -> Result<R::Response, Error>
    where
        R::Response: Send,
    {
        self.connection.send_request(request).block_task().await
    }

    pub(crate) fn prompt(
        &self,
        session: &str,
        text: &str,
    ) -> impl Future<Output = Result<PromptResponse, Error>> + use<> {
        let request = PromptRequest::new(session.to_owned(), vec![ContentBlock::from(text)]);
        self.connection.send_request(request).block_task()
    }

    pub(crate) fn cancel(&self, session: &str) -> Result<(), Error> {
        self.connection.send_notification(CancelNotification::new(session.to_owned()))
    }

    /// The joined text of one side in the updates of a session.
    pub(crate) fn text(&self, session: &str, speaker: Speaker) -> String {
        let updates = self.updates.lock().expect("no update panics");
        let ours = updates.iter().filter(|update| update.session_id.to_string() == session);
        ours.filter_map(|update| match (&update.update, speaker) {
            (SessionUpdate::UserMessageChunk(chunk), Speaker::User)
            | (SessionUpdate::AgentMessageChunk(chunk), Speaker::Agent) => Some(text_of(chunk)),
            _ => None,
        })
        .collect()
    }

    /// Waits until the agent has said something in this session.
    pub(crate) async fn spoken(&mut self, session: &str) {
        while self.text(session, Speaker::Agent).is_empty() {
            self.told.next().await.expect("updates go on");
        }
    }

    pub(crate) async fn list(&self) -> Result<Vec<SessionInfo>, Error> {
        let mut rows = Vec::new();
        let mut cursor = None;
        loop {
            let page = self.request(ListSessionsRequest::new().cursor(cursor)).await?;
            rows.extend(page.sessions);
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(rows);
            }
        }
    }
}

fn text_of(chunk: &ContentChunk) -> String {
    match &chunk.content {
        ContentBlock::Text(text) => text.text.clone(),
        other => panic!("not text: {other:?}"),
    }
}
