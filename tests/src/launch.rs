//! Which command to start: the program, in front of which agent, with which store.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A command with its arguments and environment.
#[derive(Debug, Clone)]
pub struct Launch {
    argv: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
}

impl Launch {
    /// `acp-sessions agent`: the program in front of its own small agent. `options` go behind `agent`.
    pub fn builtin(store: &Path, options: &[&str]) -> Self {
        Self::sessions("agent", store, options)
    }

    /// `acp-sessions proxy`: the program in front of this agent. `options` go before the `--`.
    pub fn proxy(store: &Path, options: &[&str], agent: &Self) -> Self {
        let mut launch = Self::sessions("proxy", store, options);
        launch.argv.push("--".into());
        launch.argv.extend(agent.argv.iter().cloned());
        launch.env.extend(agent.env.iter().cloned());
        launch
    }

    /// The Rust SDK's conductor, which keeps a chain: `acp-sessions proxy` in it, and this agent at its end.
    pub fn chain(store: &Path, options: &[&str], agent: &Self) -> Self {
        let proxy = Self::sessions("proxy", store, options);
        let mut launch = Self::new(&built("conductor")).arg("agent").arg(proxy.quoted()).arg(agent.quoted());
        launch.env.extend(agent.env.iter().cloned());
        launch
    }

    /// `acp-sessions proxy` without an agent, as a conductor starts it.
    pub fn unchained(store: &Path) -> Self {
        Self::sessions("proxy", store, &[])
    }

    /// The command line as one word, for those who take it apart as a shell does.
    fn quoted(&self) -> String {
        let words = self.argv.iter().map(|word| {
            let word = word.to_str().expect("a word that is text");
            assert!(!word.contains('\''), "{word}");
            format!("'{word}'")
        });
        words.collect::<Vec<_>>().join(" ")
    }

    fn sessions(verb: &str, store: &Path, options: &[&str]) -> Self {
        Self::new(&built("acp-sessions")).arg(verb).arg("--store").arg(store).args(options)
    }

    /// The agent of these tests with these flags.
    pub fn test_agent(flags: &[&str]) -> Self {
        Self::new(&built("test_agent")).args(flags)
    }

    /// The least agent.
    pub fn bare_agent() -> Self {
        Self::new(&built("bare_agent"))
    }

    /// Any command.
    pub fn new(program: &Path) -> Self {
        Self { argv: vec![program.into()], env: Vec::new() }
    }

    /// The same command with every line that it reads and writes appended to `log`; read it with [`crate::tap`].
    #[must_use]
    pub fn tapped(&self, log: &Path) -> Self {
        let mut argv: Vec<OsString> = vec![built("wiretap").into(), log.into()];
        argv.extend(self.argv.iter().cloned());
        Self { argv, env: self.env.clone() }
    }

    /// Adds this program, with its arguments and environment, for one that starts others.
    #[must_use]
    pub fn under(mut self, program: &Self) -> Self {
        self.argv.extend(program.argv.iter().cloned());
        self.env.extend(program.env.iter().cloned());
        self
    }

    /// Adds an argument at the end.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.argv.push(arg.into());
        self
    }

    /// Adds arguments at the end.
    #[must_use]
    pub fn args(mut self, args: &[&str]) -> Self {
        self.argv.extend(args.iter().map(OsString::from));
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// The words of the command line.
    pub fn argv(&self) -> &[OsString] {
        &self.argv
    }

    /// The command, with its input and output piped.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.argv[0]);
        // A store set for the developer's own use is none of the tests' business.
        command.env_remove("ACP_SESSIONS_STORE");
        command.args(&self.argv[1..]).envs(self.env.iter().cloned());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command
    }
}

/// A program that the build has put beside this test.
pub fn built(name: &str) -> PathBuf {
    let this = std::env::current_exe().expect("the path of this test");
    let folder = this.ancestors().skip(1).find(|folder| !folder.ends_with("deps")).expect("a folder of build results");
    let path = folder.join(name).with_extension(std::env::consts::EXE_EXTENSION);
    assert!(path.exists(), "{} is missing: run `cargo build --release --workspace --bins`", path.display());
    path
}
