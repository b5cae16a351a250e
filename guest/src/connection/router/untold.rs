//! What subscriptions are still to be told of a look that is under way: what its steps find goes on one line for as long as that
//! has room (draft: session list extensions, `session/list/changes`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use crate::rpc;
use crate::sessions::changes::News;

/// The most bytes of rows and ids on a line, but for one row that is longer.
const MOST_ON_A_LINE: usize = (1024 - 16) * 1024;
/// The most bytes that wait, of all subscriptions together.
const MOST_WAITING: usize = 8 * 1024 * 1024;

/// All of it, by subscription.
#[derive(Debug, Default)]
pub(super) struct Untold {
    lines: BTreeMap<String, Line>,
}

/// A line in the making.
#[derive(Debug)]
struct Line {
    /// Its beginning, with the rows so far: a line is not copied when it is told.
    text: String,
    has_rows: bool,
    removed: String,
    /// The sessions that it tells of, of none twice: what came first is not to be seen on a line.
    ids: BTreeSet<String>,
    /// Those of them that it says are removed.
    gone: BTreeSet<String>,
}

impl Line {
    fn begin(subscription: &str) -> Self {
        let head = rpc::notification_head("session/list/changes");
        let text = format!("{head}{{\"subscriptionId\":{},\"sessions\":[", json!(subscription));
        Self { text, has_rows: false, removed: String::new(), ids: BTreeSet::new(), gone: BTreeSet::new() }
    }

    fn add_row(&mut self, row: &str) {
        self.text.push_str(if self.has_rows { "," } else { "" });
        self.text.push_str(row);
        self.has_rows = true;
    }

    fn add_removed(&mut self, id: &str) {
        self.removed.push_str(if self.removed.is_empty() { "" } else { "," });
        self.removed.push_str(id);
    }

    fn length(&self) -> usize {
        self.text.len() + self.removed.len()
    }

    /// It is told as it is.
    fn end(mut self) -> String {
        self.text.push_str("],\"removed\":[");
        self.text.push_str(&self.removed);
        self.text.push_str("]}}");
        self.text
    }
}

impl Untold {
    /// A subscription is to be told this. Gives the lines that are to be told now, because they are full or too much waits.
    pub(super) fn add(&mut self, subscription: &str, news: News) -> Vec<String> {
        let mut told = Vec::new();
        for row in news.rows {
            let line = self.line_for(subscription, &row.id, row.json.len(), &mut told);
            line.add_row(&row.json);
        }
        for id in news.removed {
            // One that has left more than once, and is gone now, left each time: it is said once.
            if self.lines.get(subscription).is_some_and(|line| line.gone.contains(&id)) {
                continue;
            }
            let text = json!(id).to_string();
            let line = self.line_for(subscription, &id, text.len(), &mut told);
            line.add_removed(&text);
            line.gone.insert(id);
        }
        while self.lines.values().map(Line::length).sum::<usize>() > MOST_WAITING {
            let longest = self.lines.iter().max_by_key(|(_, line)| line.length());
            let Some(longest) = longest.map(|(subscription, _)| subscription.clone()) else { break };
            told.extend(self.take(&longest));
        }
        told
    }

    /// The line that something of a session goes on, of so many bytes; the one before is told where it does not.
    fn line_for(&mut self, subscription: &str, id: &str, bytes: usize, told: &mut Vec<String>) -> &mut Line {
        let is_full = |line: &Line| line.ids.contains(id) || line.length() + bytes >= MOST_ON_A_LINE;
        if self.lines.get(subscription).is_some_and(is_full) {
            told.extend(self.take(subscription));
        }
        let line = self.lines.entry(subscription.to_owned()).or_insert_with(|| Line::begin(subscription));
        line.ids.insert(id.to_owned());
        line
    }

    /// Nothing is to come for now that could go on them: all lines, as far as they go.
    pub(super) fn take_all(&mut self) -> Vec<String> {
        let subscriptions: Vec<String> = self.lines.keys().cloned().collect();
        subscriptions.iter().filter_map(|subscription| self.take(subscription)).collect()
    }

    /// Nobody is to be told it any more.
    pub(super) fn forget(&mut self, subscription: &str) {
        self.lines.remove(subscription);
    }

    /// A line as it is told.
    fn take(&mut self, subscription: &str) -> Option<String> {
        self.lines.remove(subscription).map(Line::end)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::sessions::changes::NewRow;

    /// Rows of so many bytes each, and what is removed.
    fn news(ids: &[&str], bytes: usize, removed: &[&str]) -> News {
        let row = |id: &&str| NewRow { id: (*id).to_owned(), json: format!("\"{}\"", "x".repeat(bytes - 2)) };
        News { rows: ids.iter().map(row).collect(), removed: removed.iter().map(|id| (*id).to_owned()).collect() }
    }

    /// How many rows each line has, and what it says is removed.
    fn told(lines: &[String]) -> Vec<(usize, Vec<String>)> {
        let told = |line: &String| {
            let params = serde_json::from_str::<Value>(line).unwrap()["params"].clone();
            let removed = serde_json::from_value(params["removed"].clone()).unwrap();
            (params["sessions"].as_array().unwrap().len(), removed)
        };
        lines.iter().map(told).collect()
    }

    #[test]
    fn a_line_is_told_when_it_is_full() {
        let (mut untold, mut lines) = (Untold::default(), Vec::new());
        for step in 0..30 {
            let ids: Vec<String> = (0..10).map(|nth| format!("{step}.{nth}")).collect();
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            lines.extend(untold.add("s", news(&ids, 10_000, &[])));
        }
        assert!(lines.iter().all(|line| line.len() <= 1 << 20), "a line has room for a MiB");
        assert_eq!(told(&lines), [(103, vec![]), (103, vec![])]);
        assert_eq!(told(&untold.take_all()), [(94, vec![])]);
        assert!(untold.take_all().is_empty());
        // What is longer than that is on a line of its own.
        untold.add("s", news(&["short"], 10, &[]));
        assert_eq!(told(&untold.add("s", news(&["long"], 2 << 20, &["gone"]))), [(1, vec![]), (1, vec![])]);
        assert_eq!(told(&untold.take_all()), [(0, vec!["gone".to_owned()])]);
    }

    #[test]
    fn no_line_tells_of_a_session_twice() {
        let mut untold = Untold::default();
        assert!(untold.add("s", news(&["a", "b"], 10, &["c"])).is_empty());
        assert_eq!(told(&untold.add("s", news(&["d"], 10, &["a"]))), [(3, vec!["c".to_owned()])]);
        assert_eq!(told(&untold.add("s", news(&["a"], 10, &[]))), [(0, vec!["a".to_owned()])]);
        assert!(untold.add("other", news(&["a"], 10, &[])).is_empty());
        assert_eq!(told(&untold.take_all()), [(1, vec![]), (1, vec![])]);
    }

    #[test]
    fn what_has_left_several_times_is_removed_once() {
        let mut untold = Untold::default();
        assert!(untold.add("s", news(&["row"], 10, &["a", "b", "a", "b"])).is_empty());
        assert!(untold.add("s", news(&["other"], 10, &["b", "c"])).is_empty());
        let gone = ["a", "b", "c"].map(str::to_owned).to_vec();
        assert_eq!(told(&untold.take_all()), [(2, gone)]);
    }

    #[test]
    fn however_many_subscriptions_there_are_little_waits() {
        let (mut untold, mut count) = (Untold::default(), 0);
        for nth in 0..128 {
            let subscription = format!("s{nth}");
            for row in 0..9 {
                count += told(&untold.add(&subscription, news(&[&row.to_string()], 100_000, &[]))).len();
            }
            assert!(untold.lines.values().map(Line::length).sum::<usize>() <= MOST_WAITING);
        }
        assert!(count >= 100 && count + untold.take_all().len() == 128, "{count}: none is told in many pieces");
    }
}
