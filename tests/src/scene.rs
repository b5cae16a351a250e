//! A place of its own for each test: a store, a project, an agent that remembers and one that tells what it heard.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::agent::Outside;
use crate::client::Client;
use crate::launch::Launch;

/// The folders and files of one test; they go with it.
pub struct Scene {
    folder: TempDir,
}

impl Scene {
    /// An empty place.
    pub fn new() -> Self {
        let folder = TempDir::with_prefix("acp-sessions-test-").expect("a temporary folder");
        for name in ["project", "agent"] {
            std::fs::create_dir(folder.path().join(name)).expect("a folder in it");
        }
        Self { folder }
    }

    /// The folder itself.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The store's file, in a folder that the program has to make.
    pub fn store(&self) -> PathBuf {
        self.folder.path().join("store/sessions.db")
    }

    /// Whether these words are anywhere in the store's files.
    pub fn store_holds(&self, words: &str) -> bool {
        let folder = self.store().parent().expect("a folder").to_owned();
        let files = std::fs::read_dir(folder).expect("the program has made the store");
        files.into_iter().any(|file| {
            let bytes = std::fs::read(file.expect("a file").path()).expect("it can be read");
            bytes.windows(words.len()).any(|window| window == words.as_bytes())
        })
    }

    /// A directory to have sessions in.
    pub fn cwd(&self) -> String {
        self.folder.path().join("project").to_str().expect("a path that is text").to_owned()
    }

    /// The params to load, resume or fork this session.
    pub fn place(&self, session: &str) -> Value {
        json!({"sessionId": session, "cwd": self.cwd(), "mcpServers": []})
    }

    /// A session that an earlier process has had, with these prompts.
    pub fn past(&self, launch: &Launch, prompts: &[&str]) -> String {
        let mut client = Client::ready(launch);
        let id = client.new_session(&self.cwd());
        for prompt in prompts {
            client.prompt(&id, prompt);
        }
        client.close();
        id
    }

    /// The test agent, which logs what it hears and, if it can find sessions again, keeps them.
    pub fn agent(&self, flags: &[&str]) -> Launch {
        let launch = Launch::test_agent(flags).arg("--log").arg(self.log());
        let keeps = ["--load", "--resume", "--list"].iter().any(|flag| flags.contains(flag));
        if keeps { launch.arg("--state-dir").arg(self.file("agent")) } else { launch }
    }

    /// Somebody who uses the test agent without the program.
    pub fn outside(&self) -> Outside {
        Outside::new(&self.file("agent"))
    }

    /// The program in front of the test agent.
    pub fn proxy(&self, options: &[&str], flags: &[&str]) -> Launch {
        Launch::proxy(&self.store(), options, &self.agent(flags))
    }

    /// The program in front of its own agent.
    pub fn builtin(&self, options: &[&str]) -> Launch {
        Launch::builtin(&self.store(), options)
    }

    /// Every message that the test agent has heard.
    pub fn heard(&self) -> Vec<Value> {
        self.logged().into_iter().filter(|line| line.get("jsonrpc").is_some()).collect()
    }

    /// The params of every message with this method that the test agent has heard.
    pub fn heard_of(&self, method: &str) -> Vec<Value> {
        let heard = self.heard().into_iter().filter(|message| message["method"] == method);
        heard.map(|mut message| message["params"].take()).collect()
    }

    /// The process ids of the test agents that were started, in their order.
    pub fn agent_pids(&self) -> Vec<u32> {
        self.noted("pid")
    }

    /// The process ids of those that have ended by themselves, after their input.
    pub fn ended_agents(&self) -> Vec<u32> {
        self.noted("ended")
    }

    fn noted(&self, what: &str) -> Vec<u32> {
        let pids = self.logged().into_iter().filter_map(|line| line[what].as_u64());
        pids.map(|pid| u32::try_from(pid).expect("a process id")).collect()
    }

    /// Forgets what the test agent has heard so far. Only while none runs.
    pub fn forget_heard(&self) {
        std::fs::remove_file(self.log()).expect("the agent's log");
    }

    fn log(&self) -> PathBuf {
        self.file("agent.log")
    }

    fn logged(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.log()).unwrap_or_default();
        // A line that is being written has no end yet.
        let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        whole.filter_map(|line| serde_json::from_str(line).ok()).collect()
    }
}

impl Default for Scene {
    fn default() -> Self {
        Self::new()
    }
}
