//! Prompts with a file or an image in them, which agents tell in other ways than they were sent.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, World, chunk, update};
use crate::scenes::{CWD, Turns, answers, both_open, leave, load_told, prompt_until_sent};

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn link() -> Value {
    json!({"type": "resource_link", "uri": "file:///work/a.rs", "name": "a.rs"})
}

fn file(name: &str) -> Value {
    json!({"type": "resource", "resource": {"uri": format!("file:///work/{name}"), "text": "fn main() {}\n"}})
}

/// A file as an agent tells it that has it in an element.
fn context(name: &str, text: &str) -> String {
    format!("<context ref=\"file:///work/{name}\">\n{text}\n</context>")
}

fn image() -> Value {
    json!({"type": "image", "data": "aGk=", "mimeType": "image/png"})
}

fn user(block: &Value) -> Value {
    json!({"sessionUpdate": "user_message_chunk", "content": block})
}

fn says(text: &str) -> Value {
    chunk("agent_message_chunk", text)
}

fn call(id: &str) -> Value {
    json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": "Read", "status": "completed"})
}

fn tells(desk: &mut Desk<'_>, told: &[Value]) {
    for told in told {
        desk.agent(update("s1", told.clone()));
    }
}

/// What is shown of a conversation that the agent tells so, without white space: blocks of the user's, words and calls of the
/// agent's; and what was set aside.
fn shown(store: &Memory, world: &World, told: &[Value]) -> (Vec<Value>, Value) {
    world.now.set(world.now.get() + 60_000);
    let mut desk = Desk::ready(store, world, &json!({"loadSession": true}));
    let out = load_told(&mut desk, told);
    let set_aside = out.answer("load")["result"]["_meta"]["acp-sessions"]["setAside"].clone();
    let kinds = ["user_message_chunk", "agent_message_chunk", "tool_call"];
    let all = out.client.iter().map(|message| &message["params"]["update"]);
    let all = all.filter(|update| kinds.iter().any(|kind| update["sessionUpdate"] == *kind));
    let shown = all.map(|update| if update["content"].is_null() { &update["toolCallId"] } else { &update["content"] });
    let shown = shown.cloned().collect();
    leave(desk);
    (shown, set_aside)
}

/// What is for the agent alone.
fn for_agent(text: &str) -> Value {
    json!({"type": "text", "text": text, "annotations": {"audience": ["assistant"]}})
}

/// Whether this prompt, among others, is known again in such a message, cancelled and answered, the first time and again.
fn is_known_again(prompt: &[Value], told: &str) {
    is_known_again_in(prompt, &[text(told)]);
}

/// The same in a message of these blocks.
fn is_known_again_in(prompt: &[Value], told: &[Value]) {
    for (answer, stop) in [(call("c1"), "cancelled"), (says("Ok."), "end_turn")] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
        desk.new_session("s1", CWD);
        desk.turn("s1", "Good morning", &["Good morning, what shall it be?"]);
        prompt_until_sent(&mut desk, "turn", prompt);
        tells(&mut desk, std::slice::from_ref(&answer));
        desk.agent(json!({"id": "turn", "result": {"stopReason": stop}}));
        desk.turn("s1", "And then?", &["Then it is done."]);
        leave(desk);
        let (before, behind) = (
            [chunk("user_message_chunk", "Good morning"), says("Good morning, what shall it be?")],
            [chunk("user_message_chunk", "And then?"), says("Then it is done.")],
        );
        let told_now: Vec<Value> = told.iter().map(user).chain([answer.clone()]).collect();
        let replay = [&before[..], &told_now, &behind].concat();
        let content = |update: &Value| {
            if update["content"].is_null() { update["toolCallId"].clone() } else { update["content"].clone() }
        };
        let expected: Vec<Value> = before
            .iter()
            .map(content)
            .chain(prompt.iter().cloned())
            .chain([content(&answer)])
            .chain(behind.iter().map(content))
            .collect();
        for time in ["first", "again"] {
            assert_eq!(shown(&store, &world, &replay), (expected.clone(), Value::Null), "{told:?}, {stop}, {time}");
        }
    }
}

#[test]
fn a_prompt_is_known_again_though_what_is_attached_is_told_as_text() {
    for (prompt, told) in [
        (vec![text("Look at "), link(), text(" please")], "Look at [@a.rs](file:///work/a.rs) please"),
        (vec![text("Look at "), link()], "Look at @a.rs"),
        (vec![text("Like this: "), image()], "Like this: [Image #1]"),
        (vec![text("Look at "), link(), text(" please")], "Look at \n[Context] file:///work/a.rs please"),
        (vec![text("Look at "), link()], "Look at \n[Context] file:///work/a.rs"),
        (vec![link()], "\n[Context] file:///work/a.rs"),
    ] {
        is_known_again(&prompt, told);
    }
}

#[test]
fn a_prompt_with_a_file_and_an_image_is_known_again() {
    let context = context("a.rs", "fn main() {}");
    for (prompt, told) in [
        // Some tell the image as one.
        (vec![text("Look at "), file("a.rs"), image()], format!("Look at [@a.rs](file:///work/a.rs){context}")),
        (vec![text("Look at "), file("a.rs"), image()], format!("Look at {context}[image]")),
        (vec![image(), text(" What does "), file("a.rs")], format!("<image/png> What does {context}")),
        (vec![file("a.rs"), image(), text("What?"), link()], format!("{context}[image]What?@a.rs")),
    ] {
        is_known_again(&prompt, &told);
    }
}

#[test]
fn a_prompt_with_nothing_but_what_is_attached_is_known_again() {
    let context = context("a.rs", "fn main() {}");
    for (prompt, told) in [
        (vec![file("a.rs")], format!("[@a.rs](file:///work/a.rs){context}")),
        (vec![file("a.rs"), text("\n"), file("a.rs")], format!("{context}\n{context}")),
        (vec![link()], "@a.rs".to_owned()),
        (vec![image()], "[Image #1]".to_owned()),
    ] {
        is_known_again(&prompt, &told);
    }
}

#[test]
fn a_prompt_is_known_again_though_its_file_is_told_in_a_section_at_the_end() {
    let section = |name: &str| format!("\nContent from @file:///work/{name}:\nfn main() {{}}");
    let (one, other) = (section("a.rs"), section("b.rs"));
    let begin = "\n--- Content from referenced context ---";
    let prompt = [text("Compare "), file("a.rs"), text(" with "), file("b.rs")];
    is_known_again(&prompt, &format!("Compare @file:///work/a.rs with @file:///work/b.rs{begin}{one}{other}"));
    let files = "\n--- Content from referenced files ---\nContent from @/work/a.rs:\nlines\n--- End of content ---";
    let prompt = [text("Compare "), link(), text(" with "), file("b.rs")];
    is_known_again(&prompt, &format!("Compare @/work/a.rs with @file:///work/b.rs{files}{begin}{other}"));
}

#[test]
fn what_is_said_between_two_files_is_a_part_of_the_prompt() {
    let (one, other) = (context("a.rs", "fn main() {}"), context("b.rs", "fn main() {}"));
    let prompt = [text("Good morning"), file("a.rs"), text(" again"), file("b.rs")];
    is_known_again(&prompt, &format!("Good morning{one} again{other}"));
}

/// An image with this data.
fn image_of(media_type: &str, data: &str) -> Value {
    json!({"type": "image", "data": data, "mimeType": media_type})
}

/// A link to it that has all of it, as Codex tells it.
fn data_link(media_type: &str, data: &str) -> String {
    format!("[@image](data:{media_type};base64,{data})")
}

#[test]
fn a_prompt_is_known_again_though_the_data_of_its_images_is_told_as_text_behind_all() {
    let (short, long) = ("iVBORw0KGgo=", "iVBORw/0KGgo+".repeat(30_000));
    let (one, other) = (image_of("image/png", short), image_of("image/jpeg", &long));
    let (told_one, told_other) = (data_link("image/png", short), data_link("image/jpeg", &long));
    let elsewhere =
        json!({"type": "image", "data": short, "mimeType": "image/png", "uri": "https://a.b/c%20d.png?e=f"});
    let blob =
        json!({"type": "resource", "resource": {"uri": "file:///work/a.png", "mimeType": "image/png", "blob": short}});
    for (prompt, told) in [
        (vec![one.clone(), text("What is it?")], vec![text("What is it?"), text(&told_one)]),
        (vec![text("What is "), one.clone(), text("?")], vec![text("What is ?"), text(&told_one)]),
        (
            vec![text("Compare "), one.clone(), text(" with "), other.clone()],
            vec![text("Compare  with "), text(&told_one), text(&told_other)],
        ),
        (vec![other.clone(), one.clone(), text("Compare")], vec![text(&format!("Compare{told_other}{told_one}"))]),
        (vec![one.clone()], vec![text(&told_one)]),
        (vec![other.clone()], vec![text(&told_other)]),
        (vec![one.clone(), one.clone()], vec![text(&told_one), text(&told_one)]),
        (vec![text("And "), elsewhere], vec![text("And "), text("[@image](https://a.b/c%20d.png?e=f)")]),
        (vec![text("And "), blob], vec![text("And "), text(&told_one)]),
        (
            vec![text("Like "), file("a.rs"), one.clone()],
            vec![text(&format!("Like [@a.rs](file:///work/a.rs){}", context("a.rs", "fn main() {}"))), text(&told_one)],
        ),
    ] {
        is_known_again_in(&prompt, &told);
    }
}

#[test]
fn what_an_agent_has_read_of_a_link_is_not_what_the_user_said() {
    let called = for_agent("Called the Read tool with the following input: {\"filePath\":\"/work/a.rs\"}");
    let read = for_agent("<path>/work/a.rs</path>\n<content>1: fn main() {}\n</content>");
    let linked = json!({"type": "resource_link", "uri": "file:///work/a.rs", "name": "a.rs", "mimeType": "text/plain"});
    let told = [called, read, linked];
    for prompt in [
        vec![link(), text("Explain")],
        vec![text("Explain "), link()],
        vec![text("Look at "), link(), text(" and fix it")],
        vec![link()],
    ] {
        let in_place =
            prompt.iter().flat_map(|block| if block["type"] == "text" { vec![block.clone()] } else { told.to_vec() });
        is_known_again_in(&prompt, &in_place.collect::<Vec<Value>>());
    }
    is_known_again_in(&[text("Explain "), file("a.rs")], &[text("Explain "), text("[/work/a.rs]\nfn main() {}\n")]);
}

#[test]
fn a_prompt_is_known_again_though_its_file_is_told_between_lines_or_below_a_heading() {
    let lines = |name: &str| format!("--- Resource: file:///work/{name} ---\nfn main() {{}}\n\n---\n");
    let heading = "\n\n# /work/a.rs\n```\n# Shop\n```\nnpm start\n```\n\n```";
    for (prompt, told) in [
        (vec![text("Explain "), file("a.rs")], format!("Explain {}", lines("a.rs"))),
        (vec![file("a.rs"), text("or"), file("b.rs")], format!("{}or{}", lines("a.rs"), lines("b.rs"))),
        (vec![file("a.rs")], lines("a.rs")),
        (vec![text("Explain "), link(), text(" please")], format!("Explain {heading} please")),
        (vec![link(), text("What is "), file("a.rs")], format!("{heading}What is {}", lines("a.rs"))),
        (vec![link()], heading.to_owned()),
    ] {
        is_known_again(&prompt, &told);
    }
}

#[test]
fn what_a_client_says_to_the_agent_alone_is_a_part_of_its_prompt_however_it_is_told() {
    let skills = || for_agent("Use these skills: review.");
    for told in [
        vec![skills(), text("Fix it")],
        vec![text("Use these skills: review."), text("Fix it")],
        vec![text("Use these skills: review.\n\nFix it")],
        vec![text("Fix it")],
    ] {
        is_known_again_in(&[skills(), text("Fix it")], &told);
    }
    is_known_again_in(&[skills()], &[skills()]);
    is_known_again_in(&[skills(), link()], &[skills(), for_agent("a.rs: fn main() {}"), link()]);
}

#[test]
fn what_the_user_said_like_that_stays_another_prompt() {
    for (prompt, said) in [
        (vec![text("Explain "), link()], "Explain # /work/b.rs"),
        (vec![text("Explain "), link()], "Explain\n# /work/a.rs\n```\nfn main() {}\n```\nand fix it"),
        (vec![text("Explain "), file("a.rs")], "Explain --- Resource: file:///work/b.rs ---\nfn main() {}\n---"),
        (vec![text("Explain "), file("a.rs")], "Explain [b.rs]"),
        (vec![for_agent("Use these skills: review."), text("Fix it")], "Use these skills: review."),
        (vec![text("Like this: "), image()], "Like this: [@image](data:image/png;base64,aGl=)"),
        (vec![text("Like this: "), image()], "Not like this: [@image](data:image/png;base64,aGk=)"),
        (vec![text("Like this: "), image()], "Like this: (data:image/png;base64,aGk=)"),
    ] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
        desk.new_session("s1", CWD);
        prompt_until_sent(&mut desk, "turn", &prompt);
        tells(&mut desk, &[says("Ok.")]);
        desk.agent(json!({"id": "turn", "result": {"stopReason": "end_turn"}}));
        leave(desk);
        let replay: Vec<Value> = prompt.iter().map(user).chain([says("Ok.")]).collect();
        let more = [chunk("user_message_chunk", said), says("It is.")];
        let expected: Vec<Value> = prompt.iter().cloned().chain([text("Ok."), text(said), text("It is.")]).collect();
        for time in ["first", "again"] {
            let replay = [&replay[..], &more].concat();
            assert_eq!(shown(&store, &world, &replay), (expected.clone(), Value::Null), "{said}, {time}");
        }
    }
}

#[test]
fn a_prompt_that_was_cancelled_is_known_in_one_message_with_the_next() {
    for (prompt, told) in [
        (vec![text("Look at "), link(), text(" please")], &["Look at ", "[@a.rs](file:///work/a.rs)", " please"][..]),
        (vec![text("Look at "), link(), text(" please")], &["Look at [@a.rs](file:///work/a.rs) please"]),
        (vec![text("Like this: "), image(), image()], &["Like this: ", "[Image #1]", "[Image #2]"]),
    ] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
        desk.new_session("s1", CWD);
        prompt_until_sent(&mut desk, "turn", &prompt);
        desk.agent(json!({"id": "turn", "result": {"stopReason": "cancelled"}}));
        desk.turn("s1", "No, do not", &["Then I shall not."]);
        leave(desk);
        let told_next = [chunk("user_message_chunk", "No, do not"), says("Then I shall not.")];
        let replay: Vec<Value> = told.iter().map(|told| chunk("user_message_chunk", told)).chain(told_next).collect();
        let expected: Vec<Value> =
            prompt.iter().cloned().chain(["No, do not", "Then I shall not."].map(text)).collect();
        for time in ["first", "again"] {
            assert_eq!(shown(&store, &world, &replay), (expected.clone(), Value::Null), "{told:?}, {time}");
        }
    }
}

#[test]
fn turns_of_two_windows_stay_whole_though_what_is_attached_to_one_is_told_as_text() {
    for (prompt, told) in [
        ([text("Look at "), link()], "Look at [@a.rs](file:///work/a.rs)"),
        ([text("Like this: "), image()], "Like this: [Image]"),
    ] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let before: Turns<'_> = &[("one", "answer one")];
        let (mut first, mut second) = both_open(&store, &world, &json!({"loadSession": true}), before);
        prompt_until_sent(&mut first, "turn", &prompt);
        tells(&mut first, &[says("first words, ")]);
        first.wait(100);
        prompt_until_sent(&mut second, "turn", &[text("meanwhile")]);
        tells(&mut second, &[says("of the other")]);
        second.wait(100);
        tells(&mut first, &[says("last words")]);
        first.wait(100);
        first.agent(answers("turn"));
        second.agent(answers("turn"));
        leave(first);
        leave(second);
        let replay = [
            chunk("user_message_chunk", "one"),
            says("answer one"),
            chunk("user_message_chunk", told),
            says("first words, "),
            chunk("user_message_chunk", "meanwhile"),
            says("of the other"),
            says("last words"),
        ];
        let expected: Vec<Value> = [text("one"), text("answer one"), prompt[0].clone(), prompt[1].clone()]
            .into_iter()
            .chain(["first words, ", "last words", "meanwhile", "of the other"].map(text))
            .collect();
        for time in ["first", "again"] {
            assert_eq!(shown(&store, &world, &replay), (expected.clone(), Value::Null), "{told}, {time}");
        }
    }
}

#[test]
fn what_is_attached_is_no_other_prompt_where_the_agent_has_said_nothing() {
    for prompt in [vec![text("Fix it "), image()], vec![image(), text("Fix it")], vec![text("Fix it "), link(), link()]]
    {
        for answer in [vec![call("c1")], vec![]] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
            desk.new_session("s1", CWD);
            prompt_until_sent(&mut desk, "turn", &prompt);
            tells(&mut desk, &answer);
            desk.agent(json!({"id": "turn", "result": {"stopReason": "cancelled"}}));
            leave(desk);
            let replay: Vec<Value> = prompt.iter().map(user).chain(answer.iter().cloned()).collect();
            let expected: Vec<Value> =
                prompt.iter().cloned().chain(answer.iter().map(|call| call["toolCallId"].clone())).collect();
            for time in ["first", "again"] {
                assert_eq!(shown(&store, &world, &replay), (expected.clone(), Value::Null), "{prompt:?}, {time}");
            }
        }
    }
}
