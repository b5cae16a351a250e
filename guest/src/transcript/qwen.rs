//! What Qwen Code says beside what it tells as its user's.

use crate::rpc::Object;

/// What its updates have in any JSON.
const SIGN: &str = "\"qwen";

/// Whether [`as_qwen_means`] may know this update. Most are not such, and some are long.
pub fn may_be_of_qwen(update: &str) -> bool {
    update.contains(SIGN)
}

/// An update that tells a part of what the user said (the `update` member), as it is meant: the end of a background agent, which was
/// the agent's when it was told first, is so; and a segment of its transcript is a message by itself, that is told without an id.
pub fn as_qwen_means(update: &str) -> Option<String> {
    let mut update = Object::parse(update)?;
    let meta = update.get_object("_meta");
    let is_notice = meta.get("qwenDiscreteMessage") == Some("true");
    let transcript = meta.get_object("qwenTranscript");
    let segment = transcript.get("segmentId").filter(|id| id.starts_with('"')).map(str::to_owned);
    if is_notice {
        update.set("sessionUpdate", "\"agent_message_chunk\"");
        return Some(update.to_json());
    }
    let segment = segment.filter(|_| update.get_some("messageId").is_none())?;
    update.set("messageId", segment);
    Some(update.to_json())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_is_told_as_the_users_is_what_it_is_meant_as() {
        let told = |meta: Value| {
            let content = json!({"type": "text", "text": "Done."});
            json!({"sessionUpdate": "user_message_chunk", "content": content, "_meta": meta})
        };
        let with = |mut update: Value, name: &str, value: &str| {
            update[name] = json!(value);
            update
        };
        let notice = told(json!({"source": "background_notification", "qwenDiscreteMessage": true}));
        let segment = told(json!({"timestamp": 1, "qwenTranscript": {"segmentId": "a:0"}}));
        for (update, expected) in [
            (notice.clone(), Some(with(notice, "sessionUpdate", "agent_message_chunk"))),
            (segment.clone(), Some(with(segment.clone(), "messageId", "a:0"))),
            (with(segment, "messageId", "m"), None),
            (told(json!({"qwenTranscript": {"sourceRecordIds": []}})), None),
            (told(json!({"qwenTranscript": {"segmentId": 5}})), None),
            (told(json!({"qwenDiscreteMessage": false})), None),
        ] {
            let update = update.to_string();
            assert!(may_be_of_qwen(&update));
            let plain = as_qwen_means(&update).map(|plain| serde_json::from_str::<Value>(&plain).unwrap());
            assert_eq!(plain, expected);
        }
        assert!(!may_be_of_qwen(&told(Value::Null).to_string()));
    }
}
