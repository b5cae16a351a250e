//! What an agent is called that does not name itself: by its command.

mod launchers;

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use launchers::{Launcher, Starts, is_variable};

/// How many launchers may start each other.
const MOST_LAUNCHERS: usize = 8;

/// The file name of its program, or what a launcher is to start: a package without its version, a script, an image.
pub(super) fn of_command(program: &OsStr, arguments: &[OsString]) -> String {
    let words: Vec<Cow<'_, str>> = arguments.iter().map(|argument| argument.to_string_lossy()).collect();
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    of_words(&program.to_string_lossy(), &words, MOST_LAUNCHERS)
}

/// The name of what the words of a command line start.
fn of_words(program: &str, arguments: &[&str], most: usize) -> String {
    let file = file_name(program);
    let Some(launcher) = Launcher::named(file).filter(|_| most > 0) else { return file.to_owned() };
    if launcher.starts == Starts::CommandLine {
        return of_command_line(arguments, most - 1).unwrap_or_else(|| file.to_owned());
    }
    let Some(at) = launcher.place_of_started(arguments.iter().copied()) else { return file.to_owned() };
    let (started, its) = (arguments[at], &arguments[at + 1..]);
    match launcher.starts {
        _ if Launcher::named(file_name(started)).is_some() => of_words(started, its, most - 1),
        Starts::Command | Starts::CommandBehindOne | Starts::CommandLine => of_words(started, its, most - 1),
        Starts::Package => without_version(started).to_owned(),
        // A command in a container that runs already.
        Starts::Image if arguments[..at].contains(&"exec") && !its.is_empty() => of_words(its[0], &its[1..], most - 1),
        Starts::Image => without_tag(started).to_owned(),
        Starts::Script => started.to_owned(),
    }
}

/// The name of what an interpreter of command lines is given: the last command in there, or a script.
fn of_command_line(arguments: &[&str], most: usize) -> Option<String> {
    let at = arguments.iter().position(|word| !word.starts_with('-'))?;
    let is_line = arguments[..at].iter().any(|option| !option.starts_with("--") && option.ends_with('c'));
    if !is_line {
        return Some(arguments[at].to_owned());
    }
    let last = arguments[at].rsplit(['&', ';', '|', '\n']).find(|command| !command.trim().is_empty())?;
    let quotes: &[char] = &['"', '\''];
    let mut words = last.split_whitespace().map(|word| word.trim_matches(quotes));
    let program = words.find(|word| *word != "exec" && !is_variable(word))?;
    Some(of_words(program, &words.collect::<Vec<_>>(), most))
}

fn file_name(program: &str) -> &str {
    Path::new(program).file_name().and_then(OsStr::to_str).unwrap_or(program)
}

/// `@scope/package` of `@scope/package@1.2`, `package` of `package==1.2`.
fn without_version(package: &str) -> &str {
    let package = package.split_once("==").map_or(package, |(name, _)| name);
    match package.rfind('@').filter(|at| *at > 0 && !package[*at..].contains('/')) {
        Some(at) => &package[..at],
        None => package,
    }
}

/// `host:5000/image` of `host:5000/image:1.2`.
fn without_tag(image: &str) -> &str {
    let image = image.split_once('@').map_or(image, |(image, _)| image);
    match image.rfind(':').filter(|at| !image[*at..].contains('/')) {
        Some(at) => &image[..at],
        None => image,
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
            ("docker run -e KEY -v /a:/b --network host host:5000/team/image:1.2 --acp", "host:5000/team/image"),
            ("podman exec -i -w /src box agent --acp", "agent"),
            ("node --import tsx -r dotenv/config agent.ts", "agent.ts"),
            ("uv run --project /p --with x agent", "agent"),
            ("uvx --python 3.12 agent==1.0", "agent"),
            ("npm --prefix /p run acp", "acp"),
            ("env -u KEY -C /p agent-one", "agent-one"),
            ("timeout -k 5 10 nice -n 5 /opt/agent --acp", "agent"),
            ("mise x -- agent", "agent"),
            ("sh /opt/agent.sh", "/opt/agent.sh"),
            ("npx.cmd -y agent", "agent"),
            ("env KEY=value npx -y agent", "agent"),
            ("env -i /usr/bin/my-agent", "my-agent"),
        ] {
            let words: Vec<OsString> = command.split(' ').map(OsString::from).collect();
            assert_eq!(of_command(&words[0], &words[1..]), called, "{command}");
        }
        for (line, called) in [
            ("agent-one --acp", "agent-one"),
            ("cd /p && KEY=value exec '/opt/agent' --acp", "agent"),
            ("source ~/.profile; npx -y @scope/agent@2", "@scope/agent"),
            ("", "sh"),
        ] {
            for options in ["-c", "-lc"] {
                assert_eq!(of_command(OsStr::new("sh"), &[options.into(), line.into()]), called, "{line}");
            }
        }
        assert_eq!(of_command(OsStr::new("./a b.sh"), &[]), "a b.sh");
    }
}
