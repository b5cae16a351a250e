//! Whoever applies the pages of a list and what is told of its changes has, at rest, what a fresh list gives.

use std::collections::{BTreeMap, BTreeSet};

use acp_sessions_guest::sessions::changes::{Follower, Scope, SomeChanges};
use acp_sessions_guest::sessions::filter::Request;
use acp_sessions_guest::sessions::list::{self, Agents, Options};
use acp_sessions_guest::sessions::states::AgentsWords;
use acp_sessions_guest::storage::Memory;
use acp_sessions_model::{
    AGENTS, Archived, Change, Intent, Lister as _, Model, Native, Question, Session, strategy, worktrees_of,
};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::Value;

/// A moment that no heartbeat is of.
const NOW: i64 = 0;

/// Whoever keeps a list on the screen: its rows, by session.
#[derive(Debug, Default)]
struct Screen {
    rows: BTreeMap<String, Value>,
}

impl Screen {
    fn show(&mut self, row: &str) {
        let row: Value = serde_json::from_str(row).expect("a row is JSON");
        self.rows.insert(row["sessionId"].as_str().expect("an id").to_owned(), row);
    }

    /// Takes in what was told; `shows`: whether the list shows what is archived, and what is not.
    fn apply(&mut self, scope: &Scope, step: &SomeChanges, shows: impl Fn(bool) -> bool) {
        let news = scope.news(step);
        for id in news.removed {
            self.rows.remove(&id);
        }
        for row in news.rows {
            self.show(&row.json);
        }
        self.rows.retain(|_, row| shows(row["archived"] == true));
    }

    /// The rows without the times of last activity, which alone are no change.
    fn at_rest(&self) -> BTreeMap<String, Value> {
        let mut rows = self.rows.clone();
        for row in rows.values_mut() {
            row.as_object_mut().expect("a row").remove("updatedAt");
        }
        rows
    }
}

fn options() -> Options {
    let agents = Agents::Own(AGENTS[0].to_owned());
    Options { page_size: 100, agents, agent: Some(AGENTS[0].to_owned()), draft: false, extended: true, now: NOW }
}

/// A question as one that can be followed.
fn followed(question: &Question) -> Question {
    Question {
        created_after: None,
        created_before: None,
        updated_after: None,
        search: Vec::new(),
        subagents: false,
        ..question.clone()
    }
}

fn request(question: &Question, cursor: Option<&str>) -> Request {
    let params = question.params(cursor).to_string();
    let mut request = Request::read_for(Some(&params), &options()).expect("a request");
    request.find(&worktrees_of);
    request
}

/// The whole list as it is now.
fn fresh(native: &Native<Memory>, question: &Question) -> Screen {
    let (mut screen, mut cursor) = (Screen::default(), None);
    loop {
        let page = list::page(native.store(), &request(question, cursor.as_deref())).expect("a page");
        page.rows.iter().for_each(|row| screen.show(row));
        cursor = page.next_cursor;
        if cursor.is_none() {
            return screen;
        }
    }
}

/// Whether a list that asks so shows what is archived, or what is not.
fn shows(question: &Question, is_archived: bool) -> bool {
    match question.archived {
        Archived::Unsaid | Archived::Exclude => !is_archived,
        Archived::Include => true,
        Archived::Only => is_archived,
    }
}

/// A client of the list of a question.
struct Client<'q> {
    question: &'q Question,
    scope: Scope,
    follower: Follower,
    is_looking: bool,
    /// Of what it was told in the look that is under way.
    told: BTreeSet<String>,
    screen: Screen,
    next: Next,
}

/// Which page is to be read next.
enum Next {
    First,
    Behind(String),
    Nothing,
}

impl<'q> Client<'q> {
    fn begin(native: &Native<Memory>, question: &'q Question) -> Self {
        let scope = Scope::of(&request(question, None)).expect("a list that can be followed");
        let follower = Follower::begin(native.store(), NOW, &AgentsWords::new()).expect("a place to begin at");
        let (told, screen) = (BTreeSet::new(), Screen::default());
        Self { question, scope, follower, is_looking: false, told, screen, next: Next::First }
    }

    fn read_page(&mut self, native: &Native<Memory>) {
        let cursor = match &self.next {
            Next::First => None,
            Next::Behind(cursor) => Some(cursor.as_str()),
            Next::Nothing => return,
        };
        let page = list::page(native.store(), &request(self.question, cursor)).expect("a page");
        page.rows.iter().for_each(|row| self.screen.show(row));
        self.next = page.next_cursor.map_or(Next::Nothing, Next::Behind);
    }

    /// Is told of so many changes, and perhaps begins a look.
    fn follow(&mut self, native: &Native<Memory>, most: u32) {
        let step = self.follower.step(native.store(), NOW, &AgentsWords::new(), most).expect("a step");
        assert!(!step.is_to_be_read_anew);
        for changed in &step.changed {
            let id = &changed.session.id;
            assert!(self.told.insert(id.clone()), "{id} is told twice in a look, which is no more than a second");
        }
        self.is_looking = !step.is_over;
        if step.is_over {
            self.told.clear();
        }
        self.screen.apply(&self.scope, &step, |is_archived| shows(self.question, is_archived));
    }

    /// Goes on with no more than its place.
    fn forget(&mut self) {
        self.follower = Follower::read_from(&self.follower.to_text()).expect("its own text");
        self.told.clear();
    }

    fn is_at_rest(&self) -> bool {
        matches!(self.next, Next::Nothing) && !self.is_looking
    }
}

fn follow(sessions: Vec<Session>, question: &Question, history: &[(Vec<Intent>, Moment)]) -> Result<(), TestCaseError> {
    let (mut native, mut model) = (Native::new(Memory::new()), Model::default());
    for session in sessions {
        make(&mut native, &mut model, &Change::Create(Box::new(session)));
    }
    let mut client = Client::begin(&native, question);
    for (intents, moment) in history {
        if moment.reads {
            client.read_page(&native);
        }
        for intent in intents {
            let Some(change) = intent.resolve(&model) else { continue };
            make(&mut native, &mut model, &change);
        }
        for _ in 0..moment.steps {
            client.follow(&native, moment.most);
        }
        if moment.forgets {
            client.forget();
        }
    }
    // What has changed since the look began that is under way is found by the next one.
    for _ in 0..2 {
        client.follow(&native, 1000);
        while !client.is_at_rest() {
            client.read_page(&native);
            client.follow(&native, 1000);
        }
    }
    prop_assert_eq!(client.screen.at_rest(), fresh(&native, question).at_rest());
    Ok(())
}

/// Makes a change to both.
fn make(native: &mut Native<Memory>, model: &mut Model, change: &Change) {
    native.apply(change);
    model.apply(change);
}

/// What a client does when something has happened.
#[derive(Debug)]
struct Moment {
    reads: bool,
    steps: usize,
    most: u32,
    forgets: bool,
}

fn moment() -> impl Strategy<Value = Moment> {
    (any::<bool>(), 0..3usize, 1..4u32, proptest::bool::weighted(0.2))
        .prop_map(|(reads, steps, most, forgets)| Moment { reads, steps, most, forgets })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pages_and_what_is_told_of_changes_make_the_list(
        sessions in strategy::sessions(20),
        question in strategy::question(),
        history in strategy::history(8),
        moments in proptest::collection::vec(moment(), 8),
    ) {
        let history: Vec<_> = history.into_iter().zip(moments).collect();
        follow(sessions, &followed(&question), &history)?;
    }
}
