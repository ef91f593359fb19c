//! What tracepoints wrote, by the formats in the recording.

use super::text;
use crate::load::{Context, Kernel};
use foldhash::HashMap;
use rprof_abi::tracepoint::{TracepointData, TracepointFormat, TracepointNames};
use rprof_abi::{Endian, Fields, event_type};
use rprof_base::Avma;
use rprof_machine::{Key, Place};
use rprof_perfdata::feature::TracingData;
use rprof_perfdata::{FeatureId, Reader, Warning};
use rprof_symbols::KernelSymbols;
use rprof_untrusted::Untrusted;
use std::borrow::Cow;
use std::sync::Arc;

/// The formats of a recording's events.
#[derive(Debug, Default)]
pub(crate) struct Formats {
    /// By event.
    of_event: Vec<Option<Arc<TracepointFormat>>>,
    /// Strings of the kernel by address.
    strings: HashMap<u64, Vec<u8>>,
    long_size: u8,
}

impl Formats {
    /// Reads the formats of the events that are tracepoints, and says what could not be read.
    pub(crate) fn of(reader: &Reader) -> (Self, Option<Warning>) {
        let is_tracepoint = |kind| kind == event_type::TRACEPOINT;
        if !reader
            .events()
            .iter()
            .any(|event| is_tracepoint(event.attr.kind))
        {
            return (Self::default(), None);
        }
        let warning = |what: String| {
            let feature = FeatureId::TRACING_DATA.name();
            (Self::default(), Some(Warning::BadFeature { feature, what }))
        };
        let data = match reader.feature(FeatureId::TRACING_DATA) {
            Ok(Some(section)) => match TracingData::parse(&section) {
                Ok(data) => data,
                Err(error) => return warning(error.to_string()),
            },
            Ok(None) => return (Self::default(), Some(Warning::NoFormats)),
            Err(_) => return warning("it lies outside of the file".to_owned()),
        };
        let texts = data.systems.iter().flat_map(|(_, formats)| formats);
        let formats = texts.filter_map(|text| TracepointFormat::parse(text).ok());
        // Two events may be the same tracepoint.
        let by_id: HashMap<u64, Arc<TracepointFormat>> = formats
            .map(|format| (format.id, Arc::new(format)))
            .collect();
        let of_event = reader.events().iter().map(|event| {
            let format = by_id.get(&event.attr.config);
            format.filter(|_| is_tracepoint(event.attr.kind)).cloned()
        });
        let formats = Self {
            of_event: of_event.collect(),
            strings: strings_of(&data.printk_formats),
            long_size: data.long_size,
        };
        (formats, None)
    }

    /// Whether there is something to print at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.of_event.iter().all(Option::is_none)
    }

    /// Whether an event's samples have fields.
    pub(crate) fn has(&self, event: usize) -> bool {
        self.of_event.get(event).is_some_and(Option::is_some)
    }

    /// Tells the fields of an event's raw data.
    pub(crate) fn visit(&self, event: usize, bytes: &[u8], endian: Endian, to: &mut dyn Fields) {
        let format = self.of_event.get(event).and_then(Option::as_deref);
        let data = TracepointData {
            bytes,
            endian,
            long_size: self.long_size,
        };
        if let Some(format) = format {
            format.visit(&data, to);
        }
    }
}

/// Lines of `printk_formats`: `0xffffffff82a0b2c8 : "text"`.
fn strings_of(text: &[u8]) -> HashMap<u64, Vec<u8>> {
    let lines = text.split(|&byte| byte == b'\n');
    let parsed = lines.filter_map(|line| {
        let line = std::str::from_utf8(line).ok()?;
        let (address, text) = line.split_once(" : ")?;
        let address = u64::from_str_radix(address.strip_prefix("0x")?, 16).ok()?;
        let text = text.strip_prefix('"')?.strip_suffix('"')?;
        Some((address, text.as_bytes().to_vec()))
    });
    parsed.collect()
}

/// Prints what tracepoints wrote.
pub(super) struct Traces<'a> {
    context: &'a Context<'a>,
    formats: &'a Formats,
    symbols: Option<KernelSymbols<'a>>,
}

impl<'a> Traces<'a> {
    pub(super) fn new(
        context: &'a Context<'a>,
        formats: &'a Formats,
        kernel: Option<&'a Kernel<'_>>,
    ) -> Self {
        let images = context.skimmed.history.images();
        let reference = images
            .iter()
            .find_map(|(_, image)| image.kernel_reference());
        let list = kernel.and_then(|kernel| kernel.symbols.as_ref().ok());
        Self {
            context,
            formats,
            symbols: list.map(|list| KernelSymbols::new(list, reference)),
        }
    }

    /// Appends what an event's raw data says.
    pub(super) fn append(&self, event: usize, raw: &[u8], out: &mut Vec<u8>) {
        let format = self.formats.of_event.get(event).and_then(Option::as_deref);
        if let Some(format) = format {
            let mut printed = Vec::new();
            format.print(&self.data(raw), self, &mut printed);
            text::printed(out, &printed);
        }
    }

    fn data<'r>(&self, raw: &'r [u8]) -> TracepointData<'r> {
        TracepointData {
            bytes: raw,
            endian: self.context.reader.endian(),
            long_size: self.formats.long_size,
        }
    }
}

impl TracepointNames for Traces<'_> {
    fn kernel_symbol(&self, address: u64) -> Option<(Cow<'_, str>, u64)> {
        let history = &self.context.skimmed.history;
        // At the end of the recording: modules that were unloaded have no names any more.
        let place = history.place(history.kernel_epoch(Key::LAST), Avma(address));
        if !matches!(place, Place::Kernel { .. }) {
            return None;
        }
        let (name, offset) = self.symbols.as_ref()?.name(Avma(address))?;
        Some((Untrusted::of_bytes(name).into_raw(), offset))
    }

    fn printk_string(&self, address: u64) -> Option<&[u8]> {
        self.formats.strings.get(&address).map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_found_by_address() {
        let strings = strings_of(b"0xffffffff82a0b2c8 : \"RCU tasks\"\nrubbish\n");
        assert_eq!(strings.len(), 1);
        assert_eq!(strings[&0xffff_ffff_82a0_b2c8], b"RCU tasks");
    }
}
