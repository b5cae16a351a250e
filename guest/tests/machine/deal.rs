//! Deals out cases.
//!
//! Most of what may happen happens anywhere; a theme makes some of it more likely, so that what takes several steps of
//! one kind happens too.

use crate::case::{Ask, Bad, Case, Change, Deed, End, How, Pick, Step};
use crate::faults::Fault;
use crate::kind::{Kind, Trait};
use crate::world::Dice;

/// What a case is mostly about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Theme {
    /// Everything.
    Any,
    /// Two windows on one session.
    Windows,
    /// An agent that keeps its sessions, which are continued without the layer.
    Outside,
    /// Instances that are lost, and stores that fail.
    Losses,
    /// Requests for one session that cross.
    Races,
    /// A session that goes from agent to agent.
    Moves,
}

const THEMES: [Theme; 6] = [Theme::Any, Theme::Windows, Theme::Outside, Theme::Losses, Theme::Races, Theme::Moves];

const FIRST: Pick = Pick::Named(0);

impl Case {
    /// The case that belongs to a seed.
    pub(crate) fn of(seed: u64) -> Self {
        let dice = Dice::new(seed);
        let theme = THEMES[usize::from(dice.below(6))];
        let kinds = [(); 4].map(|()| kind(&dice, theme));
        let lines = if theme == Theme::Windows || dice.percent(20) { 2 } else { 1 };
        let calm = theme != Theme::Losses && dice.percent(30);
        let length = 4 + dice.below(44);
        let mut steps = prelude(&dice, theme);
        for _ in 0..length {
            let line = dice.below(lines);
            let themed = if dice.percent(50) { on_theme(&dice, theme, line) } else { None };
            steps.push(themed.unwrap_or_else(|| step(&dice, line, calm)));
        }
        let case = Self { seed, texts: dice.percent(90), retains: dice.percent(12), renews: false, kinds, steps };
        case.with_archives().with_restarts().with_titles().with_kills().with_told_changes().with_remarks()
    }

    /// Gives so many of a hundred agents this habit.
    fn give(&mut self, habit: Trait, percent: u8, dice: &Dice) {
        for kind in &mut self.kinds {
            if dice.percent(percent) {
                *kind = kind.with(habit);
            }
        }
    }

    /// A place among the steps, or behind them.
    fn somewhere(&self, dice: &Dice) -> usize {
        usize::from(dice.below(u8::try_from(self.steps.len() + 1).unwrap_or(u8::MAX)))
    }

    /// Has some agents tell what changes in their lists, also with dice of its own.
    fn with_told_changes(mut self) -> Self {
        let dice = Dice::new(self.seed.rotate_left(16));
        if !dice.percent(30) {
            return self;
        }
        self.give(Trait::TellsChanges, 60, &dice);
        self
    }

    /// Has some agents make remarks in their user's name, some turns cancelled and some sessions compacted without the layer; also
    /// with dice of its own.
    fn with_remarks(mut self) -> Self {
        let dice = Dice::new(self.seed.rotate_left(48));
        if !dice.percent(15) {
            return self;
        }
        self.give(Trait::Remarks, 70, &dice);
        for _ in 0..dice.below(6) {
            let at = self.somewhere(&dice);
            let step = match dice.below(2) {
                0 => Step::Client(0, Ask::Cancel(Pick::Named(dice.below(3)))),
                _ => Step::Outside(0, dice.below(3), Change::Compact),
            };
            self.steps.insert(at, step);
        }
        self
    }

    /// Has some agents take the titles that users give.
    fn with_titles(mut self) -> Self {
        let dice = Dice::new(self.seed.rotate_left(32));
        if !dice.percent(30) {
            return self;
        }
        self.give(Trait::Title, 60, &dice);
        for _ in 0..dice.below(4) {
            let at = self.somewhere(&dice);
            self.steps.insert(at, Step::Client(0, Ask::SetTitle(Pick::Named(dice.below(3)))));
        }
        self
    }

    /// Has some hosts killed in the midst of a call, also with dice of its own.
    fn with_kills(mut self) -> Self {
        let dice = Dice::new(!self.seed.rotate_left(32));
        if !dice.percent(20) {
            return self;
        }
        for _ in 0..=dice.below(2) {
            let at = self.somewhere(&dice);
            let kill = Fault::KILLS[usize::from(dice.below(3))];
            self.steps.insert(at, Step::Fault(kill, dice.below(12), 1));
        }
        self
    }

    /// Has some agents put sessions away, and bring them back. With dice of its own, so that what a seed stands for
    /// otherwise stays.
    fn with_archives(mut self) -> Self {
        let dice = Dice::new(!self.seed);
        if !dice.percent(30) {
            return self;
        }
        self.give(Trait::Archive, 60, &dice);
        for _ in 0..dice.below(6) {
            let at = self.somewhere(&dice);
            let change = if dice.percent(60) { Change::Archive } else { Change::Unarchive };
            let ask = if dice.percent(60) { Ask::Archive } else { Ask::Unarchive };
            let step = match dice.below(3) {
                0 => Step::Client(0, ask(Pick::Named(dice.below(3)))),
                1 => Step::End(0, end(&dice)),
                _ => Step::Outside(0, dice.below(3), change),
            };
            self.steps.insert(at, step);
        }
        self
    }

    /// Has agents end and be started again in some, with dice of its own.
    fn with_restarts(mut self) -> Self {
        let dice = Dice::new(self.seed.rotate_left(32) ^ 0x5bd1_e995);
        if !dice.percent(25) {
            return self;
        }
        for _ in 0..=dice.below(4) {
            let at = self.somewhere(&dice);
            let line = u8::from(dice.percent(15));
            self.steps.insert(at, Step::Restart(line));
            match dice.below(8) {
                0 => self.steps.insert(at, Step::Client(line, Ask::Prompt(Pick::Open(0), 3))),
                1 => self.steps.insert(at, Step::Agent(line, Deed::Permission(0))),
                2 => self.steps.insert(at + 1, Step::Trap(line)),
                3 => self.steps.insert(at, fault(&dice)),
                4 => self.steps.insert(at + 1, Step::Client(line, Ask::Prompt(Pick::Open(0), 3))),
                5 => self.steps.insert(at + 1, Step::Turn(line, Pick::Open(0), 2)),
                _ => {}
            }
        }
        self
    }
}

fn kind(dice: &Dice, theme: Theme) -> Kind {
    let mut kind = Kind::random(dice).without(Trait::WantsLogin);
    if dice.percent(5) {
        kind = kind.with(Trait::WantsLogin);
    }
    if theme == Theme::Outside {
        kind = kind.with(Trait::Named).without(Trait::Other).without(Trait::Forgets).without(Trait::StartsSlowly);
        if dice.percent(80) {
            kind = kind.with(Trait::Load).with(Trait::List);
        }
    }
    kind
}

/// A session with something in it.
fn prelude(dice: &Dice, theme: Theme) -> Vec<Step> {
    match theme {
        Theme::Any => Vec::new(),
        Theme::Outside if dice.percent(40) => vec![Step::Outside(0, 0, Change::Create), Step::FirstList(0)],
        Theme::Outside => vec![Step::Outside(0, 0, Change::Create), Step::Settle(0)],
        _ => vec![Step::Client(0, Ask::New(0)), Step::Settle(0), Step::Turn(0, Pick::Open(0), 2)],
    }
}

/// A step that belongs to the theme.
fn on_theme(dice: &Dice, theme: Theme, line: u8) -> Option<Step> {
    let number = dice.below(12);
    Some(match theme {
        Theme::Any => return None,
        Theme::Windows => match number {
            0..3 => Step::Client(line, Ask::Load(FIRST)),
            3..5 => Step::Client(line, Ask::Prompt(FIRST, 3)),
            5..8 => Step::Agent(line, Deed::Say(0)),
            8 => Step::Tick(line),
            9 => Step::Turn(line, FIRST, 2),
            _ => Step::Agent(line, Deed::Answer(dice.below(3), How::Well)),
        },
        Theme::Outside => match number {
            0..3 => Step::Outside(line, dice.below(3), change(dice)),
            3..5 => Step::End(line, end(dice)),
            5..7 => Step::Client(line, Ask::Load(Pick::Agents(dice.below(3)))),
            7 => Step::Client(line, Ask::Resume(Pick::Agents(dice.below(3)))),
            8 => Step::Turn(line, Pick::Agents(dice.below(3)), 1),
            9 => Step::Client(line, Ask::List),
            _ => Step::Settle(line),
        },
        Theme::Losses => match number {
            0..3 => Step::Trap(line),
            3..7 => fault(dice),
            7 => Step::Turn(line, Pick::Open(0), 2),
            8 => Step::Client(line, Ask::Load(FIRST)),
            9 => Step::Client(line, Ask::Fork(FIRST)),
            _ => Step::Agent(line, Deed::Answer(dice.below(3), How::Well)),
        },
        Theme::Races => match number {
            0..2 => Step::Client(line, Ask::Load(FIRST)),
            2 => Step::Client(line, Ask::Resume(FIRST)),
            3 => Step::Client(line, Ask::Close(FIRST)),
            4 => Step::Client(line, Ask::Archive(FIRST)),
            5 => Step::Client(line, Ask::CancelRequest(dice.below(4))),
            6 => Step::Client(line, Ask::Cancel(FIRST)),
            7 => Step::Client(line, Ask::Prompt(FIRST, 3)),
            8 => Step::Client(line, if dice.percent(40) { Ask::Delete(FIRST) } else { Ask::Fork(FIRST) }),
            9 => Step::End(line, end(dice)),
            _ => Step::Agent(line, Deed::Answer(dice.below(3), How::Well)),
        },
        Theme::Moves => match number {
            0..3 => Step::End(line, end(dice)),
            3..6 => Step::Client(line, Ask::Load(Pick::Named(dice.below(2)))),
            6 => Step::Client(line, Ask::Fork(Pick::Named(dice.below(2)))),
            7 => Step::Client(line, Ask::Close(Pick::Open(0))),
            8 => Step::Turn(line, Pick::Open(0), 1),
            9 => Step::Agent(line, Deed::Answer(0, How::Never)),
            _ => Step::Settle(line),
        },
    })
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

fn fault(dice: &Dice) -> Step {
    let fault = Fault::ALL[usize::from(dice.below(10))];
    Step::Fault(fault, dice.below(8), [1, 1, 2, 20][usize::from(dice.below(4))])
}

fn step(dice: &Dice, line: u8, calm: bool) -> Step {
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
        94..97 if !calm => fault(dice),
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
