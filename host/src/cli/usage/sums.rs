//! What several usages come to.

use serde::Serialize;

use super::amount::{Amount, NoAmount};
use crate::component::sessions::{Tokens, Used};

/// The sums.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Sums {
    answers: u64,
    total_tokens: u64,
    input_tokens: u64,
    output_tokens: u64,
    thought_tokens: u64,
    cached_read_tokens: u64,
    cached_write_tokens: u64,
    costs: Vec<Sum>,
}

/// Of one currency.
#[derive(Debug, Clone, Serialize)]
struct Sum {
    amount: Amount,
    currency: String,
}

impl Sums {
    /// Adds what was used. Fails where the engine gives what is no amount.
    pub(super) fn add(&mut self, used: &Used) -> Result<(), NoAmount> {
        let Tokens { total_tokens, input_tokens, output_tokens, .. } = used.tokens;
        let Tokens { thought_tokens, cached_read_tokens, cached_write_tokens, .. } = used.tokens;
        let costs =
            used.costs.iter().map(|cost| Ok(Sum { amount: cost.amount.parse()?, currency: cost.currency.clone() }));
        self.add_sums(&Self {
            answers: used.answers.into(),
            total_tokens,
            input_tokens,
            output_tokens,
            thought_tokens,
            cached_read_tokens,
            cached_write_tokens,
            costs: costs.collect::<Result<_, NoAmount>>()?,
        });
        Ok(())
    }

    /// Adds other sums.
    pub(super) fn add_sums(&mut self, other: &Self) {
        for (sum, more) in [
            (&mut self.answers, other.answers),
            (&mut self.total_tokens, other.total_tokens),
            (&mut self.input_tokens, other.input_tokens),
            (&mut self.output_tokens, other.output_tokens),
            (&mut self.thought_tokens, other.thought_tokens),
            (&mut self.cached_read_tokens, other.cached_read_tokens),
            (&mut self.cached_write_tokens, other.cached_write_tokens),
        ] {
            *sum = sum.saturating_add(more);
        }
        for more in &other.costs {
            match self.costs.iter_mut().find(|sum| sum.currency == more.currency) {
                Some(sum) => sum.amount = sum.amount.plus(more.amount),
                None => self.costs.push(more.clone()),
            }
        }
        self.costs.sort_by(|one, other| one.currency.cmp(&other.currency));
    }

    /// Answers, tokens given, written and all together, and the costs.
    pub(super) fn columns(&self) -> [String; 5] {
        let costs: Vec<String> = self.costs.iter().map(|cost| format!("{} {}", cost.amount, cost.currency)).collect();
        let costs = if costs.is_empty() { "-".to_owned() } else { costs.join(", ") };
        let [answers, input, output, tokens] =
            [self.answers, self.input_tokens, self.output_tokens, self.total_tokens].map(|count| count.to_string());
        [answers, input, output, tokens, costs]
    }
}
