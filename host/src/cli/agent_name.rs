//! What an agent is called that does not name itself: by its command.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Programs that only start what they are given, with the words that may stand before that: `pnpm dlx PACKAGE`. Agents behind the
/// same one are not one agent.
const LAUNCHERS: [(&str, &[&str]); 17] = [
    ("bun", &["x", "run"]),
    ("bunx", &[]),
    ("deno", &["run"]),
    ("docker", &["run"]),
    ("env", &[]),
    ("node", &[]),
    ("npm", &["exec", "x"]),
    ("npx", &[]),
    ("pipx", &["run"]),
    ("pnpm", &["dlx", "exec"]),
    ("pnpx", &[]),
    ("podman", &["run"]),
    ("python", &[]),
    ("python3", &[]),
    ("uv", &["tool", "run"]),
    ("uvx", &[]),
    ("yarn", &["dlx", "exec"]),
];

/// The file name of its program, or what a launcher is to start: a package without its version, a script, an image.
pub(super) fn of_command<'a>(program: &'a OsStr, arguments: &'a [OsString]) -> Cow<'a, str> {
    let file = file_name(program);
    let Some(words) = words_of_launcher(&file) else { return file };
    let is_launched = |argument: &OsString| {
        let argument = argument.to_string_lossy();
        // Neither an option nor a variable of the environment.
        !argument.starts_with('-') && !argument.contains('=') && !words.contains(&&*argument)
    };
    let Some(at) = arguments.iter().position(is_launched) else { return file };
    let launched = &arguments[at];
    if file == "env" || words_of_launcher(&file_name(launched)).is_some() {
        of_command(launched, &arguments[at + 1..])
    } else {
        without_version(launched.to_string_lossy())
    }
}

fn file_name(program: &OsStr) -> Cow<'_, str> {
    Path::new(program).file_name().unwrap_or(program).to_string_lossy()
}

fn words_of_launcher(file: &str) -> Option<&'static [&'static str]> {
    LAUNCHERS.iter().find(|(launcher, _)| *launcher == file).map(|(_, words)| *words)
}

/// `@scope/package` of `@scope/package@1.2`.
fn without_version(package: Cow<'_, str>) -> Cow<'_, str> {
    match package.rfind('@').filter(|at| *at > 0 && !package[*at..].contains('/')) {
        Some(at) => package[..at].to_owned().into(),
        None => package,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_called_by_what_its_command_starts() {
        for (command, called) in [
            ("my-agent", "my-agent"),
            ("/usr/bin/my-agent --acp", "my-agent"),
            ("npx", "npx"),
            ("npx -y --", "npx"),
            ("npx @scope/agent", "@scope/agent"),
            ("/usr/bin/npx --yes @scope/agent@0.5.1 --acp", "@scope/agent"),
            ("npm exec agent@latest", "agent"),
            ("npm x -- agent", "agent"),
            ("pnpm dlx agent", "agent"),
            ("uv tool run agent", "agent"),
            ("uvx --from=tools agent", "agent"),
            ("python3 -u -m some.agent", "some.agent"),
            ("node --no-warnings /opt/@scope/agent/index.js", "/opt/@scope/agent/index.js"),
            ("docker run -i --rm -e KEY=value image", "image"),
            ("env KEY=value npx -y agent", "agent"),
            ("env -i /usr/bin/my-agent", "my-agent"),
        ] {
            let words: Vec<OsString> = command.split(' ').map(OsString::from).collect();
            assert_eq!(of_command(&words[0], &words[1..]), called, "{command}");
        }
        assert_eq!(of_command(OsStr::new("./a b.sh"), &[]), "a b.sh");
    }
}
