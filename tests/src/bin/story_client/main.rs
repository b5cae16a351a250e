//! `story_client CWD ENDLESS-PROMPT AGENT ARGS…`: the life of a session, told by the official Rust SDK. Prints a
//! report; a mismatch is a panic.

mod seat;
mod story;

use agent_client_protocol::Error;

fn main() -> Result<(), Error> {
    let mut args = std::env::args().skip(1);
    let (Some(cwd), Some(endless)) = (args.next(), args.next()) else {
        eprintln!("usage: story_client CWD ENDLESS-PROMPT AGENT ARGS…");
        std::process::exit(2);
    };
    let story = story::Story { cwd, endless, command: args.collect() };
    println!("{}", futures::executor::block_on(story.tell())?);
    Ok(())
}
