//! Tables of abbreviations, before they are read: their reader keeps one for each unit that
//! begins another.

use super::Slice;
use gimli::{Reader as _, Section as _, constants};

/// Whether reading all tables takes no more than the section gives. Tables stand apart; in damaged
/// files each can begin inside the one before and reach as far, and all of them together are very
/// much.
pub(super) fn are_apart(dwarf: &gimli::Dwarf<Slice<'_>>) -> bool {
    /// Beyond twice the section.
    const SOME_MORE: usize = 1 << 20;
    let section = dwarf.debug_abbrev.reader();
    let mut starts = Vec::new();
    let mut units = dwarf.units();
    while let Ok(Some(unit)) = units.next() {
        starts.push(unit.debug_abbrev_offset().0);
    }
    starts.sort_unstable();
    starts.dedup();
    let mut left = section.len().saturating_mul(2).saturating_add(SOME_MORE);
    starts.into_iter().all(|start| {
        let rest = left.checked_sub(table_len(*section, start));
        left = rest.unwrap_or_default();
        rest.is_some()
    })
}

/// Bytes of the table that begins there, as far as it makes sense.
fn table_len(mut bytes: Slice<'_>, start: usize) -> usize {
    if bytes.skip(start).is_err() {
        return 0;
    }
    let before = bytes.len();
    while let Ok(true) = skip_abbreviation(&mut bytes) {}
    before - bytes.len()
}

/// Goes on to the next one; whether there can be one.
fn skip_abbreviation(bytes: &mut Slice<'_>) -> gimli::Result<bool> {
    if bytes.is_empty() || bytes.read_uleb128()? == 0 {
        return Ok(false);
    }
    let (_tag, _has_children) = (bytes.read_uleb128()?, bytes.read_u8()?);
    loop {
        let (name, form) = (bytes.read_uleb128()?, bytes.read_uleb128()?);
        if (name, form) == (0, 0) {
            return Ok(true);
        }
        if form == u64::from(constants::DW_FORM_implicit_const.0) {
            bytes.read_sleb128()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::dwarf::Sections;
    use crate::split::Split;
    use gimli::{DwarfSections, RunTimeEndian, SectionId};
    use rprof_images::SectionBytes;

    /// Whether units are read that have their tables at these places of one that is so long.
    fn are_read(n_abbreviations: u32, starts: impl Iterator<Item = u32>) -> bool {
        let mut abbrev = Vec::new();
        for code in 1..=n_abbreviations {
            // Three bytes; a compile unit without children and attributes.
            let code = [code & 0x7f | 0x80, code >> 7 & 0x7f | 0x80, code >> 14];
            abbrev.extend(code.map(|part| part.to_le_bytes()[0]));
            abbrev.extend([0x11, 0, 0, 0]);
        }
        abbrev.push(0);
        let mut info = Vec::new();
        for start in starts {
            info.extend(8u32.to_le_bytes());
            info.extend(4u16.to_le_bytes());
            info.extend(start.to_le_bytes());
            info.extend([8, 0]);
        }
        let take = |id| -> Result<SectionBytes, ()> {
            Ok(match id {
                SectionId::DebugInfo => info.clone().into(),
                SectionId::DebugAbbrev => abbrev.clone().into(),
                _ => SectionBytes::default(),
            })
        };
        let sections = Sections {
            sections: DwarfSections::load(take).unwrap(),
            shared: None,
            split: Split::new(None, RunTimeEndian::Little),
            is_over_budget: false,
        };
        sections.dwarf().is_some()
    }

    #[test]
    fn tables_inside_tables_are_not_read() {
        let inside = |n| (0..n).map(|idx| idx * 7);
        assert!(!are_read(1000, inside(1000)));
        // One for all, few, and such as are not there.
        assert!(are_read(1000, (0..1000).map(|_| 0)));
        assert!(are_read(1000, inside(10)));
        assert!(are_read(1000, (0..1000).map(|idx| idx + 10_000)));
    }
}
