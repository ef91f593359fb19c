//! The attrs of a file-mode recording: a section of them, each with a section of its ids.

use super::{Reader, RecordedEvent};
use crate::{Error, FileHeader, Section};
use rprof_abi::{AttrFlags, Cursor, PerfEventAttr, SampleLayout, event_type, hw, hw_cache, sw};
use rprof_untrusted::Untrusted;

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
            let mut cursor = Cursor::new(&id_bytes, self.endian);
            let ids = cursor.u64s();
            events.push(self.described(attr, ids));
        }
        Ok(events)
    }

    /// An event without a name yet.
    pub(super) fn described(&self, attr: PerfEventAttr, ids: Vec<u64>) -> Described {
        Described {
            ids,
            event: RecordedEvent {
                name: Untrusted::new(name_of_attr(&attr)),
                layout: SampleLayout::new(&attr, self.endian),
                attr,
            },
        }
    }
}

/// perf's name for an event that the file does not name, modifiers included.
fn name_of_attr(attr: &PerfEventAttr) -> String {
    let known = |names: &[(&str, Option<&str>)]| {
        let place = usize::try_from(attr.config & 0xffff_ffff).ok()?;
        names.get(place).map(|(name, _)| (*name).to_owned())
    };
    let name = match attr.kind {
        event_type::HARDWARE => known(hw::NAMES),
        event_type::SOFTWARE => known(sw::NAMES),
        event_type::HW_CACHE => cache_name(attr.config),
        event_type::RAW => Some(format!("raw {:#x}", attr.config)),
        event_type::TRACEPOINT => return format!("tracepoint {}", attr.config),
        event_type::BREAKPOINT => return format!("mem:{:#x}", attr.config1),
        _ => None,
    };
    match name {
        Some(name) => name + &modifiers(attr.flags),
        None => format!("type {} config {:#x}", attr.kind, attr.config),
    }
}

/// As `perf_evsel__hw_cache_name` spells it: `L1-dcache-load-misses`.
fn cache_name(config: u64) -> Option<String> {
    let byte = |at: u32| usize::try_from(config >> at & 0xff).ok();
    let cache = hw_cache::CACHES.get(byte(0)?)?.first()?;
    let [op, plural, ..] = hw_cache::OPS.get(byte(8)?)? else {
        return None;
    };
    match byte(16)? {
        0 => Some(format!("{cache}-{plural}")),
        result => {
            let result = hw_cache::RESULTS.get(result)?.first()?;
            Some(format!("{cache}-{op}-{result}"))
        }
    }
}

/// Privilege levels, precision, host and guest, as `perf_evsel__add_modifiers` writes them
/// (tools/perf/util/evsel.c, v6.1).
fn modifiers(flags: AttrFlags) -> String {
    let mut text = String::new();
    // Tools leave guests out wherever a level or a precision is given.
    let mut excludes_guest = false;
    let levels = [
        (AttrFlags::EXCLUDE_USER, 'u'),
        (AttrFlags::EXCLUDE_KERNEL, 'k'),
        (AttrFlags::EXCLUDE_HV, 'h'),
    ];
    if levels.iter().any(|&(level, _)| flags.has(level)) {
        // perf's order is kernel, user, hypervisor.
        let mut shown = levels;
        shown.swap(0, 1);
        let included = shown.iter().filter(|(level, _)| !flags.has(*level));
        text.extend(included.map(|&(_, letter)| letter));
        excludes_guest = true;
    }
    if flags.precise_ip() > 0 {
        text.extend((0..flags.precise_ip()).map(|_| 'p'));
        excludes_guest = true;
    }
    if flags.has(AttrFlags::EXCLUDE_HOST) || flags.has(AttrFlags::EXCLUDE_GUEST) == excludes_guest {
        let machines = [
            (AttrFlags::EXCLUDE_HOST, 'H'),
            (AttrFlags::EXCLUDE_GUEST, 'G'),
        ];
        let included = machines.iter().filter(|(machine, _)| !flags.has(*machine));
        text.extend(included.map(|&(_, letter)| letter));
    }
    if text.is_empty() {
        text
    } else {
        format!(":{text}")
    }
}
