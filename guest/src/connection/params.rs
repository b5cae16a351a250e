//! Reading the params of the methods that concern sessions. What is wrong is named (-32602).

use serde_json::Value;

use crate::rpc::{Object, RpcError};
use crate::store::directory;

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

    /// Everything but the session's id: what an agent is given when a session is opened.
    pub(in crate::connection) fn without_session(&self) -> String {
        let mut rest = self.0.clone();
        rest.remove("sessionId");
        rest.to_json()
    }

    fn required(&self, field: &'static str) -> Result<&str, RpcError> {
        self.0.get_some(field).ok_or_else(|| RpcError::invalid_params(field, "is missing"))
    }

    /// A required string.
    pub(in crate::connection) fn string(&self, field: &'static str) -> Result<String, RpcError> {
        serde_json::from_str(self.required(field)?).map_err(|_| RpcError::invalid_params(field, "must be a string"))
    }

    /// The required `sessionId`.
    pub(in crate::connection) fn session_id(&self) -> Result<String, RpcError> {
        self.string("sessionId")
    }

    /// A required array, as JSON.
    pub(in crate::connection) fn array(&self, field: &'static str) -> Result<&str, RpcError> {
        let json = self.required(field)?;
        if json.starts_with('[') { Ok(json) } else { Err(RpcError::invalid_params(field, "must be an array")) }
    }

    /// The required `cwd`, as given; must be absolute in the syntax of some platform.
    pub(in crate::connection) fn cwd(&self) -> Result<String, RpcError> {
        let cwd = self.string("cwd")?;
        if directory::normalise(&cwd).is_none() {
            return Err(RpcError::invalid_params("cwd", "must be an absolute path"));
        }
        Ok(cwd)
    }

    /// `mcpServers`: required on new and load, optional elsewhere (protocol v1).
    pub(in crate::connection) fn check_mcp_servers(&self, required: bool) -> Result<(), RpcError> {
        if required || self.0.get_some("mcpServers").is_some() {
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

    /// A member of `_meta["acp-sessions"]`.
    pub(in crate::connection) fn own_meta(&self, member: &str) -> Option<Value> {
        let meta: Value = serde_json::from_str(self.0.get("_meta")?).ok()?;
        meta.get("acp-sessions")?.get(member).cloned()
    }
}
