//! What was used, in the types of the interface.

use super::exports::acp::sessions::sessions as wit;
use crate::sessions::turn_usage::{TurnUsage, TurnUsagePage};
use crate::sessions::usage::{UsagePage, UsageRow};
use crate::store::{Cost, Tokens, Used};

impl From<UsagePage> for wit::UsagePage {
    fn from(page: UsagePage) -> Self {
        Self { usages: page.rows.into_iter().map(Into::into).collect(), next_cursor: page.next_cursor }
    }
}

impl From<UsageRow> for wit::Usage {
    fn from(row: UsageRow) -> Self {
        Self {
            session_id: row.session_id,
            cwd: row.cwd,
            title: row.title,
            day: row.day.day,
            agent: row.day.agent,
            used: (&row.day.used).into(),
        }
    }
}

impl From<TurnUsagePage> for wit::TurnUsagePage {
    fn from(page: TurnUsagePage) -> Self {
        Self { turns: page.turns.iter().map(Into::into).collect(), next_cursor: page.next_cursor }
    }
}

impl From<&TurnUsage> for wit::TurnUsage {
    fn from(turn: &TurnUsage) -> Self {
        Self {
            ended_at: turn.ended_at.clone(),
            used: (&turn.used).into(),
            context_used: turn.context.map(|context| context.used),
            context_size: turn.context.map(|context| context.size),
        }
    }
}

impl From<&Used> for wit::Used {
    fn from(used: &Used) -> Self {
        Self {
            answers: u32::try_from(used.answers).unwrap_or(u32::MAX),
            tokens: used.tokens.into(),
            costs: used.cost.iter().map(Into::into).collect(),
        }
    }
}

impl From<Tokens> for wit::Tokens {
    fn from(tokens: Tokens) -> Self {
        Self {
            total_tokens: tokens.total_tokens,
            input_tokens: tokens.input_tokens,
            output_tokens: tokens.output_tokens,
            thought_tokens: tokens.thought_tokens,
            cached_read_tokens: tokens.cached_read_tokens,
            cached_write_tokens: tokens.cached_write_tokens,
        }
    }
}

impl From<&Cost> for wit::Cost {
    fn from(cost: &Cost) -> Self {
        Self { amount: cost.amount.to_string(), currency: cost.currency.clone() }
    }
}
