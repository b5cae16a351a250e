//! Images that an agent tells with all their data in the address of a link, as Codex does: `[@image](data:image/png;base64,…)`.
//! Where a client has sent that image, a short name stands for such an address while messages are compared.

use std::collections::{BTreeMap, BTreeSet};

use crate::checksum;
use crate::reconcile::turn::sum::Sum;
use crate::reconcile::turn::text::Writer;

/// What stands before the data in a link.
const BEGIN: &str = "](data:";
/// How much of that is not a part of the address.
const BEFORE_ADDRESS: usize = "](".len();
const END: char = ')';

/// Images that clients have sent, by the addresses that have all of their data: how long each is, and what it is hashed to.
#[derive(Debug, Clone, Default)]
pub(super) struct Images(BTreeSet<(usize, u64)>);

/// A text with names in the places of addresses, and what these are.
pub(super) struct Named {
    pub(super) text: String,
    pub(super) addresses: BTreeMap<String, Sum>,
}

impl Images {
    /// Notes the address that has these parts. Returns what stands for it.
    pub(super) fn note(&mut self, address: &[&str]) -> String {
        let hash = checksum::hash(address);
        self.0.insert((address.iter().map(|part| part.len()).sum(), hash));
        name(hash)
    }

    /// Whether the address that has these parts is that of one of them.
    pub(super) fn has(&self, address: &[&str]) -> bool {
        let length = address.iter().map(|part| part.len()).sum();
        self.has_length(length) && self.0.contains(&(length, checksum::hash(address)))
    }

    fn has_length(&self, length: usize) -> bool {
        self.0.range((length, 0)..=(length, u64::MAX)).next().is_some()
    }

    /// A text with names in the places of the addresses of these images, if it has any.
    pub(super) fn named(&self, text: &str) -> Option<Named> {
        if self.0.is_empty() {
            return None;
        }
        let mut named = Named { text: String::new(), addresses: BTreeMap::new() };
        let (mut taken, mut from) = (0, 0);
        while let Some((begin, end)) = next(text, from) {
            from = end;
            let address = &text[begin..end];
            if let Some(name) = self.name(address) {
                named.text.push_str(&text[taken..begin]);
                named.text.push_str(&name);
                named.addresses.entry(name).or_insert_with(|| Sum::of(address));
                taken = end;
            }
        }
        named.text.push_str(if taken > 0 { &text[taken..] } else { "" });
        (taken > 0).then_some(named)
    }

    /// What stands for this address, if it is one of these.
    fn name(&self, address: &str) -> Option<String> {
        self.has(&[address]).then(|| name(checksum::hash(&[address])))
    }
}

/// Writes a text with the addresses in the places of what stands for them.
pub(super) fn write(text: &str, addresses: &BTreeMap<String, Sum>, writer: &mut Writer) {
    let (mut written, mut from) = (0, 0);
    while let Some((begin, end)) = next(text, from).filter(|_| !addresses.is_empty()) {
        from = end;
        if let Some(address) = addresses.get(&text[begin..end]) {
            writer.push(&text[written..begin]);
            writer.push_sum(*address);
            written = end;
        }
    }
    writer.push(&text[written..]);
}

/// Where the next address of data in a link begins, from this place on, and where it ends.
fn next(text: &str, from: usize) -> Option<(usize, usize)> {
    let begin = from + text[from..].find(BEGIN)? + BEFORE_ADDRESS;
    let end = begin + text[begin..].find(END)?;
    let last = text[begin..end].rfind(BEGIN).map_or(begin, |at| begin + at + BEFORE_ADDRESS);
    Some((last, end))
}

fn name(hash: u64) -> String {
    format!("data:{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_for_the_address_of_an_image_that_is_known() {
        let mut images = Images::default();
        assert!(images.named("[@image](data:image/png;base64,aGk=)").is_none());
        let name = images.note(&["data:", "image/png", ";base64,", "aGk="]);
        for (text, expected) in [
            ("[@image](data:image/png;base64,aGk=)", Some("[@image](NAME)")),
            ("a](data:b [@image](data:image/png;base64,aGk=) c", Some("a](data:b [@image](NAME) c")),
            ("[a](data:image/png;base64,aGk=)[b](data:image/png;base64,aGk=)", Some("[a](NAME)[b](NAME)")),
            ("[@image](data:image/png;base64,aGl=)", None),
            ("[@image](data:image/png;base64,aGk=", None),
            ("[@image](data:image/gif;base64,aGk=) (data:image/png;base64,aGk=)", None),
        ] {
            let expected = expected.map(|expected| expected.replace("NAME", &name));
            let named = images.named(text);
            assert_eq!(named.as_ref().map(|named| named.text.clone()), expected, "{text}");
            let Some(Named { text: short, addresses }) = named else { continue };
            let mut writer = Writer::default();
            write(&short, &addresses, &mut writer);
            assert_eq!(writer.sum(), Sum::of(text), "{text}");
        }
    }
}
