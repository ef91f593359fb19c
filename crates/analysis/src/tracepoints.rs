//! What tracepoints wrote, by the formats in the recording.

use foldhash::HashMap;
use rprof_abi::tracepoint::{TracepointData, TracepointFormat};
use rprof_abi::{Endian, Fields, event_type};
use rprof_perfdata::feature::TracingData;
use rprof_perfdata::{FeatureId, Reader, Warning};
use std::sync::Arc;

/// The formats of a recording's events.
#[derive(Debug, Default)]
pub struct TracepointFormats {
    /// By event.
    of_event: Vec<Option<Arc<TracepointFormat>>>,
    /// Strings of the kernel by address.
    strings: HashMap<u64, Vec<u8>>,
    long_size: u8,
}

impl TracepointFormats {
    /// Reads the formats of the events that are tracepoints, and says what could not be read.
    pub fn of(reader: &Reader) -> (Self, Option<Warning>) {
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
            Err(_) => return warning("it lies outside the file".to_owned()),
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
    pub fn is_empty(&self) -> bool {
        self.of_event.iter().all(Option::is_none)
    }

    /// Whether an event's samples have fields.
    pub fn has(&self, event: usize) -> bool {
        self.of_event.get(event).is_some_and(Option::is_some)
    }

    /// The format of an event's samples.
    pub fn of_event(&self, event: usize) -> Option<&TracepointFormat> {
        self.of_event.get(event).and_then(Option::as_deref)
    }

    /// A string of the kernel, by its address.
    pub fn string(&self, address: u64) -> Option<&[u8]> {
        self.strings.get(&address).map(Vec::as_slice)
    }

    /// An event's raw data, ready to be read.
    pub fn data<'b>(&self, bytes: &'b [u8], endian: Endian) -> TracepointData<'b> {
        TracepointData {
            bytes,
            endian,
            long_size: self.long_size,
        }
    }

    /// Tells the fields of an event's raw data.
    pub fn visit(&self, event: usize, bytes: &[u8], endian: Endian, to: &mut dyn Fields) {
        if let Some(format) = self.of_event(event) {
            format.visit(&self.data(bytes, endian), to);
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
