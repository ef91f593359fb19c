//! The attrs of a file-mode recording: a section of them, each with a section of its ids.

use super::{Reader, RecordedEvent};
use crate::{Error, FileHeader, Section};
use rprof_abi::{Cursor, PerfEventAttr, SampleLayout, event_type, hw, sw};

/// More than any recording has, less than what a damaged header may claim.
const MAX_ATTR_SECTION: u64 = 64 << 20;

/// An event and its ids.
pub(super) struct Described {
    pub(super) event: RecordedEvent,
    pub(super) ids: Vec<u64>,
}

impl Reader {
    /// Reads the events of a file-mode recording.
    pub(super) fn read_attrs(&self, header: &FileHeader) -> Result<Vec<Described>, Error> {
        let attrs = header.attrs;
        let entry = header.attr_entry_size;
        let bad = |what: String| self.bad_header(attrs.offset, what);
        if entry < u64::from(rprof_abi::AttrSize::VER0.0) + Section::LEN {
            return Err(bad(format!("attrs of {entry} bytes")));
        }
        let file_len = self.main.len();
        if attrs.size > MAX_ATTR_SECTION || attrs.end() > file_len {
            return Err(bad(format!(
                "{} bytes of attrs in a file of {file_len}",
                attrs.size
            )));
        }
        let bytes = self.read_section(attrs)?;
        // All ids together are less than the file, whatever a damaged header says.
        let mut ids_left = file_len;
        let entry_len = usize::try_from(entry).map_err(|error| bad(error.to_string()))?;
        let mut events = Vec::new();
        for entry in bytes.chunks_exact(entry_len) {
            let (attr, ids) = entry
                .split_last_chunk::<16>()
                .ok_or_else(|| bad("an attr without ids".to_owned()))?;
            let (attr, _) =
                PerfEventAttr::parse(attr, self.endian).map_err(|error| bad(error.to_string()))?;
            let section = Section::parse(&mut Cursor::new(ids, self.endian))
                .map_err(|error| bad(error.to_string()))?;
            ids_left = ids_left
                .checked_sub(section.size)
                .ok_or_else(|| bad("more ids than the file can hold".to_owned()))?;
            let id_bytes = match section.size {
                0 => Vec::new(),
                _ => self.read_section(section)?,
            };
            events.push(self.described(attr, &id_bytes));
        }
        Ok(events)
    }

    /// An event without a name yet.
    pub(super) fn described(&self, attr: PerfEventAttr, ids: &[u8]) -> Described {
        let mut ids = Cursor::new(ids, self.endian);
        Described {
            ids: std::iter::from_fn(|| ids.u64("id").ok()).collect(),
            event: RecordedEvent {
                name: name_of_attr(&attr),
                layout: SampleLayout::new(&attr, self.endian),
                attr,
            },
        }
    }
}

/// A name for an event that the file does not name.
fn name_of_attr(attr: &PerfEventAttr) -> String {
    let known = |names: &[(&str, Option<&str>)]| {
        let place = usize::try_from(attr.config & 0xffff_ffff).ok()?;
        names.get(place).map(|(name, _)| (*name).to_owned())
    };
    match attr.kind {
        event_type::HARDWARE => known(hw::NAMES),
        event_type::SOFTWARE => known(sw::NAMES),
        _ => None,
    }
    .unwrap_or_else(|| format!("type {} config {:#x}", attr.kind, attr.config))
}
