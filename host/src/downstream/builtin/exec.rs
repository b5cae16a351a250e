//! A command that answers prompts.

use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread;

use super::turn::Turn;
use crate::downstream::process_group;

/// A line of output longer than this is passed on in pieces.
const LONGEST_PIECE: u64 = 1 << 20;

/// Of what the command says about its failure, this much is passed on.
const ERROR_TAIL: usize = 2048;

/// What to run, and for whom.
#[derive(Debug)]
pub(super) struct Run {
    /// For the shell.
    pub(super) command: String,
    pub(super) session: String,
    pub(super) cwd: String,
    pub(super) mode: &'static str,
}

/// Runs the command with the prompt as its input and says what it says, as it comes.
pub(super) fn answer(run: &Run, prompt: &str, turn: &Turn, say: impl Fn(&str)) {
    match stream(run, prompt, turn, &say) {
        Ok((status, errors)) if !status.success() && !turn.is_cancelled() => {
            say(&format!("\nThe command failed ({status}).\n{errors}"));
        }
        Ok(_) => {}
        Err(error) => say(&format!("The command could not be run in {}: {error}\n", run.cwd)),
    }
}

fn stream(run: &Run, prompt: &str, turn: &Turn, say: &impl Fn(&str)) -> io::Result<(ExitStatus, String)> {
    let mut command = Command::new("sh");
    command.arg("-c").arg(&run.command).current_dir(&run.cwd);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.env("ACP_SESSION_ID", &run.session).env("ACP_SESSION_CWD", &run.cwd).env("ACP_SESSION_MODE", run.mode);
    let (mut child, group) = process_group::spawn(&mut command)?;
    let group = Arc::new(group);
    turn.runs(&group);
    let Child { stdin, stdout, stderr, .. } = &mut child;
    let (stdin, stdout, stderr) = (stdin.take(), stdout.take(), stderr.take());

    thread::scope(|scope| {
        let errors = scope.spawn(move || stderr.map(tail).unwrap_or_default());
        scope.spawn(move || {
            // A command need not read its input.
            stdin.map(|mut stdin| stdin.write_all(prompt.as_bytes()))
        });
        // What the command leaves running would keep its output open: it is ended with it.
        let status = scope.spawn(move || group.wait(&mut child));
        if let Some(stdout) = stdout {
            lines(stdout, say)?;
        }
        let status = status.join().unwrap_or_else(|_| Err(io::Error::other("its end was missed")))?;
        Ok((status, errors.join().unwrap_or_default()))
    })
}

fn lines(output: impl Read, say: &impl Fn(&str)) -> io::Result<()> {
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    while output.by_ref().take(LONGEST_PIECE).read_until(b'\n', &mut line)? > 0 {
        say(&String::from_utf8_lossy(&line));
        line.clear();
    }
    Ok(())
}

/// Reads to the end and returns the last part.
fn tail(mut errors: impl Read) -> String {
    let mut kept = Vec::new();
    let mut chunk = [0; 4096];
    while let Ok(length @ 1..) = errors.read(&mut chunk) {
        kept.extend_from_slice(&chunk[..length]);
        kept.drain(..kept.len().saturating_sub(ERROR_TAIL));
    }
    String::from_utf8_lossy(&kept).into_owned()
}
