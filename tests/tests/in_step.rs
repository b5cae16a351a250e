//! Two programs that have one session open, each with an agent of its own: what is said in one is shown in the other.

use acp_sessions_tests::client::Client;
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::transcript::spoken;
use serde_json::Value;

/// What comes of a turn elsewhere, up to the title, which comes last. All of it is marked so.
fn shown(client: &mut Client, session: &str) -> Vec<String> {
    client.wait_for_update(session, |update| update["sessionUpdate"] == "session_info_update");
    let told = client.take_notified(|method, params| method == "session/update" && params["sessionId"] == session);
    let (updates, marks): (Vec<Value>, Vec<bool>) = told
        .into_iter()
        .map(|(_, mut params)| {
            let is_marked = params["_meta"]["acp-sessions"]["elsewhere"] == true;
            (params["update"].take(), is_marked)
        })
        .filter(|(update, _)| update["sessionUpdate"] != "session_info_update")
        .unzip();
    assert!(marks.iter().all(|is_marked| *is_marked), "{updates:?}: {marks:?}");
    spoken(&updates)
}

/// Two windows of these agents: their names, and what else they are started with.
fn stay_in_step(names: [&str; 2], flags: &[&str]) {
    let scene = Scene::new();
    let launch = |name| scene.proxy(&[], &[&["--name", name], flags].concat());
    let mut windows = names.map(|name| Client::ready(&launch(name)));
    let session = windows[0].new_session(&scene.cwd());
    windows[0].prompt(&session, "first");
    windows[1].load(&session, &scene.cwd());
    for (nth, text) in ["second", "third", "fourth", "fifth"].into_iter().enumerate() {
        let [mine, theirs] = &mut windows;
        let (speaking, other) = if nth.is_multiple_of(2) { (theirs, mine) } else { (mine, theirs) };
        speaking.take_notified(|_, _| true);
        other.take_notified(|_, _| true);
        let said = speaking.prompt(&session, text);
        let whole: Vec<String> = [format!("> {text}")].into_iter().chain(spoken(&said)).collect();
        assert_eq!(shown(other, &session), whole);
        let heard = scene.heard_of("session/prompt");
        let prompt = heard.last().expect("a prompt")["prompt"].to_string();
        let before = ["first", "second", "third", "fourth"][nth];
        // One that keeps its sessions has the first from where it keeps them.
        let is_its_own = nth == 0 && names[0] == names[1];
        assert_eq!(prompt.contains(&format!("User: {before}")), !is_its_own, "{prompt}");
    }
}

#[test]
fn what_is_said_in_one_window_is_shown_in_the_other_and_told_to_its_agent() {
    stay_in_step(["one", "another"], &[]);
}

#[test]
fn windows_with_two_programs_of_one_agent_stay_in_step_too() {
    stay_in_step(["one", "one"], &["--resume"]);
}
