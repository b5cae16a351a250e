//! `acp-sessions usage`

mod amount;
mod sums;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::ValueEnum;
use serde::Serialize;

use super::Outcome;
use super::engine::EngineOptions;
use super::printable::{Out, shortened};
use super::store::StoreOptions;
use crate::component::sessions::Usage;
use crate::sessions::Sessions;
use sums::Sums;

/// How many sessions are asked for at once.
const PAGE: u32 = 1000;

/// Longer names are cut; `--json` has them whole.
const NAME_WIDTH: usize = 200;

/// What is summed up together.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum By {
    /// Days in UTC; `-` for what was used nobody here knows when
    Day,
    /// Agents
    Agent,
    /// Folders
    Directory,
    /// Sessions
    Session,
}

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    store: StoreOptions,

    #[command(flatten)]
    engine: EngineOptions,

    /// What is summed up together
    #[arg(long, value_enum, default_value_t = By::Day)]
    by: By,

    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Outcome {
    let component = arguments.engine.load()?;
    let mut sessions = Sessions::of(&component, arguments.store.open_existing()?)?;
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    let mut report = Report { json: arguments.json, all: Sums::default(), rows: 0 };
    let mut cursor = None;
    loop {
        let page = sessions.usage(PAGE, cursor.as_deref())?;
        for usage in &page.usages {
            let key = key(usage, arguments.by);
            // Those of a session stand together, and there may be very many of them.
            if matches!(arguments.by, By::Session) && !groups.contains_key(&key) {
                report.write_all(out, std::mem::take(&mut groups))?;
            }
            groups.entry(key).or_insert_with(|| Group::of(usage, arguments.by)).sums.add(&usage.used)?;
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    report.write_all(out, groups)?;
    report.end(out)?;
    Ok(ExitCode::SUCCESS)
}

fn key(usage: &Usage, by: By) -> String {
    match by {
        By::Day => usage.day.clone().unwrap_or_default(),
        By::Agent => usage.agent.clone(),
        By::Directory => usage.cwd.clone(),
        By::Session => usage.session_id.clone(),
    }
}

/// What is summed up, and what it is called.
#[derive(Debug, Serialize)]
struct Group {
    #[serde(flatten)]
    name: Name,
    #[serde(flatten)]
    sums: Sums,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Name {
    Day {
        day: Option<String>,
    },
    Agent {
        agent: String,
    },
    Directory {
        cwd: String,
    },
    #[serde(rename_all = "camelCase")]
    Session {
        session_id: String,
        cwd: String,
        title: Option<String>,
    },
}

impl Group {
    fn of(usage: &Usage, by: By) -> Self {
        let name = match by {
            By::Day => Name::Day { day: usage.day.clone() },
            By::Agent => Name::Agent { agent: usage.agent.clone() },
            By::Directory => Name::Directory { cwd: usage.cwd.clone() },
            By::Session => Name::Session {
                session_id: usage.session_id.clone(),
                cwd: usage.cwd.clone(),
                title: usage.title.clone(),
            },
        };
        Self { name, sums: Sums::default() }
    }
}

impl Name {
    fn shown(&self) -> String {
        let cut = |text: &str| shortened(text, NAME_WIDTH).into_owned();
        match self {
            Self::Day { day } => day.as_deref().map_or_else(|| "-".to_owned(), cut),
            Self::Agent { agent: name } | Self::Directory { cwd: name } => cut(name),
            Self::Session { session_id, title, .. } => {
                format!("{}  {}", cut(session_id), cut(title.as_deref().unwrap_or("-")))
            }
        }
    }
}

/// What is printed, group by group.
struct Report {
    json: bool,
    all: Sums,
    rows: usize,
}

impl Report {
    fn write_all(&mut self, out: &mut Out, groups: BTreeMap<String, Group>) -> anyhow::Result<()> {
        for group in groups.into_values() {
            if self.json {
                out.json(&serde_json::to_string(&group)?)?;
            } else {
                if self.rows == 0 {
                    line(out, ["ANSWERS", "INPUT", "OUTPUT", "TOKENS", "COST"].map(str::to_owned), "")?;
                }
                line(out, group.sums.columns(), &group.name.shown())?;
                self.all.add_sums(&group.sums);
            }
            self.rows += 1;
        }
        Ok(())
    }

    fn end(&self, out: &mut Out) -> io::Result<()> {
        match self.rows {
            _ if self.json => Ok(()),
            0 => writeln!(out, "No agent has said what was used."),
            1 => Ok(()),
            _ => line(out, self.all.columns(), "all"),
        }
    }
}

fn line(out: &mut impl Write, [answers, input, output, tokens, cost]: [String; 5], name: &str) -> io::Result<()> {
    let cost = shortened(&cost, NAME_WIDTH);
    let text = format!("{answers:>7}  {input:>12}  {output:>12}  {tokens:>12}  {cost:>20}  {name}");
    writeln!(out, "{}", text.trim_end())
}
