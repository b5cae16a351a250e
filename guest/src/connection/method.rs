//! The methods a client may call: who handles each, and whether it waits while the session it names is being opened or
//! closed.

/// A method of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Initialize,
    Authenticate,
    Logout,
    New,
    Load,
    Resume,
    Fork,
    List,
    Subscribe,
    Unsubscribe,
    Delete,
    Close,
    Archive,
    Unarchive,
    Status,
    SetTitle,
    Prompt,
    SetMode,
    SetModel,
    SetConfigOption,
    /// One that the engine passes on.
    Other,
}

/// What becomes of a request while the session that it names is on its way to another state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    Runs,
    Waits,
}

/// How a method is handled.
struct Row {
    name: &'static str,
    method: Method,
    while_opening: Then,
    while_closing: Then,
}

const fn row(name: &'static str, method: Method, while_opening: Then, while_closing: Then) -> Row {
    Row { name, method, while_opening, while_closing }
}

const TABLE: [Row; 20] = [
    row("initialize", Method::Initialize, Then::Runs, Then::Runs),
    row("authenticate", Method::Authenticate, Then::Runs, Then::Runs),
    row("logout", Method::Logout, Then::Runs, Then::Runs),
    row("session/new", Method::New, Then::Runs, Then::Runs),
    row("session/load", Method::Load, Then::Waits, Then::Waits),
    row("session/resume", Method::Resume, Then::Waits, Then::Waits),
    row("session/fork", Method::Fork, Then::Waits, Then::Waits),
    row("session/list", Method::List, Then::Runs, Then::Runs),
    row("session/list/subscribe", Method::Subscribe, Then::Runs, Then::Runs),
    row("session/list/unsubscribe", Method::Unsubscribe, Then::Runs, Then::Runs),
    row("session/delete", Method::Delete, Then::Runs, Then::Runs),
    row("session/close", Method::Close, Then::Runs, Then::Runs),
    row("session/archive", Method::Archive, Then::Runs, Then::Runs),
    row("session/unarchive", Method::Unarchive, Then::Runs, Then::Waits),
    row("session/status", Method::Status, Then::Runs, Then::Runs),
    row("session/set_title", Method::SetTitle, Then::Runs, Then::Runs),
    // A prompt behind a close is refused as soon as it comes, unless a load waits: its session will not be open.
    row("session/prompt", Method::Prompt, Then::Waits, Then::Runs),
    row("session/set_mode", Method::SetMode, Then::Waits, Then::Runs),
    row("session/set_model", Method::SetModel, Then::Waits, Then::Runs),
    row("session/set_config_option", Method::SetConfigOption, Then::Waits, Then::Runs),
];

impl Method {
    pub(super) fn of(name: &str) -> Self {
        TABLE.iter().find(|row| row.name == name).map_or(Self::Other, |row| row.method)
    }

    fn row(self) -> Option<&'static Row> {
        TABLE.iter().find(|row| row.method == self)
    }

    /// Whether it waits until the session that it names is open.
    pub(super) fn waits_while_opening(self) -> bool {
        // What the engine does not know may be about the session as the agent has it.
        self.row().is_none_or(|row| row.while_opening == Then::Waits)
    }

    /// Whether the agent must have the session open that it names.
    pub(super) fn needs_open_session(self) -> bool {
        self.waits_while_opening() && !matches!(self, Self::Load | Self::Resume | Self::Fork)
    }

    /// Whether it opens the session that it names.
    pub(super) fn opens(self) -> bool {
        matches!(self, Self::Load | Self::Resume)
    }

    /// Whether it closes the session that it names.
    pub(super) fn closes(self) -> bool {
        matches!(self, Self::Close | Self::Delete | Self::Archive)
    }

    /// Whether it waits until the session that it names is closed.
    pub(super) fn waits_while_closing(self) -> bool {
        self.row().is_some_and(|row| row.while_closing == Then::Waits)
    }
}
