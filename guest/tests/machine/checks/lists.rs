//! What the list shows agrees with the record, the log and the agent.

use std::collections::BTreeMap;

use acp_sessions_guest::storage::{Memory, Storage};
use acp_sessions_guest::store::{ActivityState, Row, Session, Store, keys};
use acp_sessions_guest::time;
use acp_sessions_guest::transcript::{Entry, Kind as EntryKind};
use serde_json::Value;

use super::ALL;
use super::gaps::{is_given_again, may_have_twins};
use crate::disk::Kept;
use crate::ground::{Broke, Ground};
use crate::kind::{Kind, Trait};
use crate::talk::{Life, Talk};

/// The rows of a whole list.
pub(crate) fn listed(talk: &Talk, memory: &Memory, rows: &[Value]) -> Vec<Broke> {
    let store = Store::new(memory);
    let mut broken = Vec::new();
    let ids: Vec<&str> = rows.iter().filter_map(|row| row["sessionId"].as_str()).collect();
    let mut before = None;
    for (at, row) in rows.iter().enumerate() {
        let id = row["sessionId"].as_str().unwrap_or_default();
        if ids[..at].contains(&id) {
            broken.push(Broke::new("list", format!("`{id}` is listed twice")));
        }
        let record = store.session(id).ok().flatten();
        let text = record.as_ref().map(Row::text);
        let state = row["state"].as_str().and_then(ActivityState::of_name);
        let expected = text
            .as_deref()
            .and_then(Row::parse)
            .and_then(|row| serde_json::from_str::<Value>(&row.extended(state)).ok());
        if state.is_some() && !is_marked(memory, id) {
            broken.push(Broke::new("state", format!("nobody has it open, and the row is {row}")));
        }
        if expected.as_ref() != Some(row) {
            broken.push(Broke::new("list", format!("the row {row} is not that of the record, {expected:?}")));
        }
        let stands = record.as_ref().map(Session::recency);
        if before.is_some_and(|before| stands > Some(before)) {
            broken.push(Broke::new("order", format!("prompted later than the one before it: {row}")));
        }
        before = stands.or(before);
        let is_known = !talk.some_agent_lists && !talk.was_set_back;
        let ended = last_turn_end(memory, id).filter(|_| is_known);
        for member in ["updatedAt", "lastTurnEndedAt"] {
            let shown = row[member].as_str().and_then(time::parse);
            // What a fork's own log begins with may be a copy of its parent's turns.
            if member == "lastTurnEndedAt" && shown.is_none() && row["forkedFrom"].is_string() {
                continue;
            }
            if ended.is_some_and(|ended| shown.is_none_or(|shown| shown < ended)) {
                broken.push(Broke::new("time", format!("a turn ended at {ended:?}, the row is {row}")));
            }
        }
        let wanted = talk.sessions.get(id).and_then(|session| session.title.as_deref());
        if wanted.is_some_and(|wanted| row["title"] != wanted) {
            broken.push(Broke::new("title", format!("the user called it {wanted:?}, the row is {row}")));
        }
        if row["title"].as_str().is_some_and(|title| title.contains("Earlier conversation")) {
            broken.push(Broke::new("own-text", format!("the title is the layer's own text: {row}")));
        }
    }
    broken.extend(twins(talk, &store, &ids));
    let here = talk.sessions.iter().filter(|(_, session)| session.life == Life::Here);
    for (id, session) in here {
        let is_outside = talk.made_outside.contains(id) && !talk.gone_outside.contains(id);
        // The agent may have said that it has no such session.
        let is_denied = talk.some_agent_forgets || talk.deleted_elsewhere.contains(id);
        let is_kept = session.is_kept_outside && is_outside && !is_denied;
        let must = is_kept || talk.required(id).iter().any(|(_, marks)| !marks.is_empty());
        if must && !ids.contains(&id.as_str()) {
            broken.push(Broke::new("vanished", format!("`{id}` is not listed any more")));
        }
    }
    broken
}

/// No two of these are one session of an agent's, unless its programs hand out ids again.
fn twins(talk: &Talk, store: &Store<&Memory>, ids: &[&str]) -> Vec<Broke> {
    if may_have_twins(talk) {
        return Vec::new();
    }
    let records = ids.iter().filter_map(|id| store.session(id).ok().flatten());
    let mut seen = BTreeMap::new();
    let mut broken = Vec::new();
    for record in records {
        let counting = |agent: &str| talk.counting.iter().any(|name| name.unwrap_or("unnamed") == agent);
        for (agent, known) in record.agents.iter().filter(|(agent, _)| !counting(agent)) {
            if let Some(twin) = seen.insert((agent.clone(), known.id.clone()), record.id.clone()) {
                let text = format!("`{twin}` and `{}` are both `{}` of the agent {agent}", record.id, known.id);
                broken.push(Broke::new("twins", text));
            }
        }
    }
    broken
}

/// Whether some connection has said that it has the session open.
fn is_marked(memory: &Memory, id: &str) -> bool {
    let marks = keys::open_marks(id);
    memory.scan(&marks, &keys::range_end(&marks), false, ALL).is_ok_and(|page| !page.entries.is_empty())
}

/// When the agent has last ended a turn in a session's own log. One that was cut off is ended when somebody finds it so.
fn last_turn_end(memory: &Memory, id: &str) -> Option<i64> {
    let entries = memory.read_log(id, 1, ALL).ok()?.entries;
    let entries = entries.iter().rev().filter_map(|entry| Entry::parse(&entry.value));
    entries
        .filter(|entry| entry.kind == EntryKind::TurnEnd && entry.json.contains("end_turn"))
        .map(|entry| entry.time)
        .next()
}

/// Where the agent has a list, its titles are shown, unless the user has set another.
pub(crate) fn titles(ground: &mut Ground, memory: &Memory, kind: Kind, rows: &[Value]) -> Vec<Broke> {
    let store = Store::new(memory);
    let Some(name) = kind.name() else { return Vec::new() };
    let kept: Vec<(String, Kept)> = ground.disk(kind).sessions.clone().into_iter().collect();
    let is_of_agent = |row: &&Value| row["_meta"]["acp-sessions"]["agent"] == name;
    let mut broken = Vec::new();
    for row in rows.iter().filter(is_of_agent) {
        let id = row["sessionId"].as_str().unwrap_or_default();
        let Some(session) = ground.talk.sessions.get(id).filter(|session| !session.is_titled) else { continue };
        // One that the agent has begun anew is named as the new one is.
        let record = store.session(id).ok().flatten();
        let is_its_own = |own: &str| record.as_ref().is_some_and(|record| record.id_at(name) == Some(own));
        let is_it = |(own, kept): &&(String, Kept)| {
            let is_called_so = match &kept.layers {
                Some(layers) => layers == id,
                None => own == id && kept.outside && !session.is_made_here,
            };
            is_called_so && is_its_own(own) && !is_given_again(&ground.talk, &store, name, own, id)
        };
        let own: Vec<_> = kept.iter().filter(is_it).collect();
        let [(_, own)] = own.as_slice() else { continue };
        let Some(title) = own.title.as_deref().map(str::trim).filter(|title| !title.contains('\n')) else { continue };
        if row["title"].as_str().map(str::trim) != Some(title) {
            broken.push(Broke::new("agents-title", format!("the agent calls it {title:?}, the row is {row}")));
        }
    }
    broken
}

/// What is archived here and at an agent that can archive, and has been asked for its list, is the same.
pub(crate) fn archived(ground: &mut Ground, memory: &Memory, kind: Kind, rows: &[Value]) -> Vec<Broke> {
    let is_exact = kind.is(Trait::Archive) && ground.talk.counting.is_empty();
    let Some(name) = kind.name().filter(|_| is_exact) else { return Vec::new() };
    let store = Store::new(memory);
    let kept = &ground.disk(kind).sessions;
    let mut broken = Vec::new();
    for row in rows {
        let record = store.session(row["sessionId"].as_str().unwrap_or_default()).ok().flatten();
        let own = record.as_ref().and_then(|record| record.id_at(name)).and_then(|id| kept.get(id));
        if let Some(own) = own.filter(|own| row["archived"] != own.archived) {
            broken.push(Broke::new("archived", format!("at the agent it is {}, the row is {row}", own.archived)));
        }
    }
    broken
}

/// A session is found by a word that was said in it, if it is there.
pub(crate) fn found(session: &str, is_here: bool, word: &str, rows: &[Value]) -> Option<Broke> {
    let is_found = rows.iter().any(|row| row["sessionId"] == session);
    let text = format!("`{session}` is found by {word}: {is_found}, and it is there: {is_here}");
    (is_found != is_here).then(|| Broke::new("search", text))
}

/// The first list over an agent whose own list was never read has its sessions.
pub(crate) fn early(ground: &mut Ground, kind: Kind, rows: &[Value]) -> Vec<Broke> {
    let may_be_gone = ground.talk.sessions.values().any(|session| session.life != Life::Here);
    if !kind.is(Trait::List) || kind.forgets() || may_be_gone {
        return Vec::new();
    }
    let own = ground.disk(kind).sessions.iter().filter(|(_, kept)| kept.outside).count();
    let listed =
        rows.iter().filter(|row| row["_meta"]["acp-sessions"]["agent"] == kind.name().unwrap_or_default()).count();
    let text = format!("of the {own} sessions that the agent has, the first list shows {listed}");
    if listed < own { vec![Broke::new("early", text)] } else { Vec::new() }
}
