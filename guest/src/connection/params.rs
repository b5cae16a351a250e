//! Reading the params of the methods that concern sessions. What is wrong is named (-32602).

use serde_json::json;

use crate::rpc::{self, Object, RpcError};
use crate::store::{directory, keys};

/// The member of `_meta` that is the layer's.
pub(in crate::connection) const OWN: &str = "acp-sessions";

/// What a request says to the agent besides which session it is for.
#[derive(Debug, Clone, Default)]
pub(in crate::connection) struct Rest(Option<String>);

impl Rest {
    /// The params of a request to the agent for the session that it knows by this id.
    pub(in crate::connection) fn naming(&self, agent_id: &str) -> String {
        let mut params = Object::parse_or_empty(self.0.as_deref().unwrap_or("{}"));
        params.set("sessionId", json!(agent_id).to_string());
        params.to_json()
    }
}

/// A `_meta` without what is of a layer; none where nothing is left of it.
pub(in crate::connection) fn without_own(json: &str) -> Option<String> {
    let Some(mut meta) = Object::parse(json).filter(|meta| meta.get(OWN).is_some()) else {
        return Some(json.to_owned());
    };
    meta.remove(OWN);
    let is_empty = meta.iter().next().is_none();
    (!is_empty).then(|| meta.to_json())
}

/// The members of a request's params.
#[derive(Debug)]
pub(in crate::connection) struct Params<'a>(Object<'a>);

impl<'a> Params<'a> {
    /// Reads params; missing ones are no members, anything but an object is refused.
    pub(in crate::connection) fn read(params: Option<&'a str>) -> Result<Self, RpcError> {
        let Some(params) = params else { return Ok(Self(Object::default())) };
        Object::parse(params).map(Self).ok_or_else(|| RpcError::invalid_params("params", "must be an object"))
    }

    pub(in crate::connection) fn object(&self) -> &Object<'a> {
        &self.0
    }

    /// Everything but the session's id and what is meant for the layer: what an agent is given when a session is opened,
    /// in its own directory unless another is given.
    pub(in crate::connection) fn to_open(&self, own: Option<&str>) -> String {
        let meta = self.meta_for_agent();
        let mut rest = self.0.clone();
        rest.remove("sessionId");
        if let Some(cwd) = own.filter(|_| self.0.get_some("cwd").is_none()) {
            rest.set("cwd", json!(cwd).to_string());
        }
        match meta {
            Some(meta) if self.0.get("_meta") != Some(&meta) => rest.set("_meta", meta),
            Some(_) => {}
            None => rest.remove("_meta"),
        }
        rest.to_json()
    }

    /// What an agent is given when a session is opened in the directories that the session has, whatever others are
    /// given.
    pub(in crate::connection) fn to_open_as(&self, cwd: &str, directories: &[String]) -> String {
        let rest = self.to_open(None);
        let mut rest = Object::parse_or_empty(&rest);
        rest.set("cwd", json!(cwd).to_string());
        rest.remove("additionalDirectories");
        if !directories.is_empty() {
            rest.set("additionalDirectories", json!(directories).to_string());
        }
        rest.to_json()
    }

    /// Everything but the session's id and what is meant for the layer, for another request about it.
    pub(in crate::connection) fn rest(&self) -> Rest {
        Rest(Some(self.to_open(None)))
    }

    /// `_meta` without what is meant for the layer: a layer behind this one would take it for itself. None where nothing
    /// is left of it.
    pub(in crate::connection) fn meta_for_agent(&self) -> Option<String> {
        self.0.get("_meta").and_then(without_own)
    }

    fn required(&self, field: &'static str) -> Result<&str, RpcError> {
        self.0.get_some(field).ok_or_else(|| RpcError::invalid_params(field, "is missing"))
    }

    /// A required string.
    pub(in crate::connection) fn string(&self, field: &'static str) -> Result<String, RpcError> {
        serde_json::from_str(self.required(field)?).map_err(|_| RpcError::invalid_params(field, "must be a string"))
    }

    /// A required string for people; see [`rpc::text`].
    pub(in crate::connection) fn text(&self, field: &'static str) -> Result<String, RpcError> {
        rpc::text(self.required(field)?).ok_or_else(|| RpcError::invalid_params(field, "must be a string"))
    }

    /// The required `sessionId`.
    pub(in crate::connection) fn session_id(&self) -> Result<String, RpcError> {
        const FIELD: &str = "sessionId";
        // Not unescaped before its length is known.
        if self.required(FIELD)?.len() > keys::LONGEST_ID {
            return Err(RpcError::invalid_params(FIELD, "is longer than any session's"));
        }
        let id = self.string(FIELD)?;
        if id.is_empty() { Err(RpcError::invalid_params(FIELD, "must not be empty")) } else { Ok(id) }
    }

    /// A required array, as JSON.
    pub(in crate::connection) fn array(&self, field: &'static str) -> Result<&str, RpcError> {
        let json = self.required(field)?;
        if json.starts_with('[') { Ok(json) } else { Err(RpcError::invalid_params(field, "must be an array")) }
    }

    /// `cwd`, where it is given.
    pub(in crate::connection) fn cwd_given(&self) -> Result<Option<String>, RpcError> {
        self.0.get_some("cwd").map(|_| self.cwd()).transpose()
    }

    /// The required `cwd`, as given; must be absolute in the syntax of some platform.
    pub(in crate::connection) fn cwd(&self) -> Result<String, RpcError> {
        let cwd = self.string("cwd")?;
        if directory::normalise(&cwd).is_none() {
            return Err(RpcError::invalid_params("cwd", "must be an absolute path"));
        }
        Ok(cwd)
    }

    /// `mcpServers`: required on new and load, optional elsewhere (protocol v1). Null is none, as agents read it.
    pub(in crate::connection) fn check_mcp_servers(&self, required: bool) -> Result<(), RpcError> {
        let is_null = self.0.get("mcpServers") == Some("null");
        if self.0.get_some("mcpServers").is_some() || required && !is_null {
            self.array("mcpServers")?;
        }
        Ok(())
    }

    /// `additionalDirectories`, where given: absolute paths.
    pub(in crate::connection) fn additional_directories(&self) -> Result<Vec<String>, RpcError> {
        const FIELD: &str = "additionalDirectories";
        let Some(json) = self.0.get_some(FIELD) else { return Ok(Vec::new()) };
        let Ok(directories) = serde_json::from_str::<Vec<String>>(json) else {
            return Err(RpcError::invalid_params(FIELD, "must be an array of strings"));
        };
        if directories.iter().any(|directory| directory::normalise(directory).is_none()) {
            return Err(RpcError::invalid_params(FIELD, "must hold absolute paths only"));
        }
        Ok(directories)
    }

    /// A member of `_meta["acp-sessions"]`, as JSON.
    pub(in crate::connection) fn own_meta(&self, member: &str) -> Option<String> {
        self.0.get_object("_meta").get_object(OWN).get(member).map(str::to_owned)
    }
}
