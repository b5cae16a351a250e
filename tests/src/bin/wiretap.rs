//! `wiretap LOG COMMAND ARGS…`: runs the command and appends every line that it reads and writes to the log; see
//! `acp_sessions_tests::tap` for its form.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, ExitCode, Stdio};
use std::thread;

fn main() -> io::Result<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    let (Some(log), Some(program)) = (args.next(), args.next()) else {
        eprintln!("usage: wiretap LOG COMMAND ARGS…");
        return Ok(ExitCode::from(2));
    };
    let log = OpenOptions::new().create(true).append(true).open(log)?;
    (&log).write_all(b"=\n")?;
    let mut child = Command::new(program).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let to_child = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let from_child = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let log_of_input = log.try_clone()?;
    // Ends with the process; a child that is gone makes it end early.
    thread::spawn(move || copy(io::stdin().lock(), to_child, &log_of_input, b'>').ok());
    copy(BufReader::new(from_child), io::stdout().lock(), &log, b'<')?;
    let code = child.wait()?.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}

/// Copies line by line. The log gets a line before its reader does, so that an answer is never logged before its
/// question.
fn copy(mut from: impl BufRead, mut to: impl Write, mut log: &File, mark: u8) -> io::Result<()> {
    let mut line = vec![mark];
    while from.read_until(b'\n', &mut line)? > 0 {
        log.write_all(&line)?;
        to.write_all(&line[1..])?;
        to.flush()?;
        line.truncate(1);
    }
    Ok(())
}
