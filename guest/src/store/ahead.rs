//! What of a session's cost was counted ahead of those who were told it.

use serde::{Deserialize, Serialize};

use super::cost::Costs;

/// For how many connections it is remembered: a connection that was killed never asks for it.
const MOST_CONNECTIONS: usize = 16;

/// What connections had been told and had not written when others heard of it: it was counted for them, in case they do not live
/// to write it. One that does takes it back, and counts it itself. Where several were at turns, each may have been told some of
/// it, and what one of them takes back the others do not.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Ahead(Vec<OfConnection>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct OfConnection {
    connection: String,
    /// Or of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    others: Vec<String>,
    costs: Costs,
}

impl OfConnection {
    fn is_of(&self, connection: &str) -> bool {
        self.connection == connection || self.others.iter().any(|other| other == connection)
    }

    /// What was counted ahead of the others only; `None` where there is none.
    fn without(mut self, connection: &str) -> Option<Self> {
        self.others.retain(|other| other != connection);
        if self.connection == connection {
            self.connection = self.others.pop()?;
        }
        Some(self)
    }
}

impl Ahead {
    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// So much more was counted ahead of one of these connections, or of several.
    pub(super) fn add(&mut self, connections: &[String], costs: &Costs) {
        let Some((connection, others)) = connections.split_first().filter(|_| !costs.is_empty()) else { return };
        let is_same = |known: &OfConnection| known.connection == *connection && known.others == others;
        let mut all = self.0.iter().position(is_same).map(|at| self.0.remove(at).costs).unwrap_or_default();
        all.add_all(costs);
        if self.0.len() >= MOST_CONNECTIONS {
            self.0.remove(0);
        }
        self.0.push(OfConnection { connection: connection.clone(), others: others.to_vec(), costs: all });
    }

    /// What was counted ahead of this connection, or of it or others.
    pub(super) fn of(&self, connection: &str) -> Costs {
        let mut all = Costs::default();
        self.0.iter().filter(|known| known.is_of(connection)).for_each(|known| all.add_all(&known.costs));
        all
    }

    /// This connection writes what it was told: as much of that as was counted ahead of it is not any more.
    pub(super) fn take(&mut self, connection: &str, told: &Costs) -> Costs {
        let (mut left, mut taken) = (told.clone(), Costs::default());
        if told.is_empty() {
            return taken;
        }
        let (mut own, others): (Vec<_>, Vec<_>) = self.0.drain(..).partition(|known| known.is_of(connection));
        self.0 = others;
        // First what nobody else takes.
        own.sort_by_key(|known| known.others.len());
        for mut known in own {
            for cost in known.costs.within(&left).iter() {
                taken.add(cost);
                left.take(cost);
                known.costs.take(cost);
            }
            self.0.extend(known.without(connection).filter(|known| !known.costs.is_empty()));
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Cost;

    fn dollars(amount: &str) -> Costs {
        let mut costs = Costs::default();
        costs.add(&Cost::read(&format!(r#"{{"amount":{amount},"currency":"USD"}}"#)).unwrap());
        costs
    }

    /// What this connection takes back that writes so much.
    fn take(ahead: &mut Ahead, connection: &str, writes: &str) -> Option<String> {
        ahead.take(connection, &dollars(writes)).of("USD").map(|amount| amount.to_string())
    }

    #[test]
    fn what_was_counted_ahead_is_taken_once_and_remembered_of_the_last_few() {
        let mut ahead = Ahead::default();
        for number in 0..=MOST_CONNECTIONS {
            ahead.add(&[number.to_string()], &dollars("0.5"));
            ahead.add(&["often".to_owned()], &dollars("0.5"));
        }
        assert_eq!(["0", "1", "2"].map(|of| take(&mut ahead, of, "100")), [None, None, Some("0.5".to_owned())]);
        let often = Some(format!("{}.5", MOST_CONNECTIONS / 2));
        assert_eq!(["often", "often"].map(|of| take(&mut ahead, of, "100")), [often, None]);
    }

    #[test]
    fn what_was_counted_ahead_of_one_of_several_they_take_together() {
        let mut ahead = Ahead::default();
        ahead.add(&[], &dollars("4"));
        ahead.add(&["a".to_owned(), "b".to_owned(), "c".to_owned()], &dollars("1"));
        ahead.add(&["a".to_owned()], &dollars("0.25"));
        ahead.add(&["b".to_owned()], &Costs::default());
        let text = serde_json::to_string(&ahead).unwrap();
        let mut ahead: Ahead = serde_json::from_str(&text).unwrap();
        assert_eq!(["a", "b", "x"].map(|of| ahead.of(of)), [dollars("1.25"), dollars("1"), Costs::default()]);
        for (of, writes, taken) in [
            ("x", "1", None),
            ("a", "0.5", Some("0.5")),
            ("a", "1", None),
            ("c", "0.125", Some("0.125")),
            ("b", "2", Some("0.625")),
        ] {
            assert_eq!(take(&mut ahead, of, writes).as_deref(), taken, "{of} {writes}");
        }
    }
}
