//! What a request comes to, and the answers this client gives to the agent's own requests.

use serde_json::{Value, json};

/// An error response.
#[derive(Debug, Clone, PartialEq)]
pub struct RpcError {
    /// The JSON-RPC code.
    pub code: i64,
    /// What is wrong, for people.
    pub message: String,
    /// More of it, for programs.
    pub data: Value,
}

impl RpcError {
    /// Whether the message or the data mention this word.
    pub fn names(&self, word: &str) -> bool {
        self.message.contains(word) || self.data.to_string().contains(word)
    }
}

/// The result or the error.
pub type Outcome = Result<Value, RpcError>;

pub(super) fn outcome(mut response: Value) -> Outcome {
    match response.get_mut("error") {
        Some(error) => Err(RpcError {
            code: error["code"].as_i64().expect("a code"),
            message: error["message"].as_str().expect("a message").to_owned(),
            data: error["data"].take(),
        }),
        None => Ok(response["result"].take()),
    }
}

/// Says yes to permissions (or whichever option it is), reads the file that is asked for, knows nothing else.
pub(super) fn answer(id: &Value, request: &Value, permission: &str) -> Value {
    let params = &request["params"];
    let result = match request["method"].as_str() {
        Some("session/request_permission") => {
            let options = params["options"].as_array().expect("options");
            let wanted = options.iter().find(|option| option["optionId"] == permission).unwrap_or(&options[0]);
            json!({"outcome": {"outcome": "selected", "optionId": wanted["optionId"]}})
        }
        Some("fs/read_text_file") => {
            let path = params["path"].as_str().expect("a path");
            json!({"content": std::fs::read_to_string(path).expect("a readable file")})
        }
        _ => {
            let error = json!({"code": -32601, "message": "Method not found"});
            return json!({"jsonrpc": "2.0", "id": id, "error": error});
        }
    };
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}
