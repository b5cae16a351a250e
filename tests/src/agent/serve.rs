//! The agent's side of the protocol.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, CancelNotification, CloseSessionRequest, CloseSessionResponse, DeleteSessionRequest,
    DeleteSessionResponse, ForkSessionRequest, ForkSessionResponse, Implementation, InitializeRequest,
    InitializeResponse, ListSessionsRequest, ListSessionsResponse, LoadSessionRequest, LoadSessionResponse,
    NewSessionRequest, NewSessionResponse, PromptRequest, ResumeSessionRequest, ResumeSessionResponse,
    SessionNotification, SetSessionConfigOptionRequest, SetSessionConfigOptionResponse, SetSessionModeRequest,
    SetSessionModeResponse,
};
use agent_client_protocol::{Agent, Error, LineDirection, Result, Stdio, on_receive_notification, on_receive_request};
use serde_json::{Map, Value, json};

use super::Options;
use super::prompt::Turn;
use super::state::{Session, Sessions, shape};

type Shared = Arc<Mutex<Sessions>>;

/// Serves one client on stdio until it goes, or for ever if it is stubborn.
pub async fn serve(options: Options) -> Result<()> {
    if options.stubborn {
        let noticed = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(signal_hook::consts::SIGTERM, noticed).map_err(Error::into_internal_error)?;
    }
    let is_stubborn = options.stubborn;
    let log = options.log.as_deref().map(open_log);
    let held = options.lingers.as_deref().map(|socket| UnixStream::connect(socket).expect("somebody listens"));
    let transport = transport(log.as_ref());
    let state: Shared = Arc::new(Mutex::new(Sessions::open(options)));
    connect(&state, transport).await?;
    if is_stubborn {
        loop {
            std::thread::park();
        }
    }
    if let Some(mut held) = held {
        // However the other end lets go.
        io::copy(&mut held, &mut io::sink()).unwrap_or_default();
    }
    if let Some(log) = log {
        writeln!(&log, "{}", json!({"ended": std::process::id()})).expect("the log can be written");
    }
    Ok(())
}

fn open_log(path: &Path) -> File {
    OpenOptions::new().create(true).append(true).open(path).expect("the log can be written")
}

fn transport(log: Option<&File>) -> Stdio {
    let Some(log) = log else { return Stdio::new() };
    let file = log.try_clone().expect("another handle");
    writeln!(&file, "{}", json!({"pid": std::process::id()})).expect("the log can be written");
    Stdio::new().with_debug(move |line, direction| {
        if matches!(direction, LineDirection::Stdin) {
            // In one call, so that two agents with one log do not mix their lines.
            (&file).write_all(format!("{line}\n").as_bytes()).expect("the log can be written");
        }
    })
}

#[expect(clippy::too_many_lines, reason = "one handler a method, each a line or two")]
async fn connect(state: &Shared, transport: Stdio) -> Result<()> {
    let [init, new, load, resume, fork, list] = std::array::from_fn(|_| Arc::clone(state));
    let [delete, close, mode, config, prompt, cancel] = std::array::from_fn(|_| Arc::clone(state));
    Agent
        .v1()
        .name("test-agent")
        .on_receive_request(
            async move |_: InitializeRequest, responder, _| responder.respond(capabilities(&lock(&init).options)),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: NewSessionRequest, responder, _| {
                let mut sessions = lock(&new);
                let session = sessions.create(request.cwd);
                let response = NewSessionResponse::new(session.id.clone()).modes(sessions.modes(&session));
                responder.respond(response.config_options(sessions.config(&session)))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: LoadSessionRequest, responder, client| {
                let sessions = lock(&load);
                let session = match known(&sessions, sessions.options.load, &request.session_id.to_string()) {
                    Ok(session) => session,
                    Err(error) => return responder.respond_with_error(error),
                };
                for update in &session.history {
                    client.send_notification(SessionNotification::new(session.id.clone(), shape(update.clone())))?;
                }
                let (modes, config) = told_again(&sessions, session);
                responder.respond(LoadSessionResponse::new().modes(modes).config_options(config))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ResumeSessionRequest, responder, _| {
                let sessions = lock(&resume);
                let session = known(&sessions, sessions.options.resume, &request.session_id.to_string());
                responder.respond_with_result(session.map(|session| {
                    let (modes, config) = told_again(&sessions, session);
                    ResumeSessionResponse::new().modes(modes).config_options(config)
                }))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ForkSessionRequest, responder, _| {
                let mut sessions = lock(&fork);
                let id = request.session_id.to_string();
                let child = offered(sessions.options.fork).and_then(|()| sessions.fork(&id, request.cwd));
                responder.respond_with_result(child.map(|child| {
                    let response = ForkSessionResponse::new(child.id.clone()).modes(sessions.modes(&child));
                    response.config_options(sessions.config(&child))
                }))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ListSessionsRequest, responder, _| {
                let sessions = lock(&list);
                responder.respond_with_result(offered(sessions.options.list).map(|()| {
                    let (rows, next) = sessions.page(request.cursor.as_deref());
                    ListSessionsResponse::new(rows).next_cursor(next)
                }))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: DeleteSessionRequest, responder, _| {
                let mut sessions = lock(&delete);
                let outcome = offered(sessions.options.delete);
                if outcome.is_ok() {
                    sessions.delete(&request.session_id.to_string());
                }
                responder.respond_with_result(outcome.map(|()| DeleteSessionResponse::new()))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: CloseSessionRequest, responder, _| {
                let mut sessions = lock(&close);
                sessions.cancel(&request.session_id.to_string());
                responder.respond_with_result(offered(sessions.options.close).map(|()| CloseSessionResponse::new()))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: SetSessionModeRequest, responder, _| {
                let id = request.session_id.to_string();
                let mut sessions = lock(&mode);
                let changed = sessions.change(&id, |session| session.mode = request.mode_id.to_string());
                responder.respond_with_result(changed.map(|_| SetSessionModeResponse::new()))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: SetSessionConfigOptionRequest, responder, _| {
                let value = json!(request.value)["value"].as_str().unwrap_or_default().to_owned();
                let mut sessions = lock(&config);
                let id = request.session_id.to_string();
                let options = sessions.change(&id, |session| session.effort = value).cloned();
                let options = options.map(|session| sessions.config(&session).unwrap_or_default());
                responder.respond_with_result(options.map(SetSessionConfigOptionResponse::new))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder, client| {
                let turn = Turn::new(Arc::clone(&prompt), client.clone(), &request);
                client.spawn(async move { responder.respond_with_result(turn.run(request.prompt).await) })
            },
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |request: CancelNotification, _| {
                lock(&cancel).cancel(&request.session_id.to_string());
                Ok(())
            },
            on_receive_notification!(),
        )
        .connect_to(transport)
        .await
}

fn capabilities(options: &Options) -> InitializeResponse {
    let offers = [
        ("list", options.list),
        ("fork", options.fork),
        ("delete", options.delete),
        ("close", options.close),
        ("resume", options.resume),
    ];
    let offers: Map<String, Value> =
        offers.into_iter().filter(|(_, offered)| *offered).map(|(name, _)| (name.to_owned(), json!({}))).collect();
    let capabilities: AgentCapabilities = shape(json!({
        "loadSession": options.load,
        "promptCapabilities": {"embeddedContext": true},
        "sessionCapabilities": offers,
        "_meta": {"test-agent": {"kept": "as it is"}},
    }));
    InitializeResponse::new(ProtocolVersion::V1)
        .agent_capabilities(capabilities)
        .agent_info(Implementation::new("test-agent", "1.0.0"))
}

fn offered(offered: bool) -> Result<()> {
    if offered { Ok(()) } else { Err(Error::method_not_found()) }
}

fn known<'a>(sessions: &'a Sessions, is_offered: bool, id: &str) -> Result<&'a Session> {
    offered(is_offered)?;
    sessions.get(id)
}

/// The modes and configuration to give with a session that was there before.
fn told_again(
    sessions: &Sessions,
    session: &Session,
) -> (
    Option<agent_client_protocol::v1::schema::SessionModeState>,
    Option<Vec<agent_client_protocol::v1::schema::SessionConfigOption>>,
) {
    if sessions.options.tells_once { (None, None) } else { (sessions.modes(session), sessions.config(session)) }
}

fn lock(sessions: &Shared) -> MutexGuard<'_, Sessions> {
    sessions.lock().expect("no handler panics with the sessions in hand")
}
