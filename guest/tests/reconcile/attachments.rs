//! Random prompts with files, links and images among what is said, and the text that agents make of them: what is told so is
//! what was sent.

use acp_sessions_guest::sessions::adopt::Adopted;
use acp_sessions_guest::storage::Durability;
use acp_sessions_guest::transcript::{Kind, Recorder};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::scene::{ID, Scene};

const TEXTS: &[&str] = &[
    "look at ",
    " and fix it",
    "Continue",
    "compare with ",
    " please\n",
    "```rust\nfn main() {}\n```",
    "use @foo and [x](y)",
    "a <b> > c",
    "--- a",
    "  ",
];
const ADDRESSES: &[&str] = &[
    "file:///w/src/main.rs",
    "file:///w/README.md",
    "file:///w/(shop)/[id].tsx",
    "file:///w/my%20file.txt",
    "zed:///agent/selection?path=a.rs#L1:3",
    "https://example.com/page",
];
const FILES: &[&str] = &[
    "fn f() -> Vec<String> {\n  a[0] = \"x\"; // @see [y](z)\n}\n",
    "# Title\n\n<b>text</b>",
    "",
    "use std::io;",
    "</context> <image>",
];

const FOR_AGENT: &str = "Use these skills for this request: review.";
/// What agents read of files that they are given links to.
const READ: &str = "# Shop\n```\nnpm start\n```\n<b>\"it\"</b>";

/// What a prompt is made of, by its places above.
#[derive(Debug, Clone, Copy)]
enum Block {
    Text(usize),
    Link(usize),
    File(usize, usize),
    Image,
    /// A text that the client's user has not written, which is for the agent alone.
    ForAgent,
}

/// How an agent tells what is attached.
#[derive(Debug, Clone, Copy)]
enum Form {
    /// A link in its place, the file behind all, an image as one.
    LinkAndContext,
    /// A file and the tag of an image in their places.
    InPlace,
    /// A mention in its place, the file in a section at the end, no image with them.
    MentionAndSection,
    /// Nothing but the address, or the file.
    Bare,
    /// A link in its place, behind what was read of it, which is for the agent alone; a file behind its name.
    ReadForAgent,
    /// A linked file below a heading, another file between two lines, and other links not at all.
    HeadingAndLines,
}

fn blocks() -> impl Strategy<Value = Vec<Block>> {
    let block = prop_oneof![
        5 => (0..TEXTS.len()).prop_map(Block::Text),
        2 => (0..ADDRESSES.len()).prop_map(Block::Link),
        2 => (0..ADDRESSES.len(), 0..FILES.len()).prop_map(|(address, file)| Block::File(address, file)),
        1 => Just(Block::Image),
        1 => Just(Block::ForAgent),
    ];
    proptest::collection::vec(block, 1..6)
}

fn forms() -> impl Strategy<Value = Form> {
    prop_oneof![
        Just(Form::LinkAndContext),
        Just(Form::InPlace),
        Just(Form::MentionAndSection),
        Just(Form::Bare),
        Just(Form::ReadForAgent),
        Just(Form::HeadingAndLines),
    ]
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn for_agent(text: &str) -> Value {
    json!({"type": "text", "text": text, "annotations": {"audience": ["assistant"]}})
}

fn name(address: &str) -> &str {
    address.rsplit('/').next().unwrap_or_default()
}

/// The path of a file that is linked, as it is on the disk.
fn path(address: &str) -> Option<String> {
    address.strip_prefix("file://").map(|path| path.replace("%20", " "))
}

/// Those that are known for a file, however the client calls it.
fn path_of_any(address: &str) -> Option<String> {
    let in_editor = address.strip_prefix("zed://").and_then(|rest| rest.split_once("?path="));
    path(address).or_else(|| in_editor.map(|(_, path)| path.split('#').next().unwrap_or_default().to_owned()))
}

impl Block {
    /// It as a client sends it.
    fn sent(self) -> Value {
        match self {
            Self::Text(said) => text(TEXTS[said]),
            Self::Link(at) => json!({"type": "resource_link", "uri": ADDRESSES[at], "name": name(ADDRESSES[at])}),
            Self::File(at, file) => {
                json!({"type": "resource", "resource": {"uri": ADDRESSES[at], "text": FILES[file]}})
            }
            Self::Image => json!({"type": "image", "data": "aGk=", "mimeType": "image/png"}),
            Self::ForAgent => for_agent(FOR_AGENT),
        }
    }

    fn is_file(self) -> bool {
        matches!(self, Self::Link(_) | Self::File(..))
    }
}

impl Form {
    /// A prompt as an agent tells it.
    fn told(self, prompt: &[Block]) -> Vec<Value> {
        let has_file = prompt.iter().any(|block| block.is_file());
        let in_place = prompt.iter().flat_map(|block| match (*block, self) {
            (Block::Text(said), _) => vec![text(TEXTS[said])],
            (Block::ForAgent, Self::ReadForAgent | Self::HeadingAndLines) => vec![Block::ForAgent.sent()],
            (Block::ForAgent, _) => vec![text(FOR_AGENT)],
            (Block::Image, Self::InPlace) => vec![text("[image]")],
            (Block::Image, Self::MentionAndSection) => vec![text(if has_file { "" } else { "<image/png>" })],
            (Block::Image, _) => vec![Block::Image.sent()],
            (Block::Link(at), _) => self.told_link(ADDRESSES[at]),
            (Block::File(at, file), _) => vec![text(&self.told_file(ADDRESSES[at], FILES[file]))],
        });
        in_place.chain(self.told_behind(prompt).into_iter().map(|told| text(&told))).collect()
    }

    /// A link in its place.
    fn told_link(self, address: &str) -> Vec<Value> {
        match self {
            Self::LinkAndContext | Self::InPlace => vec![text(&format!("[@{}]({address})", name(address)))],
            Self::MentionAndSection => vec![text(&format!("@{}", address.trim_start_matches("file://")))],
            Self::Bare => vec![text(address)],
            Self::ReadForAgent => {
                let Some(path) = path_of_any(address) else { return vec![text(address)] };
                vec![
                    for_agent(&format!("Called the Read tool with the following input: {{\"filePath\":\"{path}\"}}")),
                    for_agent(&format!("<path>{path}</path>\n<type>file</type>\n<content>1: {READ}\n</content>")),
                    json!({"type": "resource_link", "uri": format!("file://{path}"), "name": "file", "mimeType": "text/plain"}),
                ]
            }
            Self::HeadingAndLines => {
                path(address).map(|path| text(&format!("\n\n# {path}\n```\n{READ}\n```"))).into_iter().collect()
            }
        }
    }

    /// A file in its place.
    fn told_file(self, address: &str, file: &str) -> String {
        match self {
            Self::LinkAndContext => format!("[@{}]({address})", name(address)),
            Self::InPlace => format!("\n<context ref=\"{address}\">\n{file}\n</context>"),
            Self::MentionAndSection => format!("@{address}"),
            Self::Bare => file.to_owned(),
            Self::ReadForAgent => format!("[{}]\n{file}", path(address).as_deref().unwrap_or(address)),
            Self::HeadingAndLines => format!("--- Resource: {address} ---\n{file}\n---\n"),
        }
    }

    /// What it tells behind all.
    fn told_behind(self, prompt: &[Block]) -> Vec<String> {
        let files = prompt.iter().filter_map(|block| match block {
            Block::File(at, file) => Some((ADDRESSES[*at], FILES[*file])),
            _ => None,
        });
        match self {
            Self::LinkAndContext => {
                files.map(|(at, file)| format!("\n<context ref=\"{at}\">\n{file}\n</context>")).collect()
            }
            Self::MentionAndSection => {
                let linked = prompt.iter().filter_map(|block| match block {
                    Block::Link(at) => ADDRESSES[*at].strip_prefix("file://"),
                    _ => None,
                });
                let linked: Vec<String> = linked.map(|path| format!("\nContent from @{path}:\nlines of it")).collect();
                let files: Vec<String> = files.map(|(at, file)| format!("\nContent from @{at}:\n{file}")).collect();
                let linked =
                    format!("\n--- Content from referenced files ---{}\n--- End of content ---", linked.concat());
                let files = format!("\n--- Content from referenced context ---{}", files.concat());
                [linked, files].into_iter().filter(|section| section.contains("Content from @")).collect()
            }
            Self::InPlace | Self::Bare | Self::ReadForAgent | Self::HeadingAndLines => Vec::new(),
        }
    }
}

/// The prompts go through the layer, each with an answer of its own.
fn say(scene: &Scene, prompts: &[Vec<Block>]) {
    for (number, prompt) in prompts.iter().enumerate() {
        let mut recorder = Recorder::new(ID);
        let sent: Vec<Value> = prompt.iter().map(|block| block.sent()).collect();
        recorder.push(Kind::Prompt, 1, &json!({"prompt": sent, "messageId": "p"}).to_string());
        recorder.push(Kind::Update, 1, &update("agent_message_chunk", "a", &answer(number)));
        recorder.push(Kind::TurnEnd, 1, &json!({"stopReason": "end_turn"}).to_string());
        recorder.flush(&scene.store, &[], Durability::Relaxed).unwrap();
    }
    scene.tell("agent", usize::MAX);
}

/// A replay of them, in a log of its own.
fn replay(scene: &Scene, prompts: &[Vec<Block>], form: Form) -> String {
    let staging = "staging-1".to_owned();
    let mut recorder = Recorder::new(&staging);
    for (number, prompt) in prompts.iter().enumerate() {
        for told in form.told(prompt) {
            recorder.push(Kind::Update, 1, &update("user_message_chunk", &format!("u{number}"), &told));
        }
        recorder.push(Kind::Update, 1, &update("agent_message_chunk", &format!("a{number}"), &answer(number)));
    }
    recorder.flush(&scene.store, &[], Durability::Relaxed).unwrap();
    staging
}

fn answer(number: usize) -> Value {
    text(&format!("answer {number}"))
}

fn update(kind: &str, message: &str, content: &Value) -> String {
    json!({"update": {"sessionUpdate": kind, "messageId": message, "content": content}}).to_string()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_attached_is_known_again_however_it_is_told(
        prompts in proptest::collection::vec(blocks(), 1..6),
        form in forms(),
    ) {
        let scene = Scene::new();
        say(&scene, &prompts);
        let before = (scene.entries(), scene.told("agent"));
        let staging = replay(&scene, &prompts, form);
        let plan = scene.plan("agent", &staging, false);
        prop_assert!(plan.keeps_all(), "{:?}", plan);
        let end = scene.entries().len();
        let adopted = scene.adopt("agent", &scene.session(), u32::try_from(end).unwrap(), &staging, &plan);
        prop_assert!(matches!(adopted, Adopted::Done(_)));
        prop_assert_eq!((scene.entries(), scene.told("agent")), before);
        prop_assert!(scene.aside().is_empty());
    }
}

#[test]
fn what_is_for_the_agent_alone_counts_as_words_of_the_prompt_that_it_came_with() {
    let with_words = vec![Block::Link(2), Block::Text(5), Block::ForAgent];
    let without = vec![Block::Link(2), Block::ForAgent];
    for prompts in [[&with_words, &without], [&without, &with_words]].map(|prompts| prompts.map(Clone::clone)) {
        let scene = Scene::new();
        say(&scene, &prompts);
        let staging = replay(&scene, &prompts, Form::HeadingAndLines);
        let plan = scene.plan("agent", &staging, false);
        assert!(plan.keeps_all(), "{prompts:?}: {plan:?}");
    }
}
