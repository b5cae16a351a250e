//! The agent's side of the protocol.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, AuthenticateRequest, AuthenticateResponse, CancelNotification, CloseSessionRequest,
    CloseSessionResponse, DeleteSessionRequest, DeleteSessionResponse, ForkSessionRequest, ForkSessionResponse,
    Implementation, InitializeRequest, InitializeResponse, ListSessionsRequest, ListSessionsResponse,
    LoadSessionRequest, LoadSessionResponse, LogoutRequest, LogoutResponse, NewSessionRequest, NewSessionResponse,
    PromptRequest, ResumeSessionRequest, ResumeSessionResponse, SessionNotification, SetSessionConfigOptionRequest,
    SetSessionConfigOptionResponse, SetSessionModeRequest, SetSessionModeResponse,
};
use agent_client_protocol::{
    Agent, Client, Error, JsonRpcRequest, LineDirection, Result, Stdio, on_receive_notification, on_receive_request,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Options;
use super::folder::Session;
use super::prompt::Turn;
use super::slow_load::SlowLoad;
use super::state::{Sessions, shape};

type Shared = Arc<Mutex<Sessions>>;

/// A session/new that may be answered with more than the schema knows.
#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcRequest)]
#[request(method = "session/new", response = Value)]
#[serde(transparent)]
struct New(NewSessionRequest);

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
    let end = Duration::from_millis(options.habits.end_ms);
    let state: Shared = Arc::new(Mutex::new(Sessions::open(options)));
    connect(&state, transport).await?;
    if is_stubborn {
        loop {
            thread::park();
        }
    }
    thread::sleep(end);
    lock(&state).end();
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
    let [init, new, load, resume, fork, list, auth] = std::array::from_fn(|_| Arc::clone(state));
    let [delete, close, mode, config, prompt, cancel, logout] = std::array::from_fn(|_| Arc::clone(state));
    Agent
        .v1()
        .name("test-agent")
        .on_receive_request(
            async move |_: InitializeRequest, responder, _| responder.respond(capabilities(&lock(&init).options)),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |_: AuthenticateRequest, responder, _| {
                lock(&auth).is_authenticated = true;
                responder.respond(AuthenticateResponse::new())
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |_: LogoutRequest, responder, _| {
                lock(&logout).is_authenticated = false;
                responder.respond(LogoutResponse::new())
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: New, responder, _| responder.respond_with_result(created(&mut lock(&new), &request.0)),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: LoadSessionRequest, responder, client| {
                let mut sessions = lock(&load);
                let session = match known(&mut sessions, |offers| offers.load, &request.session_id.to_string()) {
                    Ok(session) => session,
                    Err(error) => return responder.respond_with_error(error),
                };
                let (modes, config) = told_again(&sessions, &session);
                let answer = LoadSessionResponse::new().modes(modes).config_options(config);
                let tell = teller(&client, &session.id);
                if let Some(slow) = SlowLoad::of(&sessions.options.habits) {
                    slow.start(session.history, tell, move || responder.respond(answer));
                    return Ok(());
                }
                session.history.into_iter().try_for_each(tell)?;
                responder.respond(answer)
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ResumeSessionRequest, responder, _| {
                let mut sessions = lock(&resume);
                let session = known(&mut sessions, |offers| offers.resume, &request.session_id.to_string());
                responder.respond_with_result(session.map(|session| {
                    let (modes, config) = told_again(&sessions, &session);
                    ResumeSessionResponse::new().modes(modes).config_options(config)
                }))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ForkSessionRequest, responder, client| {
                let mut sessions = lock(&fork);
                let parent = known(&mut sessions, |offers| offers.fork, &request.session_id.to_string());
                let child = match parent.and_then(|parent| sessions.fork(&parent.id, request.cwd)) {
                    Ok(child) => child,
                    Err(error) => return responder.respond_with_error(error),
                };
                let response = ForkSessionResponse::new(child.id.clone()).modes(sessions.modes(&child));
                let response = response.config_options(sessions.config(&child));
                if sessions.options.habits.replays_on_fork {
                    child.history.into_iter().try_for_each(teller(&client, &child.id))?;
                }
                responder.respond(response)
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ListSessionsRequest, responder, _| {
                let mut sessions = lock(&list);
                sessions.look_again();
                responder.respond_with_result(sessions.permit(sessions.options.list).map(|()| {
                    let (rows, next) = sessions.page(request.cursor.as_deref());
                    ListSessionsResponse::new(rows).next_cursor(next)
                }))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: DeleteSessionRequest, responder, client| {
                let mut sessions = lock(&delete);
                if let Err(error) = sessions.permit(sessions.options.delete) {
                    return responder.respond_with_error(error);
                }
                if sessions.delete(&request.session_id.to_string()) {
                    return responder.respond(DeleteSessionResponse::new());
                }
                client.spawn(async move {
                    let _never_used = responder;
                    std::future::pending().await
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: CloseSessionRequest, responder, _| {
                let mut sessions = lock(&close);
                sessions.cancel(&request.session_id.to_string());
                let permitted = sessions.permit(sessions.options.close);
                responder.respond_with_result(permitted.map(|()| CloseSessionResponse::new()))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: SetSessionModeRequest, responder, _| {
                let id = request.session_id.to_string();
                let mut sessions = lock(&mode);
                let permitted = sessions.permit(true);
                let changed =
                    permitted.and_then(|()| sessions.change(&id, |session| session.mode = request.mode_id.to_string()));
                responder.respond_with_result(changed.map(|_| SetSessionModeResponse::new()))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: SetSessionConfigOptionRequest, responder, _| {
                let value = json!(request.value)["value"].as_str().unwrap_or_default().to_owned();
                let mut sessions = lock(&config);
                let id = request.session_id.to_string();
                let permitted = sessions.permit(true);
                let options = permitted.and_then(|()| sessions.change(&id, |session| session.effort = value).cloned());
                let options = options.map(|session| sessions.config(&session).unwrap_or_default());
                responder.respond_with_result(options.map(SetSessionConfigOptionResponse::new))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder, client| {
                let sessions = lock(&prompt);
                if let Err(error) = sessions.permit_prompt() {
                    return responder.respond_with_error(error);
                }
                let late = sessions.options.habits.late_usage.then(|| teller(&client, &request.session_id.to_string()));
                drop(sessions);
                let turn = Turn::new(Arc::clone(&prompt), client.clone(), &request);
                client.spawn(async move {
                    responder.respond_with_result(turn.run(request.prompt).await)?;
                    let usage = json!({"sessionUpdate": "usage_update", "used": 30, "size": 1000});
                    late.map_or(Ok(()), |tell| tell(usage))
                })
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
    let habits = &options.habits;
    let methods = habits.auth.map(|_| shape(json!({"id": "sign-in", "name": "Sign in"})));
    let name = habits.name.as_deref().unwrap_or("test-agent");
    InitializeResponse::new(ProtocolVersion::V1)
        .agent_capabilities(capabilities)
        .auth_methods(methods.into_iter().collect::<Vec<_>>())
        .agent_info((!habits.nameless).then(|| Implementation::new(name, "1.0.0")))
}

/// A new session, and the answer that tells of it.
fn created(sessions: &mut Sessions, request: &NewSessionRequest) -> Result<Value> {
    sessions.permit(true)?;
    let session = sessions.create(&request.cwd);
    let response = NewSessionResponse::new(session.id.clone()).modes(sessions.modes(&session));
    let mut response = json!(response.config_options(sessions.config(&session)));
    if sessions.options.habits.models {
        response["models"] = json!({"currentModelId": "large", "availableModels": [
            {"modelId": "large", "name": "Large"}, {"modelId": "small", "name": "Small"}]});
    }
    Ok(response)
}

/// The session as it is by now, if the request for it is offered.
fn known(sessions: &mut Sessions, is_offered: impl Fn(&Options) -> bool, id: &str) -> Result<Session> {
    sessions.permit(is_offered(&sessions.options))?;
    sessions.look_again();
    sessions.get(id).cloned()
}

/// Sends updates of this session.
fn teller(client: &ConnectionTo<Client>, id: &str) -> impl Fn(Value) -> Result<()> + Send + use<> {
    let (client, id) = (client.clone(), id.to_owned());
    move |update| client.send_notification(SessionNotification::new(id.clone(), shape(update)))
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
