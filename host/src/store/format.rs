//! SQLite's file format, as far as both need it that read it without SQLite: what overwrites unused parts of pages, and what
//! saves rows of a damaged file.

mod free;

pub(super) use self::free::FreePages;

/// What a database's file begins with.
pub(super) const MAGIC: &[u8; 16] = b"SQLite format 3\0";

pub(super) fn number16(page: &[u8], at: usize) -> Option<usize> {
    let bytes: [u8; 2] = page.get(at..at + 2)?.try_into().ok()?;
    Some(usize::from(u16::from_be_bytes(bytes)))
}

pub(super) fn number32(page: &[u8], at: usize) -> Option<u32> {
    let bytes: [u8; 4] = page.get(at..at + 4)?.try_into().ok()?;
    Some(u32::from_be_bytes(bytes))
}

/// A number as SQLite stores it, and how many bytes it takes: seven bits a byte, the highest first, and eight of the ninth.
pub(super) fn varint(bytes: &[u8]) -> Option<(i64, usize)> {
    let mut value = 0_u64;
    for at in 0..9 {
        let byte = *bytes.get(at)?;
        if at == 8 {
            return Some(((value << 8 | u64::from(byte)).cast_signed(), 9));
        }
        value = value << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value.cast_signed(), at + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_sqlite_writes_them() {
        for (bytes, value) in [
            (&[5_u8][..], Some((5, 1))),
            (&[0x81, 0, 7], Some((128, 2))),
            (&[0xff; 9], Some((-1, 9))),
            (&[0x80], None),
            (&[], None),
        ] {
            assert_eq!(varint(bytes), value, "{bytes:?}");
        }
        assert_eq!((number16(&[0, 1, 2], 1), number16(&[0, 1], 1)), (Some(258), None));
        assert_eq!((number32(&[0, 0, 1, 2], 0), number32(&[0, 1], 0)), (Some(258), None));
    }
}
