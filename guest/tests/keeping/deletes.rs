//! What a delete takes along, and what is remembered of it.

use acp_sessions_guest::sessions::delete::{confirmed, delete, pending};
use acp_sessions_guest::sessions::transcript::{self, TranscriptError};
use acp_sessions_guest::storage::{Durability, Memory, Write};
use acp_sessions_guest::store::{Session, Store, keys};

use crate::between::Between;
use crate::shop::{DAY, NOW, fork_of, found, is_there, prompted, put, remove_all, say, with};

fn known_by(id: &str, agents: &[(&str, &str)]) -> Session {
    let mut session = prompted(id, NOW);
    for (agent, agent_id) in agents {
        session.give_to(agent, agent_id, 0);
    }
    session
}

/// Stored as `create` does it, with what leads from the agents' ids to it.
fn put_known(store: &Store<Memory>, session: &Session) {
    put(store, session);
    let mapping = |(agent, known): (&String, &acp_sessions_guest::store::Known)| Write::Put {
        key: keys::agent_session(agent, &known.id),
        value: session.id.clone(),
    };
    store.commit(&[], session.agents.iter().map(mapping).collect(), Durability::Relaxed).unwrap();
}

#[test]
fn a_delete_is_remembered_for_every_agent_until_that_one_has_confirmed_it() {
    let store = Store::new(Memory::new());
    put_known(&store, &known_by("x", &[("one", "x"), ("two", "x at two")]));
    let deleted = delete(&store, "x", NOW).unwrap();
    assert_eq!(deleted[0].id_at("two"), Some("x at two"));
    assert_eq!(pending(&store, "one", NOW, 10).unwrap(), ["x"]);
    assert_eq!(pending(&store, "two", NOW, 10).unwrap(), ["x at two"]);
    confirmed(&store, "one", "x").unwrap();
    assert_eq!(pending(&store, "one", NOW, 10).unwrap(), [""; 0]);
    assert_eq!(pending(&store, "two", NOW, 10).unwrap(), ["x at two"]);
    assert!(delete(&store, "x", NOW).unwrap().is_empty());
    assert_eq!(pending(&store, "one", NOW, 10).unwrap(), [""; 0], "nothing was there to be deleted again");
}

#[test]
fn what_was_deleted_long_ago_is_remembered_no_more() {
    let store = Store::new(Memory::new());
    for nth in 0..300 {
        let id = format!("s{nth:03}");
        put_known(&store, &known_by(&id, &[("one", &id)]));
        delete(&store, &id, if nth < 290 { NOW - 91 * DAY } else { NOW - 89 * DAY }).unwrap();
    }
    let before = store.storage().counts().0;
    let first = pending(&store, "one", NOW, 3).unwrap();
    assert_eq!(first, ["s290", "s291", "s292"]);
    assert_eq!(store.storage().counts().0, before - 290);
    assert_eq!(pending(&store, "one", NOW, 100).unwrap().len(), 10);
    assert_eq!(pending(&store, "one", NOW, 0).unwrap().len(), 0);
}

#[test]
fn an_id_that_the_agent_gave_to_another_session_is_not_deleted_there() {
    let store = Store::new(Memory::new());
    put_known(&store, &known_by("first", &[("counter", "1")]));
    delete(&store, "first", NOW).unwrap();
    put_known(&store, &known_by("second", &[("counter", "1")]));
    assert_eq!(pending(&store, "counter", NOW, 10).unwrap(), [""; 0]);
    // Nor if the earlier one is deleted only now.
    put_known(&store, &known_by("third", &[("counter", "1")]));
    delete(&store, "second", NOW).unwrap();
    assert_eq!(pending(&store, "counter", NOW, 10).unwrap(), [""; 0]);
    assert_eq!(store.record(keys::agent_session("counter", "1")).unwrap().as_deref(), Some("third"));
}

#[test]
fn a_session_goes_with_its_sub_agents_in_one_commit_and_forks_of_those_stay() {
    let storage = Between::default();
    let store = Store::new(&storage);
    put(&store, &prompted("x", NOW));
    for (id, parent) in [("child", "x"), ("other", "x"), ("grandchild", "child")] {
        put(&store, &with(known_by(id, &[("one", id)]), |session| session.parent = Some(parent.to_owned())));
        say(&store, id, NOW, &format!("walrus {id}"));
    }
    let mut forked = fork_of(&store, "grandchild", "fork");
    assert_eq!(forked.parent, None, "who forks a sub-agent's session has one of his own");
    forked.cwd = "/y".to_owned();
    put(&store, &forked);
    assert_eq!(found(&store, "walrus"), ["child", "fork", "grandchild", "other"]);
    storage.reset();
    let deleted: Vec<String> = delete(&store, "x", NOW).unwrap().into_iter().map(|session| session.id).collect();
    assert_eq!(deleted, ["x", "child", "other", "grandchild"]);
    assert_eq!(storage.commits.get(), 1);
    assert_eq!(pending(&store, "one", NOW, 10).unwrap(), ["child", "grandchild", "other"]);
    assert!(deleted.iter().all(|id| !is_there(&store, id) && store.is_deleted(id).unwrap()));
    assert_eq!(found(&store, "walrus"), ["fork"]);
    delete(&store, "fork", NOW).unwrap();
    remove_all(&store);
    let (_, entries, texts) = storage.memory.counts();
    assert_eq!((entries, texts), (0, 0));
}

#[test]
fn sessions_that_name_each_other_as_parents_go_together() {
    let store = Store::new(Memory::new());
    put(&store, &with(prompted("a", NOW), |session| session.parent = Some("b".to_owned())));
    put(&store, &with(prompted("b", NOW), |session| session.parent = Some("a".to_owned())));
    assert_eq!(delete(&store, "a", NOW).unwrap().len(), 2);
}

#[test]
fn a_session_forked_while_it_is_deleted_leaves_the_fork_whole_or_none() {
    let storage = Between::default();
    let store = Store::new(&storage);
    put(&store, &prompted("x", NOW));
    say(&store, "x", NOW, "hello");
    storage.before_commit(|memory| drop(fork_of(&Store::new(memory), "x", "fork")));
    assert_eq!(delete(&store, "x", NOW).unwrap().len(), 1);
    assert_eq!(found(&store, "hello"), ["fork"]);
    assert_eq!(crate::shop::transcript(&store, "fork").len(), 1);
}

#[test]
fn a_transcript_that_is_deleted_while_it_is_read_is_not_there_rather_than_short() {
    for nth in 0.. {
        let storage = Between::default();
        let store = Store::new(&storage);
        put(&store, &prompted("x", NOW));
        for _ in 0..2000 {
            say(&store, "x", NOW, "hello");
        }
        storage.before_nth_read(nth, |memory| drop(delete(&Store::new(memory), "x", NOW).unwrap()));
        let read = transcript::transcript(&store, "x", None, u32::MAX);
        if !storage.has_happened() {
            assert!(nth > 2 && read.unwrap().updates.len() == 2000, "{nth}");
            break;
        }
        assert!(matches!(read, Err(TranscriptError::NotFound)), "before read {nth}");
    }
}
