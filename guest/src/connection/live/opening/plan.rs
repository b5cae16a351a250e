//! Which ways of opening a session are tried, and what the client is shown meanwhile.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::mixed::Mixed;
use super::{Before, Comparing, OpenRequest, Opening, Others, Target, Wanted};
use crate::connection::cx::Cx;
use crate::connection::key::Key;
use crate::connection::live::staging::Staging;
use crate::connection::showing::Showing;
use crate::connection::step::Step;
use crate::environment::Environment;
use crate::rpc::{Code, RpcError};
use crate::sessions::mend;
use crate::storage::{Storage, StorageError};
use crate::store::{Known, Origin, Session, State, keys};
use crate::transcript::is_any_said;

/// How the history of a session is to be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// From the log, which holds all that was said as far as anybody can tell.
    Log,
    /// From the log after it was compared with what the agent tells.
    Compared,
    /// From the agent, which alone has it.
    Agent,
}

/// Why the agent cannot be asked for a session that is not its own.
fn reason_to_begin(session: &Session, known: Option<&Known>, target: &Target, agent: &str) -> Option<RpcError> {
    let other = session.agent.as_deref().filter(|other| *other != agent);
    let other = other.filter(|_| known.is_none() && !target.is_fork())?;
    Some(RpcError::new(Code::InternalError, format!("it was made with another agent, {other}")))
}

impl Opening {
    /// A plan for it.
    pub(in crate::connection::live) fn planned<S: Storage, E: Environment>(
        key: &Key,
        target: Target,
        asked: OpenRequest,
        state: &State,
        before: Before,
        cx: &mut Cx<'_, S, E>,
    ) -> Result<Self, RpcError> {
        // The agent itself has it open.
        let was_open = matches!(before, Before::Open | Before::OpenOtherwise | Before::OpenForNobody);
        let is_otherwise = before == Before::OpenOtherwise;
        let session = target.session();
        asked.wanted.check_layout(session)?;
        let known = match session.agents.get(&cx.agent.name) {
            // What it has open goes by the id it has.
            Some(known) if was_open || is_its_own(cx, session, known)? => Some(known),
            _ => None,
        };
        let asks_as = known.map(|known| known.id.clone());
        let is_unwritten = before == (Before::Detached { is_written: false });
        // Who asks for a history is to see what was said without the layer.
        let knows_list = if asked.wanted.is_history() { cx.has_recent_list() } else { cx.knows_list };
        let goes_on = was_open || target.is_fork();
        let (believed, is_at_work) = believed(session, known, (goes_on, knows_list), cx)?;
        let source = match believed {
            // The agent may have more than the log for a moment, or the other way round, or the store did not take all that was said.
            Source::Compared if is_unwritten || is_at_work => Source::Log,
            source => source,
        };
        let log_ended_at = cx.store.storage().log_end(&session.id)?;
        let is_log_empty = session.segments.is_empty() && log_ended_at < session.tail;
        // Who asks for nothing to be shown does not have the agent tell what it alone has, but the engine does.
        let is_wanted = asked.wanted.is_history() || asked.request.is_none() && !is_otherwise;
        let tells = !target.is_fork() && (source == Source::Compared || (source == Source::Agent && is_wanted));
        let is_telling_first = tells && asks_as.is_some() && cx.agent.load;
        let asks = asks_as.as_deref().unwrap_or_default();
        let (staging, tells) = match is_telling_first.then(|| Staging::begin(session, asks, cx)).transpose() {
            // Where nothing can be written what the agent tells cannot be compared: the log is what there is.
            Err(error) if error.is_not_to_write() && source == Source::Compared => (None, false),
            staging => (staging?, tells),
        };
        let mut plan = ways(&target, tells || is_at_work && !goes_on && believed == Source::Compared);
        let agent = cx.agent;
        plan.retain(|step| match step {
            Step::Resume => asks_as.is_some() && agent.resume && (!was_open || is_otherwise),
            Step::Load => asks_as.is_some() && agent.load,
            Step::Fork => asks_as.is_some() && agent.fork,
            // A session of which nothing is here is not replaced by an empty one where the agent can be asked for it.
            Step::New => match target {
                Target::Fork(..) => true,
                Target::Known(_) => !was_open && (source != Source::Agent || !is_log_empty || asks_as.is_none()),
                Target::Unknown(_) | Target::ForkOfUnknown(_) => false,
            },
        });
        if plan.is_empty() && matches!(target, Target::Known(_)) && !was_open {
            plan.push_back(Step::New);
        }
        // Until the agent says that its user is logged in, nobody is shown anything.
        let is_ready = staging.is_none() && !cx.needs_login && !target.is_fork();
        let showing = if is_ready { shown_at_once(&asked.wanted, session, cx)? } else { None };
        let heard = known.map_or(0, |known| session.heard_under_any_name(&agent.name, &known.id));
        let is_told_in_vain = asks_as.as_deref().is_some_and(|id| cx.requests.is_told_in_vain(id));
        // An agent that tells it all the same need not be told it again.
        let comparing = match (believed, source) {
            (Source::Compared, Source::Log) => {
                let is_told = !is_unwritten && plan.front() == Some(&Step::Load);
                let is_overheard = is_told && is_any_said(cx.store.storage(), session, heard)?;
                if is_overheard { Comparing::Overheard } else { Comparing::PutOff }
            }
            _ => Comparing::NowIfEver,
        };
        let shows_telling = staging.is_some() && is_log_empty && asked.wanted.is_conversation() && !is_told_in_vain;
        let staging = match comparing {
            // Where nothing can be written it is told more than it needs.
            Comparing::Overheard => Staging::begin(session, asks_as.as_deref().unwrap_or_default(), cx).ok(),
            Comparing::NowIfEver | Comparing::PutOff => staging,
        };
        debug_assert!(key.id().is_some() || target.is_fork());
        Ok(Self {
            request: asked.request,
            rest: asked.rest,
            wanted: asked.wanted,
            asks_as,
            before,
            found_in: (session.cwd.clone(), session.directories.clone()),
            log_ended_at,
            plan,
            current: None,
            made_behind: None,
            opened_within: None,
            listed_as_asked: known.and_then(|known| known.listed),
            alive: cx.running(),
            reason: reason_to_begin(session, known, &target, &agent.name),
            put_back: state.clone(),
            state_of_parent: super::StateOfParent::of(&target, cx),
            restoring: BTreeMap::new(),
            awaits_earlier: false,
            mixed: Mixed::No,
            others: Others::Unawaited,
            attached: None,
            showing,
            has_told: false,
            tells_on: super::TellsOn::default(),
            answered: None,
            behind_answer: super::BehindAnswer::default(),
            questions: super::Questions::default(),
            meanwhile: super::Meanwhile::default(),
            shows_telling,
            staging,
            comparing,
            turns_told: BTreeSet::new(),
            overheard: None,
            heard,
            later: Vec::new(),
            infos: VecDeque::new(),
            title_told: None,
            target,
        })
    }
}

/// What of its history is to be shown, where that need not wait for the agent.
fn shown_at_once<S: Storage, E: Environment>(
    wanted: &Wanted,
    session: &Session,
    cx: &Cx<'_, S, E>,
) -> Result<Option<Showing>, RpcError> {
    let Wanted::History { part, start, .. } = wanted else { return Ok(None) };
    Ok(Some(Showing::open(cx.store, session, *part, start.clone(), cx.asked)?))
}

/// The ways to open it, the best first; `tells`: its history is wanted of the agent.
fn ways(target: &Target, tells: bool) -> VecDeque<Step> {
    match target {
        Target::Fork(..) => [Step::Fork, Step::New].into(),
        Target::ForkOfUnknown(_) => [Step::Fork].into(),
        _ if tells => [Step::Load, Step::Resume, Step::New].into(),
        _ => [Step::Resume, Step::Load, Step::New].into(),
    }
}

/// Whether the id that the agent is said to know a session by is still that session's. An agent that has handed it out
/// again has another session by it now, and this one may have another open by it, which its name's other program made.
fn is_its_own<S: Storage, E: Environment>(
    cx: &Cx<'_, S, E>,
    session: &Session,
    known: &Known,
) -> Result<bool, StorageError> {
    let open = cx.by_agent.get(known.id.as_str()).and_then(Key::id);
    let holder = cx.store.record(keys::agent_session(&cx.agent.name, &known.id))?;
    let is_this = |id: &str| id == session.id;
    Ok(open.is_none_or(is_this) && holder.as_deref().is_none_or(is_this))
}

/// Where the history is to be had from, and whether another window is at a turn. `goes_on`: the agent goes on with what it has open.
fn believed<S: Storage, E: Environment>(
    session: &Session,
    known: Option<&Known>,
    (goes_on, knows_list): (bool, bool),
    cx: &Cx<'_, S, E>,
) -> Result<(Source, bool), StorageError> {
    let may_tell = known.is_some() && cx.agent.load;
    let may_be_left = |known: Option<&Known>| may_tell && known.is_some_and(|known| known.left.is_some());
    let is_at_work = may_tell && mend::is_at_work_elsewhere(cx.store, &session.id, cx.connection, cx.now())?;
    Ok(match source(session, known, knows_list, cx) {
        // What goes on is the agent's branch that was written to last, and what was said in this window may stand on another. What the
        // agent tells shows it.
        Source::Log if (is_at_work || may_be_left(known)) && !goes_on => (Source::Compared, is_at_work),
        source => (source, is_at_work),
    })
}

/// Where the history is, as far as can be told before the agent is asked. `knows_list`: what the record has of the agent's own
/// list may be gone by.
fn source<S: Storage, E: Environment>(
    session: &Session,
    known: Option<&Known>,
    knows_list: bool,
    cx: &Cx<'_, S, E>,
) -> Source {
    let Some(known) = known else { return Source::Log };
    if session.origin == Origin::Agent {
        return Source::Agent;
    }
    // Only an agent's own list tells that nothing was said without the layer, and only once it has been read.
    if !cx.agent.load || knows_list && known.agrees() { Source::Log } else { Source::Compared }
}
