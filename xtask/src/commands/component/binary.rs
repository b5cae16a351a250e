//! The outermost sections of a WebAssembly binary, module or component.

use std::ops::Range;

use anyhow::{Context as _, Result, bail, ensure};

/// Magic and version.
pub(super) const HEADER: usize = 8;

/// The id of a section that means nothing to who runs it.
pub(super) const CUSTOM: u8 = 0;

/// One section, by its places in the binary.
#[derive(Debug)]
pub(super) struct Section {
    /// What it is.
    pub(super) id: u8,
    /// Where it begins, its id and length included.
    pub(super) start: usize,
    /// What is in it.
    pub(super) content: Range<usize>,
}

impl Section {
    /// Its name, if it is a custom section.
    pub(super) fn name<'b>(&self, bytes: &'b [u8]) -> Option<&'b str> {
        if self.id != CUSTOM {
            return None;
        }
        let (length, start) = number(bytes, self.content.start)?;
        std::str::from_utf8(bytes.get(start..start + length)?).ok()
    }

    /// All of it.
    pub(super) fn whole<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        &bytes[self.start..self.content.end]
    }
}

/// The sections in their order.
pub(super) fn sections(bytes: &[u8]) -> Result<Vec<Section>> {
    ensure!(bytes.starts_with(b"\0asm") && bytes.len() >= HEADER, "this is not WebAssembly");
    let (mut sections, mut at) = (Vec::new(), HEADER);
    while let Some(&id) = bytes.get(at) {
        let (length, content) = number(bytes, at + 1).context("a section has no length")?;
        if content + length > bytes.len() {
            bail!("a section is cut off");
        }
        sections.push(Section { id, start: at, content: content..content + length });
        at = content + length;
    }
    Ok(sections)
}

/// Adds a section.
pub(super) fn push(bytes: &mut Vec<u8>, id: u8, content: &[u8]) {
    bytes.push(id);
    push_text(bytes, content);
}

/// Adds a length and what has it.
pub(super) fn push_text(bytes: &mut Vec<u8>, text: &[u8]) {
    let mut rest = text.len();
    while rest >= 0x80 {
        bytes.push(0x80 | low(rest));
        rest >>= 7;
    }
    bytes.push(low(rest));
    bytes.extend_from_slice(text);
}

/// The lowest seven bits.
fn low(number: usize) -> u8 {
    u8::try_from(number & 0x7f).unwrap_or_default()
}

/// A number (LEB128) and where it ends.
pub(super) fn number(bytes: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let mut number = 0;
    for shift in (0..32).step_by(7) {
        let byte = *bytes.get(at)?;
        at += 1;
        number |= usize::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some((number, at));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut bytes = b"\0asm\x01\0\0\0".to_vec();
        let mut named = Vec::new();
        push_text(&mut named, b"notes");
        named.extend([7; 300]);
        push(&mut bytes, CUSTOM, &named);
        push(&mut bytes, 1, &[0]);
        let sections = sections(&bytes).expect("sections");
        assert_eq!(sections.iter().map(|section| section.name(&bytes)).collect::<Vec<_>>(), [Some("notes"), None]);
        assert_eq!(bytes[sections[0].content.clone()], named);
        assert_eq!(sections[1].whole(&bytes), [1, 1, 0]);
        assert!(super::sections(&bytes[..bytes.len() - 1]).is_err());
        assert!(super::sections(b"nothing").is_err());
    }
}
