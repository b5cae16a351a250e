//! A list as a client keeps it that follows it: the pages of a subscription, and what is told of it since (draft: session
//! list extensions).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Value, json};

use crate::PATIENCE;
use crate::client::Client;

/// The rows that a subscription has given.
#[derive(Debug)]
pub struct Followed {
    subscription: String,
    params: Value,
    /// By session.
    rows: BTreeMap<String, Value>,
    /// What was told since it began.
    pub told: Told,
    /// Rows that were older than what had come before, a line each.
    pub findings: Vec<String>,
}

/// What notifications have told.
#[derive(Debug, Default)]
pub struct Told {
    /// How many `session/list/changes` came.
    pub lines: usize,
    /// How many `session/list/resync` came.
    pub resyncs: usize,
    /// The sessions of which rows came.
    pub changed: BTreeSet<String>,
    /// The sessions that were removed.
    pub removed: BTreeSet<String>,
}

impl Followed {
    /// Subscribes and reads all pages.
    pub fn begin(client: &mut Client, params: Value) -> Self {
        let mut page = client.result("session/list/subscribe", params.clone());
        let subscription = page["subscriptionId"].as_str().expect("an id").to_owned();
        let (rows, told, findings) = (BTreeMap::new(), Told::default(), Vec::new());
        let mut followed = Self { subscription, params, rows, told, findings };
        followed.read(client, &mut page);
        followed
    }

    /// Ends the subscription.
    pub fn end(self, client: &mut Client) {
        let result = client.result("session/list/unsubscribe", json!({"subscriptionId": self.subscription}));
        assert_eq!(result, json!({}));
    }

    /// The row of a session, or null.
    pub fn row(&self, session: &str) -> &Value {
        self.rows.get(session).unwrap_or(&Value::Null)
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Forgets what was told up to now, and says what it was.
    pub fn take_told(&mut self) -> Told {
        std::mem::take(&mut self.told)
    }

    /// Takes in what is told until it is so.
    pub fn wait(&mut self, client: &mut Client, what: &str, is_so: impl Fn(&Self) -> bool) {
        self.apply(client);
        while !is_so(self) {
            assert!(client.hear(PATIENCE), "nothing came for {PATIENCE:?}, and it was not told that {what}: {self:#?}");
            self.apply(client);
        }
    }

    /// Takes in what is told until the list is the one that is read afresh, but for when its sessions were last active.
    /// Nothing must be done to it any more.
    pub fn settle(&mut self, client: &mut Client) {
        let differences = self.settled(client);
        assert!(differences.is_empty(), "nothing came for {PATIENCE:?}, and it is not the list:\n{differences:#?}");
    }

    /// The same; returns what is still not as in the list when nothing comes any more.
    pub fn settled(&mut self, client: &mut Client) -> Vec<String> {
        loop {
            let fresh = self.fresh(client);
            let differences = self.differences(&fresh);
            if differences.is_empty() || !client.hear(PATIENCE) {
                return differences;
            }
        }
    }

    /// Takes in what is told, for as long if nothing comes.
    pub fn listen(&mut self, client: &mut Client, patience: Duration) {
        client.hear(patience);
        self.apply(client);
    }

    /// The list that is read afresh.
    fn fresh(&mut self, client: &mut Client) -> BTreeMap<String, Value> {
        let mut rows = BTreeMap::new();
        let mut params = self.params.clone();
        loop {
            let mut page = client.result("session/list", params.clone());
            self.apply(client);
            rows.extend(rows_of(page["sessions"].take()));
            match page["nextCursor"].take() {
                Value::Null => return rows,
                cursor => params["cursor"] = cursor,
            }
        }
    }

    fn differences(&self, fresh: &BTreeMap<String, Value>) -> Vec<String> {
        let ids: BTreeSet<&String> = self.rows.keys().chain(fresh.keys()).collect();
        let but_for_activity = |row: Option<&Value>| {
            let mut row = row?.clone();
            row.as_object_mut()?.remove("updatedAt");
            Some(row)
        };
        let differ = |id: &&String| but_for_activity(self.rows.get(*id)) != but_for_activity(fresh.get(*id));
        let tell = |id: &String| {
            let tell = |row: Option<&Value>| row.map_or("no row".to_owned(), Value::to_string);
            format!("{id}: kept {}, listed {}", tell(self.rows.get(id)), tell(fresh.get(id)))
        };
        ids.into_iter().filter(differ).map(tell).collect()
    }

    /// Takes in a page and those that follow it.
    fn read(&mut self, client: &mut Client, page: &mut Value) {
        loop {
            // What was told before the page came is older.
            self.apply(client);
            self.put(page["sessions"].take());
            let cursor = page["nextCursor"].take();
            if cursor.is_null() {
                return;
            }
            let mut params = self.params.clone();
            params["cursor"] = cursor;
            *page = client.result("session/list", params);
        }
    }

    /// Takes in what was told and has come. Where it is to be read anew, that is done.
    fn apply(&mut self, client: &mut Client) {
        let own = self.subscription.clone();
        let mut is_stale = false;
        for (method, mut params) in client.take_notified(|_, params| params["subscriptionId"] == own.as_str()) {
            match method.as_str() {
                "session/list/changes" => {
                    self.told.lines += 1;
                    for (id, _) in rows_of(params["sessions"].clone()) {
                        self.told.changed.insert(id);
                    }
                    self.put(params["sessions"].take());
                    for id in params["removed"].as_array().expect("ids") {
                        let id = id.as_str().expect("an id");
                        self.rows.remove(id);
                        self.told.removed.insert(id.to_owned());
                    }
                }
                "session/list/resync" => {
                    self.told.resyncs += 1;
                    is_stale = true;
                }
                other => panic!("{other} of a subscription"),
            }
        }
        if is_stale {
            self.rows.clear();
            let mut page = client.result("session/list", self.params.clone());
            self.read(client, &mut page);
        }
    }

    /// Puts rows in the place of those that were there, and notes those that are older.
    fn put(&mut self, rows: Value) {
        for (id, row) in rows_of(rows) {
            if let Some(before) = self.rows.get(&id)
                && is_older(&row, before)
            {
                self.findings.push(format!("behind {before} came {row}"));
            }
            self.rows.insert(id, row);
        }
    }
}

fn rows_of(rows: Value) -> impl Iterator<Item = (String, Value)> {
    let Value::Array(rows) = rows else { panic!("no rows: {rows}") };
    rows.into_iter().map(|row| (row["sessionId"].as_str().expect("an id").to_owned(), row))
}

/// Whether a session was later, by its row, than this row has it: its turns, or its title where its users number them.
fn is_older(row: &Value, before: &Value) -> bool {
    let time = |row: &Value, member: &str| row[member].as_str().map(str::to_owned);
    let number = |row: &Value| row["title"].as_str()?.strip_prefix(NUMBERED)?.parse::<u64>().ok();
    ["lastPromptAt", "lastTurnEndedAt"].iter().any(|member| time(row, member) < time(before, member))
        || number(row) < number(before)
}

/// How titles begin that are only ever given with a higher number than before.
pub const NUMBERED: &str = "Title no. ";
