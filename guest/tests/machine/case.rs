//! A case as plain data: which agents there are, and what happens, step by step.
//!
//! A step says all that it needs by itself, so that the others mean the same when one of them is taken out.

use std::fmt;

use crate::faults::Fault;
use crate::kind::Kind;

/// One of the two connections.
pub(crate) type Line = u8;

/// A case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Case {
    /// For the engine's random numbers.
    pub(crate) seed: u64,
    /// Whether the store searches texts.
    pub(crate) texts: bool,
    /// Whether sessions are removed for their age (`retain-days` 1).
    pub(crate) retains: bool,
    /// Whether instances hand over to fresh ones whenever they are at rest.
    pub(crate) renews: bool,
    /// The agents behind the connections, one after the other as connections begin.
    pub(crate) kinds: [Kind; 4],
    pub(crate) steps: Vec<Step>,
}

/// Which session: of those that the client has open, of those that anybody heard of, of the agent's own, or one that
/// nobody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pick {
    Open(u8),
    Named(u8),
    Agents(u8),
    Nobodys,
}

/// Something that happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The client sends this.
    Client(Line, Ask),
    /// The agent does this.
    Agent(Line, Deed),
    /// Something happens to an agent's session without the layer.
    Outside(Line, u8, Change),
    /// A prompt, so many chunks, and the answer.
    Turn(Line, Pick, u8),
    /// Time passes on a connection.
    Tick(Line),
    /// The clock is set, by so many seconds.
    Clock(i32),
    /// The client has room for so many kilobytes of a replay.
    Room(Line, u8),
    /// What arrives next on this connection arrives together, so many lines of it.
    Pile(Line, u8),
    /// The connection ends; the next step begins another.
    End(Line, End),
    /// The agent ends and is started again.
    Restart(Line),
    /// The instance is lost.
    Trap(Line),
    /// Calls of the store go wrong: after how many, and how many.
    Fault(Fault, u8, u8),
    /// If there is no connection, one begins, and the first that its client wants is a list.
    FirstList(Line),
    /// The agent answers all, the client too, and time passes.
    Settle(Line),
}

/// What a client asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    New(u8),
    Load(Pick),
    /// The last so many updates.
    LoadLast(Pick, u8),
    Resume(Pick),
    Fork(Pick),
    Prompt(Pick, u8),
    Cancel(Pick),
    /// `$/cancel_request` for one of the open requests.
    CancelRequest(u8),
    SetMode(Pick),
    SetModel(Pick),
    SetOption(Pick),
    SetTitle(Pick),
    Close(Pick),
    Delete(Pick),
    Archive(Pick),
    Unarchive(Pick),
    Status(Pick),
    List,
    Custom,
    Authenticate,
    Logout,
    /// Under the id of a request that is still open.
    SameId(u8),
    /// Under an id that looks like the layer's own.
    OwnId,
    Bad(Bad),
    /// Answers one of the agent's requests.
    Permit(u8),
}

/// A line that is no proper request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bad {
    NotJson,
    Batch,
    NotText,
    TooLong,
    NoParams,
    StrayAnswer,
}

/// What an agent does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deed {
    /// Answers one of its open requests.
    Answer(u8, How),
    /// Says a chunk in one of its open sessions.
    Say(u8),
    Think(u8),
    Tool(u8),
    /// Starts a session of its own on behalf of one of its open sessions; the second number: announces it so often.
    Subagent(u8, u8),
    Plan(u8),
    Mode(u8),
    /// Names one of its open sessions.
    Title(u8),
    /// Asks for permission.
    Permission(u8),
    /// Replays a piece of a session that it is loading, before it answers.
    Replay(u8),
    /// Answers what nobody asked.
    Stray,
    Garbage,
}

/// How an agent answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    Well,
    Twice,
    Fails,
    WantsLogin,
    NotFound,
    /// A result without anything in it.
    Hollow,
    /// Forgets the request.
    Never,
}

/// What happens to a session behind the layer's back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Create,
    Continue,
    Rename,
    Delete,
    /// The last turn is taken back.
    Rewind,
    /// All is replaced by a summary.
    Compact,
    /// It is put away.
    Archive,
    /// It is brought back.
    Unarchive,
}

/// How a connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The client closes its side; the agent answers so many requests before it ends too.
    Eof(u8),
    /// The agent ends.
    AgentDies,
    /// The host is killed.
    Killed,
}

impl fmt::Display for Case {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, texts, retains, renews, kinds, .. } = self;
        writeln!(
            formatter,
            "Case {{\n    seed: {seed},\n    texts: {texts},\n    retains: {retains},\n    renews: {renews},"
        )?;
        writeln!(formatter, "    kinds: {kinds:?},")?;
        writeln!(formatter, "    steps: vec![")?;
        for step in &self.steps {
            writeln!(formatter, "        {step:?},")?;
        }
        write!(formatter, "    ],\n}}")
    }
}
