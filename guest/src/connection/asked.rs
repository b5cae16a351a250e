//! What a client has asked for by its capabilities, and so may be shown of what is kept.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use serde_json::value::RawValue;

use super::terminals;
use crate::rpc::Object;

/// What goes only to clients that have asked for it (protocol v1, `clientCapabilities`). What an agent says live it says
/// to this client; what is replayed may have been said to another, and what it tells again when it loads a session is replayed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a capability of its own")]
pub(super) struct AskedFor {
    /// `session.notices`.
    notices: bool,
    /// `session.compaction`.
    compaction: bool,
    /// `session.configOptions.boolean`.
    booleans: bool,
    /// `plan` (unstable).
    plans: bool,
    /// `subagents` (unstable).
    subagents: bool,
    /// `session.listChanged` (draft of list extensions).
    list_changed: bool,
    /// `terminal`: it runs commands for the agent, and shows what they say.
    terminals: bool,
}

impl AskedFor {
    /// Reads the params of `initialize`.
    pub(super) fn read(params: &Object<'_>) -> Self {
        let client = params.get_object("clientCapabilities");
        let session = client.get_object("session");
        let options = session.get_object("configOptions");
        let has = |of: &Object<'_>, name: &str| of.get_some(name).is_some_and(|marker| marker != "false");
        Self {
            notices: has(&session, "notices"),
            compaction: has(&session, "compaction"),
            booleans: has(&options, "boolean"),
            plans: has(&client, "plan"),
            subagents: has(&client, "subagents"),
            list_changed: has(&session, "listChanged"),
            terminals: has(&client, "terminal"),
        }
    }

    /// Whether it knows the draft of list extensions, whose hints it wants.
    pub(super) fn knows_list_extensions(self) -> bool {
        self.list_changed
    }

    /// Whether it wants to be told, without rows, which lists are not what they were.
    pub(super) fn wants_list_hints(self) -> bool {
        self.list_changed
    }

    /// Whether updates of this `sessionUpdate` are shown to it when they are replayed.
    pub(super) fn admits(self, update: &str) -> bool {
        match update {
            "notice" => self.notices,
            "compaction_update" | "compaction_summary_chunk" => self.compaction,
            "plan_update" | "plan_removed" => self.plans,
            "subagent_update" | "session_message" | "session_message_chunk" => self.subagents,
            // Of version 2 of the protocol: what was being done then, which nobody can ask for in version 1.
            "state_update" => false,
            _ => true,
        }
    }

    /// An update of this name as it is shown to it when it is replayed, or told while a session opens; none of one that it
    /// has not asked for.
    pub(super) fn shown<'u>(self, name: &str, update: &'u str) -> Option<Cow<'u, str>> {
        let shown = || match name {
            "config_option_update" => self.with_options(update),
            _ if self.terminals => Cow::Borrowed(update),
            _ => terminals::left_out(name, update),
        };
        self.admits(name).then(shown)
    }

    /// The params of such an update as it is shown to it, as a log has them: options are in none.
    pub(super) fn params_shown<'p>(self, name: &str, params: &'p str) -> Option<Cow<'p, str>> {
        let shown = || if self.terminals { Cow::Borrowed(params) } else { terminals::left_out_of_params(name, params) };
        self.admits(name).then(shown)
    }

    /// An update that has configuration options.
    fn with_options(self, update: &str) -> Cow<'_, str> {
        let Some(mut told) = Object::parse(update) else { return Cow::Borrowed(update) };
        match told.get_some("configOptions").map(|options| self.options(options)) {
            Some(Cow::Owned(shown)) => told.set("configOptions", shown),
            Some(Cow::Borrowed(_)) | None => return Cow::Borrowed(update),
        }
        Cow::Owned(told.to_json())
    }

    /// Configuration options (a JSON array) without those it does not know how to show.
    pub(super) fn options(self, options: &str) -> Cow<'_, str> {
        let is_boolean = |option: &&RawValue| {
            Object::parse(option.get()).and_then(|option| option.get_string("type")).as_deref() == Some("boolean")
        };
        if self.booleans {
            return Cow::Borrowed(options);
        }
        let Ok(all) = serde_json::from_str::<Vec<&RawValue>>(options) else { return Cow::Borrowed(options) };
        let shown: Vec<&str> = all.iter().filter(|option| !is_boolean(option)).map(|option| option.get()).collect();
        if shown.len() == all.len() {
            return Cow::Borrowed(options);
        }
        Cow::Owned(format!("[{}]", shown.join(",")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_asks_for_is_read_from_its_capabilities() {
        let all = AskedFor {
            notices: true,
            compaction: true,
            booleans: true,
            plans: true,
            subagents: true,
            list_changed: true,
            terminals: true,
        };
        for (params, expected) in [
            ("{}", AskedFor::default()),
            (r#"{"clientCapabilities":null}"#, AskedFor::default()),
            (r#"{"clientCapabilities":{"session":5,"plan":false,"terminal":false}}"#, AskedFor::default()),
            (r#"{"clientCapabilities":{"session":{"notices":{}}}}"#, AskedFor { notices: true, ..AskedFor::default() }),
            (
                r#"{"clientCapabilities":{"session":{"notices":{},"compaction":{},"configOptions":{"boolean":{}},"listChanged":{}},"plan":{},"subagents":{},"terminal":true}}"#,
                all,
            ),
        ] {
            let params = Object::parse_or_empty(params);
            assert_eq!(AskedFor::read(&params), expected, "{params:?}");
        }
    }

    #[test]
    fn options_that_are_shown_stay_byte_for_byte() {
        let options = r#"[{"id":"a" ,"type":"select"},{"id":"b","type":"boolean"}, 5]"#;
        let asked = AskedFor { booleans: true, ..AskedFor::default() };
        assert_eq!(asked.options(options), options);
        assert_eq!(AskedFor::default().options(options), r#"[{"id":"a" ,"type":"select"},5]"#);
        for others in ["{}", "null", r#"[{"id":"a" }]"#] {
            assert_eq!(AskedFor::default().options(others), others);
        }
    }
}
