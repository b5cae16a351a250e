//! What of a session's cost was counted ahead of those who were told it.

use serde::{Deserialize, Serialize};

use super::cost::Costs;

/// For how many connections it is remembered: a connection that was killed never asks for it.
const MOST_CONNECTIONS: usize = 16;

/// What connections had been told and had not written when others opened the session: it was counted for them, in case they
/// do not live to write it. One that does takes it back, and counts it itself.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Ahead(Vec<OfConnection>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct OfConnection {
    connection: String,
    costs: Costs,
}

impl Ahead {
    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// So much more was counted ahead of this connection.
    pub(super) fn add(&mut self, connection: &str, costs: &Costs) {
        let mut all = self.take(connection);
        all.add_all(costs);
        if self.0.len() >= MOST_CONNECTIONS {
            self.0.remove(0);
        }
        self.0.push(OfConnection { connection: connection.to_owned(), costs: all });
    }

    /// This connection writes what it was told: so much was counted ahead of it, and is not any more.
    pub(super) fn take(&mut self, connection: &str) -> Costs {
        let place = self.0.iter().position(|known| known.connection == connection);
        place.map(|at| self.0.remove(at).costs).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Cost;

    #[test]
    fn what_was_counted_ahead_is_taken_once_and_remembered_of_the_last_few() {
        let mut costs = Costs::default();
        costs.add(&Cost::read(r#"{"amount":0.5,"currency":"USD"}"#).unwrap());
        let mut ahead = Ahead::default();
        for number in 0..=MOST_CONNECTIONS {
            ahead.add(&number.to_string(), &costs);
            ahead.add("often", &costs);
        }
        let amount = |costs: Costs| costs.of("USD").map(|amount| amount.to_string());
        assert_eq!(["0", "1", "2"].map(|of| amount(ahead.take(of))), [None, None, Some("0.5".to_owned())]);
        let often = Some(format!("{}.5", MOST_CONNECTIONS / 2));
        assert_eq!(["often", "often"].map(|of| amount(ahead.take(of))), [often, None]);
    }
}
