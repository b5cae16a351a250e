//! The settings a host may give, by name.

/// Why a setting is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// There is none of this name.
    #[error("there is no setting `{0}`")]
    Unknown(String),
    /// It does not take this value.
    #[error("the setting `{name}` takes {expected}, not `{value}`")]
    BadValue {
        /// The setting.
        name: String,
        /// What it was given.
        value: String,
        /// What it takes, in words.
        expected: String,
    },
}

/// Which form of the protocol is spoken to the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// What the stable schema has.
    #[default]
    Stable,
    /// As the draft had it that preceded it: `listSessions: true` is advertised too, and every list has `createdAt` at the root
    /// of its rows and pages of 50.
    Draft,
}

/// Whose sessions `session/list` shows where a request does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Listed {
    /// Those of the agent behind the engine.
    #[default]
    Own,
    /// All in the store.
    All,
}

/// How the engine behaves on a connection.
#[derive(Debug, Clone)]
pub struct Settings {
    /// `page-size`: rows in a page of a plain `session/list`, 1 to 1000. Default 100.
    pub page_size: u32,
    /// `dialect`: `stable`, or `draft`. Default stable.
    pub dialect: Dialect,
    /// `prefer-load`: whether clients are not shown that sessions can be resumed, so that one that would resume and show an
    /// empty window loads instead. `on` or `off`. Default off.
    pub prefer_load: bool,
    /// `rehydrate`: whether an agent is told, before the next prompt, what was said in a session and it has not heard: all of it
    /// where the agent starts the session afresh, or what was said in other windows. `on` or `off`. Default on.
    pub rehydrate: bool,
    /// `retain-days`: sessions idle for longer are removed; 0, the default, keeps them.
    pub retain_days: u32,
    /// `prune-empty-hours`: sessions without a prompt that are idle for longer are removed; 0 keeps them. Default 24.
    pub prune_empty_hours: u32,
    /// `flush-ms`: how long recorded updates may wait for their batch, 1 to 200. Default 100.
    pub flush_ms: u32,
    /// `agent-timeout-ms`: how long the agent may be silent while it is asked to open or close a session, or for a
    /// page of its own list, while the program is running. Default 120000.
    pub agent_timeout_ms: u32,
    /// `list`: whose sessions are shown, `own` or `all`. Default own.
    pub list: Listed,
    /// `chain`: whether a conductor may make it a proxy in its chain (`proxy/initialize`), which has the agent then. A host that
    /// has an agent of its own says `off`. `on` or `off`. Default on.
    pub chain: bool,
    /// `agent`: what an agent is called that does not give its name. Default `unnamed`.
    pub agent: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            page_size: 100,
            dialect: Dialect::Stable,
            prefer_load: false,
            rehydrate: true,
            retain_days: 0,
            prune_empty_hours: 24,
            flush_ms: 100,
            agent_timeout_ms: 120_000,
            list: Listed::Own,
            chain: true,
            agent: "unnamed".to_owned(),
        }
    }
}

impl Settings {
    /// Reads settings; an unknown name or a bad value is refused with a sentence that says which.
    pub fn read(settings: impl IntoIterator<Item = (String, String)>) -> Result<Self, SettingError> {
        let mut read = Self::default();
        for (name, value) in settings {
            read.set(&name, &value)?;
        }
        Ok(read)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), SettingError> {
        let takes = |expected: &str| SettingError::BadValue {
            name: name.to_owned(),
            value: value.to_owned(),
            expected: expected.to_owned(),
        };
        let number = |least: u32, most: u32| {
            let number = value.parse().ok().filter(|number| (least..=most).contains(number));
            number.ok_or_else(|| takes(&format!("a number from {least} to {most}")))
        };
        let switch = || match value {
            "on" => Ok(true),
            "off" => Ok(false),
            _ => Err(takes("`on` or `off`")),
        };
        match name {
            "page-size" => self.page_size = number(1, 1000)?,
            "retain-days" => self.retain_days = number(0, 100_000)?,
            "prune-empty-hours" => self.prune_empty_hours = number(0, 1_000_000)?,
            "flush-ms" => self.flush_ms = number(1, 200)?,
            "agent-timeout-ms" => self.agent_timeout_ms = number(1, 3_600_000)?,
            "dialect" => {
                self.dialect = match value {
                    "stable" => Dialect::Stable,
                    "draft" => Dialect::Draft,
                    _ => return Err(takes("`stable` or `draft`")),
                }
            }
            "list" => {
                self.list = match value {
                    "own" => Listed::Own,
                    "all" => Listed::All,
                    _ => return Err(takes("`own` or `all`")),
                }
            }
            "agent" => {
                if value.trim().is_empty() {
                    return Err(takes("a name"));
                }
                value.clone_into(&mut self.agent);
            }
            "prefer-load" => self.prefer_load = switch()?,
            "rehydrate" => self.rehydrate = switch()?,
            "chain" => self.chain = switch()?,
            _ => return Err(SettingError::Unknown(name.to_owned())),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_settings_are_named() {
        for (name, value, ok) in [
            ("page-size", "1000", true),
            ("page-size", "0", false),
            ("page-size", "many", false),
            ("dialect", "draft", true),
            ("dialect", "Draft", false),
            ("rehydrate", "off", true),
            ("rehydrate", "no", false),
            ("prefer-load", "on", true),
            ("prefer-load", "true", false),
            ("chain", "off", true),
            ("chain", "no", false),
            ("list", "all", true),
            ("list", "mine", false),
            ("agent", "x", true),
            ("agent", " ", false),
            ("colour", "red", false),
        ] {
            let read = Settings::read([(name.to_owned(), value.to_owned())]);
            assert_eq!(read.is_ok(), ok, "{name}={value}");
            assert!(read.err().is_none_or(|refused| refused.to_string().contains(name)));
        }
    }
}
