//! What an agent has written of a session that it keeps as a tree, and windows in which it is open.

use std::cell::RefCell;
use std::collections::VecDeque;

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, update};
use crate::scenes::{CWD, IMAGE, account, ask_load, leave, listing, mark, prompt_until_sent, row, says, words};

/// Later than anything that is said here.
pub(super) const LATER: &str = "2025-10-10T00:00:00Z";

pub(super) fn loads() -> Value {
    json!({"loadSession": true})
}

/// What the agent has written of a session.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) lines: RefCell<Vec<Line>>,
    /// A replay follows the branch on which something was said last, whatever a program goes on with.
    pub(super) tells_last_said: bool,
    /// When it lists the session as changed, if not [`LATER`].
    pub(super) listed: RefCell<Option<String>>,
}

#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) behind: Option<usize>,
    pub(super) is_user: bool,
    pub(super) text: String,
}

impl Tree {
    pub(super) fn last(&self) -> Option<usize> {
        self.lines.borrow().len().checked_sub(1)
    }

    pub(super) fn write(&self, behind: Option<usize>, is_user: bool, text: &str) -> Option<usize> {
        self.lines.borrow_mut().push(Line { behind, is_user, text: text.to_owned() });
        self.last()
    }

    /// As a program of the agent's ends it writes behind its branch once more, though nothing that anybody said.
    pub(super) fn close(&self, behind: Option<usize>) {
        self.write(behind, false, "");
    }

    /// The branch that ends with what was written last.
    pub(super) fn told(&self) -> Vec<Value> {
        let lines = self.lines.borrow();
        let mut last = lines.iter().rev().filter(|line| !self.tells_last_said || !line.text.is_empty());
        let branch = std::iter::successors(last.next(), |line| line.behind.map(|behind| &lines[behind]));
        let branch = branch.filter(|line| !line.text.is_empty());
        let kind = |line: &Line| if line.is_user { "user_message_chunk" } else { "agent_message_chunk" };
        let mut told: Vec<Value> =
            branch.map(|line| json!({"sessionUpdate": kind(line), "content": block(&line.text)})).collect();
        told.reverse();
        told
    }
}

/// A content block of this text, or the image.
pub(super) fn block(text: &str) -> Value {
    if text == IMAGE {
        json!({"type": "image", "mimeType": "image/png", "data": "aGVsbG8="})
    } else {
        json!({"type": "text", "text": text})
    }
}

/// A window, and up to where its agent has the session in mind.
pub(super) struct Window<'a> {
    pub(super) desk: Desk<'a>,
    pub(super) tree: &'a Tree,
    pub(super) leaf: Option<usize>,
    /// The prompts that its agent has not come to an end with, the one that it is at first.
    pub(super) waiting: VecDeque<Value>,
    pub(super) opened: Out,
}

impl<'a> Window<'a> {
    /// The first one, in which the session is begun with one turn.
    pub(super) fn first(store: &'a Memory, world: &'a World, tree: &'a Tree) -> Self {
        let mut desk = Desk::ready(store, world, &loads());
        desk.new_session("s1", CWD);
        let mut window = Self { desk, tree, leaf: None, waiting: VecDeque::new(), opened: Out::default() };
        window.turn("Hi", "Ho");
        window
    }

    /// Another one, that opens it. `has_list`: the agent lists it as changed since all that was said.
    pub(super) fn open(store: &'a Memory, world: &'a World, tree: &'a Tree, has_list: bool) -> Self {
        Self::open_with(store, world, tree, (&loads(), has_list))
    }

    /// The same where the agent has these capabilities: with `resume` it need not tell anything.
    pub(super) fn open_with(
        store: &'a Memory,
        world: &'a World,
        tree: &'a Tree,
        (capabilities, has_list): (&Value, bool),
    ) -> Self {
        let mut desk = if has_list {
            let listed = tree.listed.borrow().clone().unwrap_or_else(|| LATER.to_owned());
            listing(store, world, "a", capabilities, &[row("s1", "One", &listed)])
        } else {
            Desk::ready(store, world, capabilities)
        };
        let leaf = tree.last();
        let mut opened = ask_load(&mut desk, "load", "s1");
        let told = if opened.asked("session/load").is_some() { tree.told() } else { Vec::new() };
        let asked = opened.asked("session/load").or_else(|| opened.asked("session/resume")).unwrap().clone();
        for told in told {
            opened.extend(desk.agent(update("s1", told)));
        }
        opened.extend(desk.reply(&asked, json!({})));
        // With another window on the session it is waited for what that is about to write.
        while opened.is_open("load") {
            opened.extend(desk.wait(100));
        }
        Self { desk, tree, leaf, waiting: VecDeque::new(), opened }
    }

    /// The user sends this, which the agent takes up when it has come to an end with what was sent before.
    pub(super) fn prompt(&mut self, text: &str) -> Out {
        let request = format!("{text} behind {}", self.waiting.len());
        let out = prompt_until_sent(&mut self.desk, &request, &[block(text)]);
        self.waiting.push_back(out.request("session/prompt"));
        if self.waiting.len() == 1 {
            self.take_up();
        }
        out
    }

    pub(super) fn take_up(&mut self) {
        let prompts = self.waiting.front().and_then(|asked| asked["params"]["prompt"].as_array());
        for block in prompts.into_iter().flatten() {
            self.leaf = self.tree.write(self.leaf, true, block["text"].as_str().unwrap_or(IMAGE));
        }
    }

    pub(super) fn say(&mut self, text: &str) {
        self.leaf = self.tree.write(self.leaf, false, text);
        self.desk.agent(says(text));
        self.desk.wait(300);
    }

    pub(super) fn end(&mut self) {
        let asked = self.waiting.pop_front().unwrap();
        self.desk.reply(&asked, json!({"stopReason": "end_turn"}));
        self.desk.wait(1000);
        self.take_up();
    }

    pub(super) fn turn(&mut self, prompt: &str, answer: &str) -> Out {
        let out = self.prompt(prompt);
        self.say(answer);
        self.end();
        out
    }

    pub(super) fn assert_whole(&self, expected: &str, when: &str) {
        assert_eq!(words(&self.opened), expected, "{when}");
        assert!(mark(&self.opened, "load")["setAside"].is_null(), "{when}");
    }
}

/// The session is opened twice, and shows all of this each time.
pub(super) fn assert_shown((store, world): (&Memory, &World), tree: &Tree, has_list: bool, all: &str, when: &str) {
    for time in ["once", "twice"] {
        let window = Window::open(store, world, tree, has_list);
        window.assert_whole(all, &format!("{when}, {time}"));
        leave(window.desk);
    }
}

/// The session is opened again and again, and shows all of this; its agent is told what it lacks once, and then no more.
pub(super) fn assert_stays(
    (store, world): (&Memory, &World),
    tree: &Tree,
    has_list: bool,
    (all, lacks): (&str, &[&str]),
    when: &str,
) {
    assert_shown((store, world), tree, has_list, all, when);
    let mut all = all.to_owned();
    let mut lacks = lacks;
    for prompt in ["Last", "Very last", "Really last"] {
        let mut window = Window::open(store, world, tree, has_list);
        window.assert_whole(&all, &format!("{when}, before {prompt}"));
        let told = account(&window.turn(prompt, "Yes"));
        assert_eq!(told.is_some(), !lacks.is_empty(), "{when}, {prompt}: {told:?}");
        let told = told.unwrap_or_default();
        for text in lacks {
            assert_eq!(told.matches(text).count(), 1, "{when}, {prompt}, {text}: {told}");
        }
        lacks = &[];
        all = format!("{all}> {prompt}Yes");
        leave(window.desk);
    }
}
