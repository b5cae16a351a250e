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

/// Name, method, whether it waits while the session opens, whether it waits while the session closes.
const TABLE: [(&str, Method, bool, bool); 20] = [
    ("initialize", Method::Initialize, false, false),
    ("authenticate", Method::Authenticate, false, false),
    ("logout", Method::Logout, false, false),
    ("session/new", Method::New, false, false),
    ("session/load", Method::Load, true, true),
    ("session/resume", Method::Resume, true, true),
    ("session/fork", Method::Fork, true, true),
    ("session/list", Method::List, false, false),
    ("session/list/subscribe", Method::Subscribe, false, false),
    ("session/list/unsubscribe", Method::Unsubscribe, false, false),
    ("session/delete", Method::Delete, false, false),
    ("session/close", Method::Close, false, false),
    ("session/archive", Method::Archive, false, false),
    ("session/unarchive", Method::Unarchive, false, true),
    ("session/status", Method::Status, false, false),
    ("session/set_title", Method::SetTitle, false, false),
    // A prompt behind a close is refused as soon as it comes, unless a load waits: its session will not be open.
    ("session/prompt", Method::Prompt, true, false),
    ("session/set_mode", Method::SetMode, true, false),
    ("session/set_model", Method::SetModel, true, false),
    ("session/set_config_option", Method::SetConfigOption, true, false),
];

impl Method {
    pub(super) fn of(name: &str) -> Self {
        TABLE.iter().find(|(known, ..)| *known == name).map_or(Self::Other, |(_, method, ..)| *method)
    }

    /// Whether it waits until the session that it names is open.
    pub(super) fn waits_while_opening(self) -> bool {
        // What the engine does not know may be about the session as the agent has it.
        TABLE.iter().find(|(_, method, ..)| *method == self).is_none_or(|(_, _, waits, _)| *waits)
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
        TABLE.iter().any(|(_, method, _, waits)| *method == self && *waits)
    }
}
