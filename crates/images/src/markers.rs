//! Markers that programs have for tracers (USDT): notes say where they are.
//!
//! Source: `sys/sdt.h` of SystemTap (note type 3). A note has the address of an instruction that does
//! nothing, the address that `.stapsdt.base` had when it was linked, the address of a semaphore or 0, and
//! three texts: provider, name, arguments.

use crate::Elf;
use rprof_abi::{Cursor, Endian, WireError};
use rprof_base::Svma;

/// One place of a marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// Whose.
    pub provider: String,
    /// Which.
    pub name: String,
    /// The instruction that does nothing.
    pub address: Svma,
    /// The program looks whether this is 0 before it prepares what a tracer would see.
    pub semaphore: Option<Svma>,
}

const NOTES: &str = ".note.stapsdt";
const BASE: &str = ".stapsdt.base";
const STAPSDT: u32 = 3;

/// The markers of a 64-bit file, as far as they can be read.
pub fn markers(elf: &Elf) -> Vec<Marker> {
    let (Some(notes), Some(_)) = (elf.section(NOTES), elf.machine()) else {
        return Vec::new();
    };
    let endian = if elf.is_little_endian() {
        Endian::Little
    } else {
        Endian::Big
    };
    let base = elf.section_range(BASE).map(|range| range.start.0);
    let mut markers = Vec::new();
    let mut cursor = Cursor::new(&notes, endian);
    while let Ok(marker) = next(&mut cursor, endian, base) {
        markers.extend(marker);
    }
    markers
}

fn next(
    cursor: &mut Cursor<'_>,
    endian: Endian,
    base: Option<u64>,
) -> Result<Option<Marker>, WireError> {
    let what = "note of a marker";
    let (name_len, len) = (cursor.u32(what)?, cursor.u32(what)?);
    let kind = cursor.u32(what)?;
    let padded = |len: u32| u64::from(len).next_multiple_of(4);
    let owner = cursor.bytes(padded(name_len), what)?;
    let text = cursor.bytes(u64::from(len), what)?;
    // The last one may lack what it is filled up with.
    let _ = cursor.bytes(padded(len) - u64::from(len), what);
    if kind != STAPSDT || !owner.starts_with(b"stapsdt\0") {
        return Ok(None);
    }
    let mut text = Cursor::new(text, endian);
    let [address, linked_base, semaphore] = [text.u64(what)?, text.u64(what)?, text.u64(what)?];
    // Prelinked files were moved since.
    let moved = match (base, linked_base) {
        (Some(base), 1..) => base.wrapping_sub(linked_base),
        _ => 0,
    };
    let mut strings = text.rest().split(|&byte| byte == 0);
    let mut string = || String::from_utf8(strings.next().unwrap_or_default().to_vec()).ok();
    let (Some(provider), Some(name)) = (string(), string()) else {
        return Ok(None);
    };
    Ok(Some(Marker {
        provider,
        name,
        address: Svma(address.wrapping_add(moved)),
        semaphore: (semaphore != 0).then(|| Svma(semaphore.wrapping_add(moved))),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(owner: &[u8], kind: u32, desc: &[u8]) -> Vec<u8> {
        let mut note = Vec::new();
        let len = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap().to_le_bytes();
        note.extend(len(owner));
        note.extend(len(desc));
        note.extend(kind.to_le_bytes());
        for part in [owner, desc] {
            note.extend(part);
            note.resize(note.len().next_multiple_of(4), 0);
        }
        note
    }

    fn desc(words: [u64; 3], texts: &[u8]) -> Vec<u8> {
        let mut desc: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        desc.extend(texts);
        desc
    }

    #[test]
    fn notes_say_where_markers_are() {
        let mut notes = note(
            b"stapsdt\0",
            3,
            &desc([0x1234, 0x10, 0x50], b"p\0n\08@%rax\0"),
        );
        notes.extend(note(b"other\0\0\0", 3, b"x"));
        notes.extend(note(b"stapsdt\0", 3, &desc([0x2000, 0x10, 0], b"p\0m\0\0")));
        let mut cursor = Cursor::new(&notes, Endian::Little);
        let mut all = Vec::new();
        while let Ok(marker) = next(&mut cursor, Endian::Little, Some(0x20)) {
            all.extend(marker);
        }
        let marker = |name: &str, address, semaphore: Option<u64>| Marker {
            provider: "p".to_owned(),
            name: name.to_owned(),
            address: Svma(address),
            semaphore: semaphore.map(Svma),
        };
        assert_eq!(
            all,
            [marker("n", 0x1244, Some(0x60)), marker("m", 0x2010, None)]
        );
    }

    #[test]
    fn damaged_notes_end_the_list() {
        let whole = note(b"stapsdt\0", 3, &desc([1, 0, 0], b"p\0n\0\0"));
        for len in 0..whole.len() - 4 {
            let mut cursor = Cursor::new(&whole[..len], Endian::Little);
            assert!(next(&mut cursor, Endian::Little, None).is_err(), "{len}");
        }
        let huge = note(b"stapsdt\0", 3, &[0; 8]);
        let mut cursor = Cursor::new(&huge, Endian::Little);
        assert!(next(&mut cursor, Endian::Little, None).is_err());
    }
}
