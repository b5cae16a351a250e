//! What an agent knows better of a session that is listed already.

use super::found::Found;
use super::row::Row;
use crate::store::{AsOf, AskedAt, Known, Origin, Session, Title, Word};

/// What an agent writes within this time after a turn is about that turn, in milliseconds.
const SOON: i64 = 60_000;
/// So much earlier an agent may say that a turn ended than is known here, in milliseconds: it gives whole seconds, or ends it
/// before its answer is here.
const ABOUT: i64 = 1000;

/// When it was last active. An earlier time than is known here counts where nothing was said in it through the layer, and
/// its agent alone knows it.
fn follow_activity(session: &mut Session, agent: &str, updated: i64, now: i64) {
    let is_agents = (session.origin == Origin::Agent || session.began_elsewhere())
        && session.prompts == 0
        && session.agent.as_deref() == Some(agent);
    session.note_existed(updated);
    if updated > session.updated || is_agents {
        session.date(updated, now);
    }
}

/// When it was last prompted, and how that ended, where the agent knows no earlier ones than are known here.
fn follow_turns(session: &mut Session, agent: &str, row: &Row, now: i64) {
    let [prompted, ended] = [row.prompted, row.turn_ended].map(|at| at.filter(|at| *at <= now));
    if let Some(prompted) = prompted.filter(|at| Some(*at) >= session.prompted) {
        session.prompt_elsewhere(prompted);
    } else if row.prompted.is_none()
        && session.agents.get(agent).is_some_and(Known::has_moved_on_by_itself)
        && row.updated.filter(|at| *at <= now).zip(session.turn_ended).is_some_and(|(at, ended)| at > ended + SOON)
    {
        // It was gone on with elsewhere, and when is not said: its last activity is the best that is known. What was said here
        // between turns, which is activity too, is no sign of that.
        session.prompted = None;
    }
    if let Some(ended) = ended.filter(|at| Some(*at) > session.turn_ended) {
        session.turn_ended = Some(ended);
    }
    follow_model(session, row, now);
}

/// The model of its last turn, whenever that is another one, unless the row is older than the last turn that is known here:
/// its user may have chosen another model for that. How old it is the end of its last turn says, or else its last activity.
/// One that says neither counts as long as all turns are the agent's own. What is chosen here for the next turn is in the
/// session's state, which no row changes.
fn follow_model(session: &mut Session, row: &Row, now: i64) {
    let Some(model) = &row.model else { return };
    let of = row.turn_ended.or(row.updated).filter(|at| *at <= now);
    let is_older = session.turn_ended.is_some_and(|known| of.map_or(session.prompts > 0, |of| of + ABOUT < known));
    if !is_older {
        session.model = Some(model.clone());
    }
}

/// Its further directories, unless the agent's list says what it said, or was told, before they became others here.
fn follow_directories(session: &mut Session, agent: &str, directories: &[String]) {
    let Some(known) = session.agents.get_mut(agent) else { return };
    match known.overtaken.said(directories, &session.directories) {
        Word::News => session.directories = directories.to_vec(),
        Word::Overtaken => {}
    }
}

/// Its title, unless a user has set one, a later activity, its further directories, unless it has just been opened here
/// with others, and whether it is put away. Of the last two changes to that, one here and one at the agent, the later one
/// counts: the agent has made one where its list says another thing than it said, or was told, before. What a list says of what is
/// known since it was asked for is no news: another window has read a later one, or the agent has told it by itself, or has followed.
///
/// Returns the session as it shall be, if that is another than it is.
pub(super) fn refresh(session: &Session, agent: &str, row: &Row, is_open: bool, now: i64) -> (Found, Option<Session>) {
    let mut fresh = session.clone();
    // What it says of one that it began anew since is not about this one any more.
    let is_current = session.id_at(agent) == Some(&row.agent_id);
    let as_of = session.agents.get(agent).map_or(AsOf::default(), |known| known.as_of);
    let list = AskedAt { at: row.asked, now };
    let is_news = is_current && as_of.may_be_news(list);
    let title = row.title.as_ref().filter(|_| is_current && as_of.may_be_other_title(list));
    if let (Title::None | Title::Auto(_) | Title::Agent(_), Some(title)) = (&session.title, title) {
        fresh.title = Title::Agent(title.clone());
    }
    let is_told = session.agents.get(agent).is_some_and(|known| known.told_title);
    let named = match &session.title {
        Title::Set(title) if is_current && !is_told && !row.is_named(title) => Some(title.clone()),
        _ => None,
    };
    if let Some(updated) = row.updated.filter(|_| is_news) {
        // A time to come orders nothing, but that it is another one says that something was said.
        if updated <= now {
            follow_activity(&mut fresh, agent, updated, now);
        }
        if let Some(known) = fresh.agents.get_mut(agent) {
            known.listed = Some(updated);
        }
    }
    if let Some(known) = fresh.agents.get_mut(agent).filter(|_| is_news) {
        known.untimed = row.updated.is_none();
    }
    if is_news {
        follow_turns(&mut fresh, agent, row, now);
    }
    // What an agent has begun in its place is younger than the session.
    let is_earlier = |at: &i64| fresh.began_elsewhere() && *at < fresh.created;
    fresh.create_at(row.created.filter(|at| session.origin == Origin::Agent || is_earlier(at)));
    if let Some(directories) = row.directories.as_ref().filter(|_| is_news && !is_open) {
        follow_directories(&mut fresh, agent, directories);
    }
    let mut put_away = None;
    let archived = row.archived.filter(|_| is_current && as_of.may_be_moved(list));
    if let (Some(archived), Some(known)) = (archived, fresh.agents.get_mut(agent)) {
        known.archived_as_told = false;
        if known.archived != archived {
            known.archived = archived;
            fresh.archived = archived;
        } else if fresh.archived != archived {
            put_away = Some(fresh.archived);
        }
    }
    fresh.note_dates();
    let is_same = fresh.title == session.title
        && (fresh.prompted, fresh.turn_ended, &fresh.model) == (session.prompted, session.turn_ended, &session.model)
        && (fresh.updated, fresh.undated, fresh.dateless) == (session.updated, session.undated, session.dateless)
        && (fresh.archived, &fresh.directories) == (session.archived, &session.directories)
        && fresh.created == session.created
        && fresh.agents == session.agents;
    if let Some(known) = fresh.agents.get_mut(agent).filter(|_| !is_same && is_news) {
        known.as_of.said(row.asked);
    }
    let found = if named.is_none() && put_away.is_none() {
        Found::Known
    } else {
        Found::Behind { id: session.id.clone(), title: named, archived: put_away }
    };
    (found, (!is_same).then_some(fresh))
}
