//! Checksums of what is stored, so that a checkup sees text that can be read but is not as it was written: two pages of a
//! file that have changed places, a bit that has. They are no protection against anybody who wants to deceive.

use std::hash::Hasher as _;

use siphasher::sip::SipHasher13;

/// Digits of a checksum.
const DIGITS: usize = 8;
const EMPTY: &str = "{}";
/// What a checksum stands behind in an object.
const MEMBER: &str = ",\"sum\":\"";
/// What follows it there.
const END: &str = "\"}";

/// The checksum of a text that stands in these parts, one after the other: eight hexadecimal digits.
pub(crate) fn of(parts: &[&str]) -> String {
    format!("{:08x}", hash(parts) & 0xffff_ffff)
}

/// A text that stands in these parts, in 64 bits, to tell it from others.
pub(crate) fn hash(parts: &[&str]) -> u64 {
    let mut hasher = SipHasher13::new();
    for part in parts {
        hasher.write(part.as_bytes());
    }
    hasher.finish()
}

/// A JSON object with its checksum as the last member; an empty one stays as it is.
pub(crate) fn seal(mut object: String) -> String {
    if object == EMPTY {
        return object;
    }
    let sum = of(&[&object]);
    object.pop();
    object.reserve_exact(MEMBER.len() + DIGITS + END.len());
    for part in [MEMBER, &sum, END] {
        object.push_str(part);
    }
    object
}

/// Whether a JSON object is as it was sealed. One without a checksum, as earlier versions wrote them, may be.
pub(crate) fn is_sound(object: &str) -> bool {
    let sealed = object.strip_suffix(END).and_then(|rest| rest.split_at_checked(rest.len().checked_sub(DIGITS)?));
    let Some((object, sum)) = sealed.and_then(|(rest, sum)| Some((rest.strip_suffix(MEMBER)?, sum))) else {
        return true;
    };
    of(&[object, "}"]) == sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sealed_is_sound_until_a_byte_of_it_is_another() {
        let sealed = seal(r#"{"a":"b"}"#.to_owned());
        let read: serde_json::Value = serde_json::from_str(&sealed).expect("JSON");
        assert_eq!(read["a"], "b");
        assert!(is_sound(&sealed), "{sealed}");
        for at in 0..sealed.len() {
            let mut bytes = sealed.clone().into_bytes();
            bytes[at] ^= 1;
            let other = String::from_utf8(bytes).expect("ASCII");
            let is_named = other.contains(MEMBER) && other.ends_with(END);
            assert!(!is_named || !is_sound(&other), "{other}");
        }
    }

    #[test]
    fn what_was_never_sealed_is_taken_as_it_is() {
        assert_eq!(seal("{}".to_owned()), "{}");
        for text in ["", "{}", r#"{"a":"b"}"#, r#"{"sum":"12345678"}"#, "\u{20ac}\u{20ac}\u{20ac}\"}"] {
            assert!(is_sound(text), "{text}");
        }
    }

    #[test]
    fn parts_are_one_text() {
        assert_eq!(of(&["ab", "c"]), of(&["", "a", "bc"]));
        assert_ne!(of(&["abc"]), of(&["acb"]));
    }
}
