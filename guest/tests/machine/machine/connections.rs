//! How connections begin and end.

use serde_json::json;

use acp_sessions_guest::engine::{Content, Peer};

use super::{Connection, Machine};
use crate::agent::Agent;
use crate::case::{Deed, End, How};
use crate::checks;
use crate::client::{Asked, Client};
use crate::faults::Shaky;
use crate::host::{Broken, Host};
use crate::kind::{Kind, Trait};

impl Machine<'_> {
    /// What kind of agent the next connection has.
    pub(super) fn next_kind(&self) -> Kind {
        self.kinds[self.starts % self.kinds.len()]
    }

    /// Has a connection begin, if there is none.
    pub(super) fn started(&mut self, line: u8) {
        if self.lines[usize::from(line)].is_none() {
            let kind = self.next_kind();
            self.starts += 1;
            self.start(line, kind);
        }
    }

    pub(super) fn start(&mut self, line: u8, kind: Kind) {
        self.has_failed[usize::from(line)] = false;
        let storage = Shaky { memory: &self.bench.memory, faults: &self.bench.faults };
        let host = match Host::open(storage, &self.bench.world, self.settings()) {
            Ok(host) => host,
            Err(Broken::NotOpened | Broken::Killed) => return,
            Err(Broken::Panicked(text)) => return self.ground.broke("panic", text),
        };
        if kind.is(Trait::List) {
            self.lists_read.extend(kind.name());
        }
        self.ground.talk.some_agent_loads |= kind.is(Trait::Load);
        self.ground.talk.some_agent_lists |= kind.is(Trait::List);
        if kind.counts_anew() {
            self.ground.talk.counting.insert(kind.name());
        }
        let is_asked_by_id = [Trait::Load, Trait::Resume, Trait::Fork].into_iter().any(|way| kind.is(way));
        if is_asked_by_id {
            self.ground.talk.asked_by_id.insert(kind.name());
        }
        self.ground.talk.some_agent_forgets |= kind.forgets() && (kind.is(Trait::List) || is_asked_by_id);
        let agent = Agent::start(kind, &mut self.ground);
        let mut client = Client::default();
        client.trusts_lists = !kind.forgets();
        let hello = client.request("initialize", &json!({"protocolVersion": 1}), Asked::Initialize);
        let open = Connection { host, client, agent, pile: Vec::new(), pile_left: 0 };
        self.lines[usize::from(line)] = Some(open);
        self.note(|| format!("-- connection {line} begins: {kind:?}"));
        self.deliver(line, Peer::Client, vec![Content::Line(hello)]);
        if !kind.is(Trait::StartsSlowly) {
            self.act(line, Deed::Answer(0, How::Well));
        }
    }

    fn settings(&self) -> Vec<(String, String)> {
        let retains = self.retains.then(|| ("retain-days".to_owned(), "1".to_owned()));
        retains.into_iter().collect()
    }

    pub(super) fn end(&mut self, line: u8, end: End) {
        if self.lines[usize::from(line)].is_none() {
            return;
        }
        if end == End::Killed {
            self.lines[usize::from(line)] = None;
            self.ground.talk.cut_off(line);
            return;
        }
        self.flush_pile(line);
        if let End::Eof(answers) = end {
            if let Some(open) = &mut self.lines[usize::from(line)] {
                open.client.has_left = true;
            }
            self.with_host(line, |host| host.peer_closed(Peer::Client));
            for _ in 0..answers {
                self.act(line, Deed::Answer(0, How::Well));
            }
            self.flush_pile(line);
        }
        self.with_host(line, |host| host.peer_closed(Peer::Agent));
        self.with_host(line, |host| host.peer_closed(Peer::Client));
        if let Some(open) = &mut self.lines[usize::from(line)] {
            open.client.is_over = true;
        }
        self.with_host(line, Host::idle);
        if let Some(open) = self.lines[usize::from(line)].take() {
            self.ground.extend(checks::answered(&open.client, &open.agent, true));
        }
        self.ground.talk.cut_off(line);
    }
}
