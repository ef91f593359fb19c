//! Tables of abbreviations, before they are read: their reader keeps one for each unit that
//! begins another.

use super::Slice;
use gimli::{DebugInfoUnitHeadersIter, Reader as _, RunTimeEndian, Section as _, constants};

/// Whether reading all tables takes no more than the section gives. Tables stand apart; in damaged
/// files each can begin inside the one before and reach as far, and all of them together are very
/// much.
pub(super) fn are_apart(dwarf: &gimli::Dwarf<Slice<'_>>) -> bool {
    for_each(*dwarf.debug_abbrev.reader(), dwarf.units(), |_| {})
}

/// Hides line programs from readers: they would read those of all units that they look into. Returns whether some are
/// wanted all the same, since only they say where the code of a unit is; those stay.
pub(super) fn hide_lines(
    section: &mut [u8],
    units: DebugInfoUnitHeadersIter<Slice<'_>>,
    endian: RunTimeEndian,
) -> bool {
    /// An attribute that no version of DWARF has.
    const NOTHING: u8 = 4;
    let mut hidden = Vec::new();
    let mut are_wanted = false;
    let see = |seen: Abbreviation| match seen.lines {
        Some(at) if seen.has_ranges || seen.has_start && seen.has_end => hidden.push(at),
        Some(_) => are_wanted = true,
        None => {}
    };
    if !for_each(Slice::new(section, endian), units, see) {
        return true;
    }
    for at in hidden {
        match section.get_mut(at) {
            Some(name) if u16::from(*name) == constants::DW_AT_stmt_list.0 => *name = NOTHING,
            // Longer than it need be, or hidden already.
            Some(name) => are_wanted |= *name != NOTHING,
            None => {}
        }
    }
    are_wanted
}

/// Calls `visit` for the abbreviations of all tables; `false` if there are more than the section gives.
fn for_each(
    section: Slice<'_>,
    mut units: DebugInfoUnitHeadersIter<Slice<'_>>,
    mut visit: impl FnMut(Abbreviation),
) -> bool {
    /// Beyond twice the section.
    const SOME_MORE: usize = 1 << 20;
    let mut starts = Vec::new();
    while let Ok(Some(unit)) = units.next() {
        starts.push(unit.debug_abbrev_offset().0);
    }
    starts.sort_unstable();
    starts.dedup();
    let mut left = section.len().saturating_mul(2).saturating_add(SOME_MORE);
    starts.into_iter().all(|start| {
        let rest = left.checked_sub(read_table(section, start, &mut visit));
        left = rest.unwrap_or_default();
        rest.is_some()
    })
}

/// Reads the table that begins there, as far as it makes sense; returns its bytes.
fn read_table(section: Slice<'_>, start: usize, visit: &mut impl FnMut(Abbreviation)) -> usize {
    let mut bytes = section;
    if bytes.skip(start).is_err() {
        return 0;
    }
    let before = bytes.len();
    while let Ok(Some(abbreviation)) = read_abbreviation(&mut bytes, section.len()) {
        visit(abbreviation);
    }
    before - bytes.len()
}

/// What a unit with an abbreviation says of itself.
#[derive(Default)]
struct Abbreviation {
    has_start: bool,
    has_end: bool,
    has_ranges: bool,
    /// The byte of the section that says that a line program is named.
    lines: Option<usize>,
}

/// Goes on to the next one; `None` if there can be none. The bytes are the last of so many.
fn read_abbreviation(bytes: &mut Slice<'_>, len: usize) -> gimli::Result<Option<Abbreviation>> {
    if bytes.is_empty() || bytes.read_uleb128()? == 0 {
        return Ok(None);
    }
    let (_tag, _has_children) = (bytes.read_uleb128()?, bytes.read_u8()?);
    let mut read = Abbreviation::default();
    loop {
        let at = len - bytes.len();
        let (name, form) = (bytes.read_uleb128()?, bytes.read_uleb128()?);
        if (name, form) == (0, 0) {
            return Ok(Some(read));
        }
        let name = u16::try_from(name).map(gimli::DwAt);
        match name.unwrap_or(gimli::DwAt(0)) {
            constants::DW_AT_low_pc => read.has_start = true,
            constants::DW_AT_high_pc => read.has_end = true,
            constants::DW_AT_ranges => read.has_ranges = true,
            constants::DW_AT_stmt_list => read.lines = Some(at),
            _ => {}
        }
        if form == u64::from(constants::DW_FORM_implicit_const.0) {
            bytes.read_sleb128()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dwarf::Sections;
    use crate::split::Split;
    use gimli::{DebugInfo, DwarfSections, SectionId};
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

    /// The attributes of units that name a line program, in a table each; what is left of them, and whether lines are
    /// wanted.
    fn hidden(tables: &[&[(u8, u8)]]) -> (Vec<Vec<(u8, u8)>>, bool) {
        const ADDRESS_AND_MORE: [u8; 2] = [8, 0];
        let (mut section, mut info, mut starts) = (Vec::new(), Vec::new(), Vec::new());
        for attributes in tables {
            let start = u32::try_from(section.len()).unwrap();
            info.extend([8, 0, 0, 0, 4, 0]);
            info.extend(start.to_le_bytes());
            info.extend(ADDRESS_AND_MORE);
            section.extend([1, 0x11, 0]);
            starts.push(section.len());
            section.extend(attributes.iter().flat_map(|&(name, form)| [name, form]));
            section.extend([0, 0, 0]);
        }
        let slice = Slice::new(&info, RunTimeEndian::Little);
        let units = DebugInfo::from(slice).units();
        let are_wanted = hide_lines(&mut section, units, RunTimeEndian::Little);
        let left = starts.iter().zip(tables).map(|(&start, attributes)| {
            let bytes = section[start..].chunks(2).take(attributes.len());
            bytes.map(|pair| (pair[0], pair[1])).collect()
        });
        (left.collect(), are_wanted)
    }

    #[test]
    fn lines_are_hidden_of_units_that_say_where_their_code_is() {
        let (lines, nothing) = ((0x10, 0x17), (4, 0x17));
        let (start, end, ranges) = ((0x11, 0x01), (0x12, 0x07), (0x55, 0x17));
        let with_ranges = [start, lines, ranges];
        let with_end = [lines, start, end];
        let without = [start, lines];
        let (left, are_wanted) = hidden(&[&with_ranges, &with_end]);
        assert_eq!(left, [[start, nothing, ranges], [nothing, start, end]]);
        assert!(!are_wanted);
        let (left, are_wanted) = hidden(&[&without, &with_ranges]);
        assert_eq!(left, [without.to_vec(), vec![start, nothing, ranges]]);
        assert!(are_wanted);
        assert!(!hidden(&[&[start, end]]).1);
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
