//! For whom a content block is (`annotations.audience` of the Model Context Protocol, which ACP's blocks have as well).

use crate::rpc::{Object, text};

/// Whether a block (JSON) is for the agent and not for the user. What is told like this in the user's name, such as what an agent
/// has read of a file that was attached to a prompt, the user has not said.
pub fn is_for_agent_alone(block: &str) -> bool {
    // Most blocks say nothing of that, and some are long.
    if !block.contains("audience") {
        return false;
    }
    let block = Object::parse_or_empty(block);
    let annotations = block.get_object("annotations");
    let audience = annotations.get_array("audience").unwrap_or_default();
    let is_among_it = |role: &str| audience.iter().any(|member| text(member).as_deref() == Some(role));
    is_among_it("assistant") && !is_among_it("user")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_for_the_agent_alone_where_its_audience_says_so() {
        for (annotations, is_it) in [
            (r#"{"audience":["assistant"]}"#, true),
            (r#"{"audience":["assistant","assistant"],"priority":1}"#, true),
            (r#"{"audience":["assistant","tool"]}"#, true),
            (r#"{"audience":["user"]}"#, false),
            (r#"{"audience":["assistant","user"]}"#, false),
            (r#"{"audience":[]}"#, false),
            (r#"{"audience":null}"#, false),
            (r#"{"audience":"assistant"}"#, false),
            ("null", false),
        ] {
            let block = format!(r#"{{"type":"text","text":"audience","annotations":{annotations}}}"#);
            assert_eq!(is_for_agent_alone(&block), is_it, "{annotations}");
        }
        assert!(!is_for_agent_alone(r#"{"type":"text","text":"{\"audience\":[\"assistant\"]}"}"#));
        assert!(!is_for_agent_alone("\"audience\""));
    }
}
