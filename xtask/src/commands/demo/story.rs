//! The conversation, and what must come of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};

use super::editor::{Editor, Reply, Speaker};
use super::show;
use crate::style;

const PROMPTS: [&str; 2] = ["Why does the parser lose the last line?", "Good. Write a test for it, please."];
const FORK_PROMPT: &str = "Let us try it another way here.";

/// ACP's code for something that is not there.
const NOT_FOUND: i64 = -32002;

/// Plays it with a store and a project in this folder.
pub(crate) fn tell(program: &Path, folder: &Path) -> Result<()> {
    let project = folder.join("project");
    fs::create_dir(&project).context("cannot make the project's folder")?;
    let stage = Stage { program: program.to_owned(), store: folder.join("sessions.db"), project };

    show::scene("An editor starts `acp-sessions agent` and talks with it.");
    let mut editor = stage.editor()?;
    let id = stage.open(&mut editor)?;
    let mut said = Vec::new();
    for prompt in PROMPTS {
        said.push((Speaker::User, prompt.to_owned()));
        said.extend(say(&mut editor, &id, prompt)?);
    }
    stage.list(&mut editor, &[&id])?;
    editor.leave().context("the editor was closed")?;

    show::scene("The editor was closed. A second process loads the session from the store.");
    let mut editor = stage.editor()?;
    let reply = stage.attach(&mut editor, "session/load", &id)?;
    let replayed = reply.conversation();
    show::exchange("session/load", format_args!("{} updates, then the response", reply.updates.len()));
    show::conversation(&replayed);
    ensure!(replayed == said, "the replay is not what was said: {replayed:?} instead of {said:?}");

    show::scene("A fork has the same history and goes its own way.");
    let fork = stage.fork(&mut editor, &id)?;
    let mode = stage.set_another_mode(&mut editor, &fork)?;
    let mut said_in_fork = said.clone();
    said_in_fork.push((Speaker::User, FORK_PROMPT.to_owned()));
    said_in_fork.extend(say(&mut editor, &fork, FORK_PROMPT)?);
    stage.list(&mut editor, &[&fork, &id])?;

    show::scene("The first session is deleted; its fork lives on.");
    editor.request("session/delete", &json!({"sessionId": id}))?.result()?;
    show::exchange("session/delete", &id);
    stage.list(&mut editor, &[&fork])?;
    let gone = editor.request("session/load", &stage.place(&id))?;
    match &gone.outcome {
        Err(error) if error["code"] == NOT_FOUND => show::exchange("session/load", &error["message"]),
        other => bail!("loading a deleted session gave {other:?}"),
    }
    editor.leave().context("the editor was closed")?;

    show::scene("A third process: the fork's history and mode are as they were left.");
    let mut editor = stage.editor()?;
    let reply = stage.attach(&mut editor, "session/load", &fork)?;
    let kept = &reply.result()?["modes"]["currentModeId"];
    ensure!(*kept == mode, "the fork came back in mode {kept} instead of {mode}");
    show::exchange("session/load", format_args!("{} updates, mode {mode}", reply.updates.len()));
    let replayed = reply.conversation();
    show::conversation(&replayed);
    ensure!(replayed == said_in_fork, "the replay is not what was said: {replayed:?} instead of {said_in_fork:?}");
    editor.leave().context("the editor was closed")
}

/// What every act of the story needs.
struct Stage {
    program: PathBuf,
    store: PathBuf,
    project: PathBuf,
}

impl Stage {
    /// A fresh process that has answered `initialize`.
    fn editor(&self) -> Result<Editor> {
        let mut editor = Editor::start(Command::new(&self.program).args(["agent", "--store"]).arg(&self.store))?;
        let params =
            json!({"protocolVersion": 1, "clientCapabilities": {}, "clientInfo": {"name": "demo", "version": "1"}});
        let reply = editor.request("initialize", &params)?;
        let result = reply.result()?;
        ensure!(result["protocolVersion"] == 1, "unexpected answer to initialize: {result}");
        let capabilities = &result["agentCapabilities"];
        ensure!(capabilities["loadSession"] == true, "session/load is not offered: {capabilities}");
        let offered = capabilities["sessionCapabilities"].as_object().context("no sessionCapabilities")?;
        for needed in ["list", "resume", "fork", "close", "delete"] {
            ensure!(offered.get(needed).is_some_and(Value::is_object), "{needed} is not offered: {capabilities}");
        }
        let names: Vec<_> = offered.keys().map(String::as_str).collect();
        show::exchange("initialize", format_args!("protocol 1; load, {}", names.join(", ")));
        Ok(editor)
    }

    fn open(&self, editor: &mut Editor) -> Result<String> {
        let reply = editor.request("session/new", &json!({"cwd": self.project, "mcpServers": []}))?;
        let id = session_id(&reply)?;
        show::exchange("session/new", &id);
        Ok(id)
    }

    /// The params that name a session and where it works.
    fn place(&self, id: &str) -> Value {
        json!({"sessionId": id, "cwd": self.project, "mcpServers": []})
    }

    fn attach(&self, editor: &mut Editor, method: &str, id: &str) -> Result<Reply> {
        let reply = editor.request(method, &self.place(id))?;
        reply.result()?;
        Ok(reply)
    }

    fn fork(&self, editor: &mut Editor, id: &str) -> Result<String> {
        let reply = self.attach(editor, "session/fork", id)?;
        let fork = session_id(&reply)?;
        ensure!(fork != id, "the fork has the id of its parent");
        show::exchange("session/fork", &fork);
        Ok(fork)
    }

    /// Sets the first mode that the session is not in.
    fn set_another_mode(&self, editor: &mut Editor, id: &str) -> Result<String> {
        let reply = self.attach(editor, "session/resume", id)?;
        let modes = &reply.result()?["modes"];
        let current = &modes["currentModeId"];
        let available = modes["availableModes"].as_array().context("the agent offers no modes")?;
        let other =
            available.iter().map(|mode| &mode["id"]).find(|id| *id != current).context("there is one mode only")?;
        editor.request("session/set_mode", &json!({"sessionId": id, "modeId": other}))?.result()?;
        show::exchange("session/set_mode", format_args!("{other}, was {current}"));
        Ok(other.as_str().context("a mode's id is not text")?.to_owned())
    }

    /// Lists the project's sessions; they must be these, in this order, all with a title.
    fn list(&self, editor: &mut Editor, expected: &[&str]) -> Result<()> {
        let reply = editor.request("session/list", &json!({"cwd": self.project}))?;
        let sessions = reply.result()?["sessions"].as_array().context("no sessions in the list")?;
        let plural = if sessions.len() == 1 { "" } else { "s" };
        show::exchange("session/list", format_args!("{} session{plural}", sessions.len()));
        show::table(sessions);
        let ids: Vec<_> = sessions.iter().map(|row| row["sessionId"].as_str().unwrap_or_default()).collect();
        ensure!(ids == expected, "the list holds {ids:?} instead of {expected:?}");
        ensure!(sessions.iter().all(|row| row["title"].is_string()), "a session has no title");
        Ok(())
    }
}

/// Sends a prompt and returns what the agent said.
fn say(editor: &mut Editor, id: &str, prompt: &str) -> Result<Vec<(Speaker, String)>> {
    let content = json!([{"type": "text", "text": prompt}]);
    let reply = editor.request("session/prompt", &json!({"sessionId": id, "prompt": content}))?;
    let stop = &reply.result()?["stopReason"];
    ensure!(stop == "end_turn", "the turn ended with {stop}");
    let said = reply.conversation();
    ensure!(said.iter().any(|(speaker, _)| *speaker == Speaker::Agent), "the agent said nothing");
    show::exchange("session/prompt", format_args!("{} {}", reply.updates.len(), style::dim("updates, then end_turn")));
    show::conversation(&[(Speaker::User, prompt.to_owned())]);
    show::conversation(&said);
    Ok(said)
}

fn session_id(reply: &Reply) -> Result<String> {
    Ok(reply.result()?["sessionId"].as_str().context("no sessionId")?.to_owned())
}
