//! One run of the agent command with the official Rust SDK in the client's seat.

use std::sync::{Arc, Mutex};

use acp_sessions_tests::clients::step::{Step, Update};
use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    CancelNotification, CloseSessionRequest, ContentBlock, DeleteSessionRequest, ForkSessionRequest, Implementation,
    InitializeRequest, ListSessionsRequest, LoadSessionRequest, NewSessionRequest, PromptRequest, PromptResponse,
    ResumeSessionRequest, SessionNotification, SetSessionModeRequest,
};
use agent_client_protocol::{AcpAgent, AcpAgentConfig, Agent, Client, Error, JsonRpcRequest, on_receive_notification};
use futures::StreamExt;
use futures::channel::mpsc::{UnboundedReceiver, unbounded};
use futures::future::BoxFuture;
use serde::Serialize;
use serde_json::{Value, json};

/// The client's side of one conversation.
pub(crate) struct Seat {
    connection: ConnectionTo<Agent>,
    /// Updates that were not reported yet.
    updates: Arc<Mutex<Vec<Update>>>,
    told: UnboundedReceiver<()>,
    /// The prompt that was sent and not waited for.
    turn: Option<BoxFuture<'static, Result<PromptResponse, Error>>>,
}

/// Starts the agent, plays the scene, and waits for the agent's end.
pub(crate) async fn play<T>(
    command: &[String],
    scene: impl AsyncFnOnce(&mut Seat) -> Result<T, Error>,
) -> Result<T, Error> {
    let agent = AcpAgent::new(AcpAgentConfig::new(&command[0]).args(&command[1..]));
    let updates: Arc<Mutex<Vec<Update>>> = Arc::default();
    let (tell, told) = unbounded();
    let log = Arc::clone(&updates);
    Client
        .v1()
        .name("rust-story")
        .on_receive_notification(
            async move |heard: SessionNotification, _| {
                let update = Update { session_id: heard.session_id.to_string(), update: json!(heard.update) };
                log.lock().expect("no update panics").push(update);
                tell.unbounded_send(()).map_err(Error::into_internal_error)
            },
            on_receive_notification!(),
        )
        .connect_with(agent, async move |connection: ConnectionTo<Agent>| {
            scene(&mut Seat { connection, updates, told, turn: None }).await
        })
        .await
}

impl Seat {
    pub(crate) async fn initialize(&self) -> Result<Value, Error> {
        let hello = InitializeRequest::new(ProtocolVersion::V1);
        self.request(hello.client_info(Implementation::new("rust-story", "1.0.0"))).await
    }

    /// What the SDK gave since this was last asked.
    pub(crate) fn take_updates(&self) -> Vec<Update> {
        std::mem::take(&mut *self.updates.lock().expect("no update panics"))
    }

    pub(crate) async fn perform(&mut self, step: Step) -> Result<Value, Error> {
        match step {
            Step::New { cwd } => self.request(NewSessionRequest::new(cwd)).await,
            Step::Load { session_id, cwd } => self.request(LoadSessionRequest::new(session_id, cwd)).await,
            Step::Resume { session_id, cwd } => self.request(ResumeSessionRequest::new(session_id, cwd)).await,
            Step::Fork { session_id, cwd } => self.request(ForkSessionRequest::new(session_id, cwd)).await,
            Step::List { cursor } => self.request(ListSessionsRequest::new().cursor(cursor)).await,
            Step::SetMode { session_id, mode_id } => {
                self.request(SetSessionModeRequest::new(session_id, mode_id)).await
            }
            Step::Close { session_id } => self.request(CloseSessionRequest::new(session_id)).await,
            Step::Delete { session_id } => self.request(DeleteSessionRequest::new(session_id)).await,
            Step::Cancel { session_id } => {
                self.connection.send_notification(CancelNotification::new(session_id)).map(|()| Value::Null)
            }
            Step::Prompt { session_id, text } => {
                let prompt = PromptRequest::new(session_id, vec![ContentBlock::from(text)]);
                self.turn = Some(Box::pin(self.connection.send_request(prompt).block_task()));
                Ok(Value::Null)
            }
            Step::Finish => self.turn.take().expect("a prompt was sent").await.map(|response| json!(response)),
            Step::Hear => {
                while self.updates.lock().expect("no update panics").is_empty() {
                    self.told.next().await.expect("updates go on");
                }
                Ok(Value::Null)
            }
            Step::Start | Step::End => panic!("the agent runs"),
        }
    }

    async fn request<R: JsonRpcRequest>(&self, request: R) -> Result<Value, Error>
    where
        R::Response: Send + Serialize,
    {
        let response = self.connection.send_request(request).block_task().await?;
        Ok(json!(response))
    }
}
