//! Ids that two agents do not give by chance.

/// The shortest of them, in bytes.
const SHORTEST: usize = 16;
/// How often letters and digits follow each other in them. In a number with a name before it, or in a time, they do so less
/// often; in a random number that is not written in digits alone hardly ever.
const LEAST_CHANGES: usize = 5;

/// Whether no two sessions have this id unless they are the same one: it is long, and looks random. An agent that numbers its
/// sessions may give others the ids that another one, or it itself, has given before.
pub fn is_unmistakable(id: &str) -> bool {
    let is_change = |pair: &[u8]| {
        let [one, next] = pair else { return false };
        (one.is_ascii_alphabetic() && next.is_ascii_digit()) || (one.is_ascii_digit() && next.is_ascii_alphabetic())
    };
    id.len() >= SHORTEST && id.as_bytes().windows(2).filter(|pair| is_change(pair)).count() >= LEAST_CHANGES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_ids_are_unmistakable_and_numbers_and_times_are_not() {
        for id in [
            "c0ffee12-34ab-4cd5-8e6f-7a8b9c0d1e2f",
            "019aca52-8f3b-7c1d-a2b4-5e6f7a8b9c0d",
            "sess_1f2e3d4c5b6a79880a1b2c3d4e5f6071",
            "01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "ses_5d3f8e1a2ffeXk3Jd8Qm2Z",
        ] {
            assert!(is_unmistakable(id), "{id}");
        }
        for id in [
            "",
            "s1",
            "a1b2c3d4e5f6",
            "00000000000000000001",
            "00000000-0000-0000-0000-000000000001",
            "session-0000000000000001",
            "conversation_2_of_agent_1",
            "2025-11-28T14-56-02Z",
            "session20251128T145602Z",
            "a-session-without-a-number",
        ] {
            assert!(!is_unmistakable(id), "{id}");
        }
    }
}
