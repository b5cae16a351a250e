//! Programs that only start what they are given. Agents behind the same one are not one agent.

/// How the command line of one is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Launcher {
    name: &'static str,
    /// The words that may stand before what it starts: `pnpm dlx PACKAGE`.
    words: &'static [&'static str],
    /// The options that have a value of their own in the next word.
    valued: &'static [&'static str],
    pub(super) starts: Starts,
}

/// What it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Starts {
    /// A command, with its arguments.
    Command,
    /// A command behind a number or the like of the launcher's own.
    CommandBehindOne,
    /// A script or a module.
    Script,
    /// A package, which may have a version.
    Package,
    /// An image of a container, or a container.
    Image,
    /// What an interpreter of command lines reads in one word, behind `-c`.
    CommandLine,
}

const CONTAINERS: &[&str] = &[
    "--add-host",
    "--cap-add",
    "--cap-drop",
    "--cidfile",
    "--cpus",
    "--device",
    "--dns",
    "--entrypoint",
    "--env",
    "--env-file",
    "--gpus",
    "--group-add",
    "--hostname",
    "--ipc",
    "--label",
    "--log-driver",
    "--memory",
    "--mount",
    "--name",
    "--net",
    "--network",
    "--pid",
    "--platform",
    "--publish",
    "--pull",
    "--restart",
    "--runtime",
    "--security-opt",
    "--shm-size",
    "--tmpfs",
    "--ulimit",
    "--user",
    "--userns",
    "--volume",
    "--workdir",
    "-c",
    "-e",
    "-h",
    "-l",
    "-m",
    "-p",
    "-u",
    "-v",
    "-w",
];
const NODE: &[&str] =
    &["--conditions", "--env-file", "--experimental-loader", "--import", "--loader", "--require", "-C", "-r"];
const NODE_PACKAGES: &[&str] = &[
    "--cache",
    "--cwd",
    "--dir",
    "--filter",
    "--package",
    "--prefix",
    "--registry",
    "--userconfig",
    "--workspace",
    "-C",
    "-F",
    "-p",
    "-w",
];
const PYTHON: &[&str] = &["-W", "-X"];
const PYTHON_PACKAGES: &[&str] = &[
    "--directory",
    "--env-file",
    "--extra",
    "--extra-index-url",
    "--from",
    "--group",
    "--index",
    "--index-url",
    "--project",
    "--python",
    "--spec",
    "--with",
    "--with-editable",
    "--with-requirements",
    "-i",
    "-p",
    "-w",
];

const LAUNCHERS: [Launcher; 31] = [
    of("bash", Starts::CommandLine, &[], &[]),
    of("bun", Starts::Package, &["x", "run"], &["--cwd", "--env-file", "--preload", "-r"]),
    of("bunx", Starts::Package, &[], NODE_PACKAGES),
    of("dash", Starts::CommandLine, &[], &[]),
    of("deno", Starts::Script, &["run"], &["--cert", "--config", "--import-map", "--log-level", "-L", "-c"]),
    of("docker", Starts::Image, &["container", "exec", "run"], CONTAINERS),
    of("env", Starts::Command, &[], &["--chdir", "--unset", "-C", "-u"]),
    of("fish", Starts::CommandLine, &[], &[]),
    of("mise", Starts::Command, &["exec", "x"], &["--cd", "--env", "-C", "-E"]),
    of("nice", Starts::Command, &[], &["--adjustment", "-n"]),
    of("nix", Starts::Package, &["run"], &["--option"]),
    of("node", Starts::Script, &[], NODE),
    of("nohup", Starts::Command, &[], &[]),
    of("npm", Starts::Package, &["exec", "run", "run-script", "x"], NODE_PACKAGES),
    of("npx", Starts::Package, &[], NODE_PACKAGES),
    of("pipx", Starts::Package, &["run"], PYTHON_PACKAGES),
    of("pnpm", Starts::Package, &["dlx", "exec", "run"], NODE_PACKAGES),
    of("pnpx", Starts::Package, &[], NODE_PACKAGES),
    of("podman", Starts::Image, &["container", "exec", "run"], CONTAINERS),
    of("python", Starts::Script, &[], PYTHON),
    of("python3", Starts::Script, &[], PYTHON),
    of("setsid", Starts::Command, &[], &[]),
    of("sh", Starts::CommandLine, &[], &[]),
    of("stdbuf", Starts::Command, &[], &["-e", "-i", "-o"]),
    of("sudo", Starts::Command, &[], &["--group", "--user", "-g", "-u"]),
    of("timeout", Starts::CommandBehindOne, &[], &["--kill-after", "--signal", "-k", "-s"]),
    of("tsx", Starts::Script, &[], NODE),
    of("uv", Starts::Package, &["run", "tool"], PYTHON_PACKAGES),
    of("uvx", Starts::Package, &[], PYTHON_PACKAGES),
    of("yarn", Starts::Package, &["dlx", "exec", "run"], NODE_PACKAGES),
    of("zsh", Starts::CommandLine, &[], &[]),
];

const fn of(
    name: &'static str,
    starts: Starts,
    words: &'static [&'static str],
    valued: &'static [&'static str],
) -> Launcher {
    Launcher { name, words, valued, starts }
}

impl Launcher {
    /// The launcher of this file name.
    pub(super) fn named(file: &str) -> Option<Self> {
        let name = file.strip_suffix(".exe").or_else(|| file.strip_suffix(".cmd")).unwrap_or(file);
        LAUNCHERS.into_iter().find(|launcher| launcher.name == name)
    }

    /// The place among the launcher's words of what it starts.
    pub(super) fn place_of_started<'w>(&self, words: impl Iterator<Item = &'w str>) -> Option<usize> {
        let mut is_value = false;
        let mut is_other = |word: &str| {
            let is_own = std::mem::take(&mut is_value);
            is_value = self.valued.contains(&word);
            !is_own && !word.starts_with('-') && !is_variable(word) && !self.words.contains(&word)
        };
        let mut others = words.enumerate().filter(|(_, word)| is_other(word)).map(|(at, _)| at);
        if self.starts == Starts::CommandBehindOne { others.nth(1) } else { others.next() }
    }
}

/// Whether a word sets a variable of the environment.
pub(super) fn is_variable(word: &str) -> bool {
    let is_name = |name: &str| {
        !name.starts_with(|c: char| c.is_ascii_digit()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    word.split_once('=').is_some_and(|(name, value)| !name.is_empty() && is_name(name) && !value.starts_with('='))
}
