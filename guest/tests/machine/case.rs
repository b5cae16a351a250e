//! A case as plain data: which agents there are, and what happens, step by step.
//!
//! A step says all that it needs by itself, so that the others mean the same when one of them is taken out.

use std::fmt;

use crate::faults::Fault;
use crate::kind::Kind;
use crate::world::Dice;

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
    /// The instance is lost.
    Trap(Line),
    /// Calls of the store go wrong: after how many, and how many.
    Fault(Fault, u8, u8),
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
        let Self { seed, texts, retains, kinds, .. } = self;
        writeln!(formatter, "Case {{\n    seed: {seed},\n    texts: {texts},\n    retains: {retains},")?;
        writeln!(formatter, "    kinds: {kinds:?},")?;
        writeln!(formatter, "    steps: vec![")?;
        for step in &self.steps {
            writeln!(formatter, "        {step:?},")?;
        }
        write!(formatter, "    ],\n}}")
    }
}

impl Case {
    /// The case that belongs to a seed.
    pub(crate) fn of(seed: u64) -> Self {
        let dice = Dice::new(seed);
        let kinds = [(); 4].map(|()| Kind::random(&dice));
        let lines = if dice.percent(25) { 2 } else { 1 };
        let calm = dice.percent(30);
        let length = 4 + dice.below(44);
        let steps = (0..length).map(|_| step(&dice, lines, calm)).collect();
        Self { seed, texts: dice.percent(90), retains: dice.percent(15), kinds, steps }
    }
}

fn pick(dice: &Dice) -> Pick {
    match dice.below(100) {
        0..70 => Pick::Open(dice.below(3)),
        70..90 => Pick::Named(dice.below(4)),
        90..97 => Pick::Agents(dice.below(3)),
        _ => Pick::Nobodys,
    }
}

/// A session to open: rather one that is not open.
fn stored(dice: &Dice) -> Pick {
    match dice.below(100) {
        0..20 => Pick::Open(dice.below(3)),
        20..75 => Pick::Named(dice.below(4)),
        75..97 => Pick::Agents(dice.below(3)),
        _ => Pick::Nobodys,
    }
}

fn step(dice: &Dice, lines: u8, calm: bool) -> Step {
    let line = dice.below(lines);
    match dice.below(100) {
        0..34 => Step::Client(line, ask(dice)),
        34..56 => Step::Agent(line, deed(dice, calm)),
        56..62 => Step::Outside(line, dice.below(4), change(dice)),
        62..76 => Step::Turn(line, pick(dice), dice.below(4)),
        76..81 => Step::Tick(line),
        81..83 => Step::Clock(clock(dice)),
        83 => Step::Room(line, [0, 0, 1, 255][usize::from(dice.below(4))]),
        84..86 => Step::Pile(line, 2 + dice.below(4)),
        86..92 => Step::End(line, end(dice)),
        92..94 if !calm => Step::Trap(line),
        94..97 if !calm => {
            let fault = Fault::ALL[usize::from(dice.below(10))];
            Step::Fault(fault, dice.below(8), [1, 1, 2, 20][usize::from(dice.below(4))])
        }
        _ => Step::Settle(line),
    }
}

fn clock(dice: &Dice) -> i32 {
    [1, 31, 3600, 90_000, -1, -3600, -90_000, 3_000_000][usize::from(dice.below(8))]
}

fn end(dice: &Dice) -> End {
    match dice.below(4) {
        0 => End::Killed,
        1 => End::AgentDies,
        _ => End::Eof(dice.below(4)),
    }
}

fn ask(dice: &Dice) -> Ask {
    match dice.below(64) {
        0..10 => Ask::New(dice.below(2)),
        10..20 => Ask::Load(stored(dice)),
        20..22 => Ask::LoadLast(stored(dice), dice.below(5)),
        22..26 => Ask::Resume(stored(dice)),
        26..30 => Ask::Fork(pick(dice)),
        30..38 => Ask::Prompt(pick(dice), dice.below(4)),
        38 => Ask::Cancel(pick(dice)),
        39..41 => Ask::CancelRequest(dice.below(4)),
        41 => Ask::SetMode(pick(dice)),
        42 => Ask::SetModel(pick(dice)),
        43 => Ask::SetOption(pick(dice)),
        44 => Ask::SetTitle(pick(dice)),
        45..47 => Ask::Close(pick(dice)),
        47..50 => Ask::Delete(pick(dice)),
        50 => Ask::Archive(pick(dice)),
        51 => Ask::Unarchive(stored(dice)),
        52 => Ask::Status(pick(dice)),
        53..56 => Ask::List,
        56 => Ask::Custom,
        57 => Ask::Authenticate,
        58 => Ask::Logout,
        59 => Ask::SameId(dice.below(4)),
        60 => Ask::OwnId,
        61 => {
            let bad = [Bad::NotJson, Bad::Batch, Bad::NotText, Bad::TooLong, Bad::NoParams, Bad::StrayAnswer];
            Ask::Bad(bad[usize::from(dice.below(6))])
        }
        _ => Ask::Permit(dice.below(2)),
    }
}

fn deed(dice: &Dice, calm: bool) -> Deed {
    match dice.below(40) {
        0..20 => {
            let how = match dice.below(20) {
                0 if !calm => How::Twice,
                1 if !calm => How::Fails,
                2 if !calm => How::WantsLogin,
                3 if !calm => How::NotFound,
                4 if !calm => How::Hollow,
                5 if !calm => How::Never,
                _ => How::Well,
            };
            Deed::Answer(dice.below(4), how)
        }
        20..28 => Deed::Say(dice.below(3)),
        28 => Deed::Think(dice.below(3)),
        29 if dice.percent(50) => Deed::Subagent(dice.below(3), 1 + dice.below(2)),
        29 => Deed::Tool(dice.below(3)),
        30 => Deed::Plan(dice.below(3)),
        31 => Deed::Mode(dice.below(3)),
        32..34 => Deed::Title(dice.below(3)),
        34..36 => Deed::Permission(dice.below(3)),
        36..38 => Deed::Replay(dice.below(3)),
        38 => Deed::Stray,
        _ => Deed::Garbage,
    }
}

fn change(dice: &Dice) -> Change {
    let all = [
        Change::Create,
        Change::Create,
        Change::Continue,
        Change::Continue,
        Change::Rename,
        Change::Delete,
        Change::Rewind,
        Change::Compact,
    ];
    all[usize::from(dice.below(8))]
}
