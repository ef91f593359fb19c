//! TRACING_DATA: formats of tracepoints, without which perf does not open a recording of them.

use super::section::SectionObject;
use rprof_abi::{Cursor, Encoder, Endian, Fields, Value, WireError};

/// What tracefs says of the tracepoints of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracingData {
    /// `events/header_page`.
    pub header_page: Vec<u8>,
    /// `events/header_event`.
    pub header_event: Vec<u8>,
    /// The `format` files of ftrace's own events.
    pub ftrace: Vec<Vec<u8>>,
    /// By system, the `format` files of its tracepoints.
    pub systems: Vec<(String, Vec<Vec<u8>>)>,
    /// `/proc/kallsyms`, which perf leaves out since v4.10.
    pub kallsyms: Vec<u8>,
    /// `printk_formats`: addresses and texts of constant strings.
    pub printk_formats: Vec<u8>,
    /// `saved_cmdlines`: process ids and names.
    pub cmdlines: Vec<u8>,
    /// Bytes of a `long`.
    pub long_size: u8,
    /// Bytes of a page.
    pub page_size: u32,
}

impl Default for TracingData {
    fn default() -> Self {
        Self {
            header_page: Vec::new(),
            header_event: Vec::new(),
            ftrace: Vec::new(),
            systems: Vec::new(),
            kallsyms: Vec::new(),
            printk_formats: Vec::new(),
            cmdlines: Vec::new(),
            long_size: 8,
            page_size: 0,
        }
    }
}

const MAGIC: &[u8] = b"\x17\x08\x44tracing";

impl TracingData {
    /// Appends the section: trace-cmd's format, version 0.6 (tools/perf/util/trace-event-info.c,
    /// v6.1).
    pub fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.bytes(MAGIC);
        encoder.bytes(b"0.6\0");
        encoder.u8(u8::from(encoder.endian() == Endian::Big));
        encoder.u8(self.long_size);
        encoder.u32(self.page_size);
        encoder.bytes(b"header_page\0");
        encode_file(&self.header_page, encoder);
        encoder.bytes(b"header_event\0");
        encode_file(&self.header_event, encoder);
        encode_files(&self.ftrace, encoder);
        encoder.count(self.systems.len());
        for (system, formats) in &self.systems {
            encoder.bytes(system.as_bytes());
            encoder.u8(0);
            encode_files(formats, encoder);
        }
        for text in [&self.kallsyms, &self.printk_formats] {
            encoder.count(text.len());
            encoder.bytes(text);
        }
        encode_file(&self.cmdlines, encoder);
    }

    /// Names of tracepoints by their numbers, which are `config` in attrs.
    pub fn names(&self) -> impl Iterator<Item = (u64, String)> {
        let all = self.systems.iter().flat_map(|(system, formats)| {
            formats
                .iter()
                .map(move |text| (system.as_str(), text.as_slice()))
        });
        all.filter_map(numbered_name)
    }

    /// Parses the section (tools/perf/util/trace-event-read.c, v6.1). Byte order and size of a
    /// long are what the section says: it may be of another machine than the file.
    ///
    /// # Errors
    /// [`WireError`] if it is another format, or shorter than its counts say.
    pub fn parse(section: &[u8]) -> Result<Self, WireError> {
        let mut start = Cursor::new(section, Endian::NATIVE);
        if start.bytes(MAGIC.len() as u64, "tracing data magic")? != MAGIC {
            return Err(WireError::BadMagic {
                what: "tracing data",
            });
        }
        let version = Version::parse(start.c_str());
        let endian = match start.u8("tracing data byte order")? {
            0 => Endian::Little,
            _ => Endian::Big,
        };
        let mut cursor = Cursor::new(start.rest(), endian);
        let long_size = cursor.u8("size of a long")?;
        let page_size = cursor.u32("page size")?;
        let header_page = named_file(&mut cursor, b"header_page")?;
        let header_event = named_file(&mut cursor, b"header_event")?;
        let ftrace = files(&mut cursor, "ftrace format")?;
        let n_systems = cursor.u32("count of systems")?;
        let systems = (0..n_systems)
            .map(|_| {
                let name = String::from_utf8_lossy(cursor.c_str()).into_owned();
                Ok((name, files(&mut cursor, "tracepoint format")?))
            })
            .collect::<Result<_, WireError>>()?;
        let kallsyms = text(&mut cursor, "kallsyms")?;
        let printk_formats = text(&mut cursor, "printk formats")?;
        let cmdlines = match version {
            Version(0, ..6) => Vec::new(),
            _ => file(&mut cursor, "saved command lines")?,
        };
        Ok(Self {
            header_page,
            header_event,
            ftrace,
            systems,
            kallsyms,
            printk_formats,
            cmdlines,
            long_size,
            page_size,
        })
    }
}

/// What `rprof info` says of the section: which tracepoints it describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracingSummary {
    /// Bytes of the section.
    pub len_bytes: u64,
    /// Tracepoints by their numbers, which are `config` in attrs.
    pub tracepoints: Vec<(u64, String)>,
}

impl SectionObject for TracingSummary {
    fn parse(section: &[u8], _: Endian) -> Result<Self, WireError> {
        Ok(Self {
            len_bytes: section.len() as u64,
            tracepoints: TracingData::parse(section)?.names().collect(),
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("len_bytes", Value::Unsigned(self.len_bytes));
        fields.objects("tracepoints", &self.tracepoints, |fields, (id, name)| {
            fields.field("id", Value::Unsigned(*id));
            fields.field("name", Value::Text(name.as_bytes()));
        });
    }
}

/// The number of the tracepoint that a `format` file describes, and its name with its system's.
fn numbered_name((system, text): (&str, &[u8])) -> Option<(u64, String)> {
    let text = text.get(..MAX_HEAD).unwrap_or(text);
    let text = String::from_utf8_lossy(text);
    let field = |key: &str| {
        let mut values = text.lines().filter_map(|line| line.strip_prefix(key));
        values.next().map(str::trim)
    };
    let id = field("ID:")?.parse().ok()?;
    Some((id, format!("{system}:{}", field("name:")?)))
}

/// Bytes of a `format` file that its name and number are in.
const MAX_HEAD: usize = 4096;

/// Of trace-cmd's format; command lines are there from 0.6 on.
struct Version(u32, u32);

impl Version {
    fn parse(text: &[u8]) -> Self {
        let text = String::from_utf8_lossy(text);
        let mut numbers = text.split('.').map(|number| number.parse().unwrap_or(0));
        let mut number = || numbers.next().unwrap_or(0);
        Self(number(), number())
    }
}

fn encode_file(text: &[u8], encoder: &mut Encoder<'_>) {
    encoder.u64(text.len() as u64);
    encoder.bytes(text);
}

fn encode_files(files: &[Vec<u8>], encoder: &mut Encoder<'_>) {
    encoder.count(files.len());
    for file in files {
        encode_file(file, encoder);
    }
}

fn named_file(cursor: &mut Cursor<'_>, name: &'static [u8]) -> Result<Vec<u8>, WireError> {
    if cursor.c_str() != name {
        return Err(WireError::BadMagic {
            what: "header of tracing data",
        });
    }
    file(cursor, "header of tracing data")
}

fn file(cursor: &mut Cursor<'_>, what: &'static str) -> Result<Vec<u8>, WireError> {
    let len = cursor.u64(what)?;
    Ok(cursor.bytes(len, what)?.to_vec())
}

/// A count may be anything: what is collected is bounded by the section, since each file needs
/// bytes of it.
fn files(cursor: &mut Cursor<'_>, what: &'static str) -> Result<Vec<Vec<u8>>, WireError> {
    let n = cursor.u32(what)?;
    (0..n).map(|_| file(cursor, what)).collect()
}

fn text(cursor: &mut Cursor<'_>, what: &'static str) -> Result<Vec<u8>, WireError> {
    let len = cursor.u32(what)?;
    Ok(cursor.bytes(len.into(), what)?.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Flat;
    use proptest::prelude::*;

    fn sample() -> TracingData {
        TracingData {
            header_page: b"page".to_vec(),
            header_event: b"event".to_vec(),
            ftrace: vec![b"name: function\n".to_vec()],
            systems: vec![
                ("sched".to_owned(), vec![b"a".to_vec(), Vec::new()]),
                ("irq".to_owned(), Vec::new()),
            ],
            kallsyms: b"ffffffff81000000 T _text\n".to_vec(),
            printk_formats: b"0xffffffff82000000 : \"Rescheduling interrupts\"\n".to_vec(),
            cmdlines: b"1 init\n".to_vec(),
            long_size: 4,
            page_size: 4096,
        }
    }

    fn encoded(data: &TracingData, endian: Endian) -> Vec<u8> {
        let mut bytes = Vec::new();
        data.encode(&mut Encoder::new(&mut bytes, endian));
        bytes
    }

    #[test]
    fn it_round_trips_in_both_byte_orders() {
        for endian in [Endian::Little, Endian::Big] {
            let bytes = encoded(&sample(), endian);
            assert_eq!(TracingData::parse(&bytes).unwrap(), sample());
            let empty = TracingData::default();
            assert_eq!(TracingData::parse(&encoded(&empty, endian)).unwrap(), empty);
        }
    }

    #[test]
    fn info_lists_the_tracepoints_by_number() {
        let mut data = sample();
        data.systems[0].1[0] = b"name: sched_switch\nID: 314\nformat:\n".to_vec();
        let bytes = encoded(&data, Endian::Big);
        let summary = <TracingSummary as SectionObject>::parse(&bytes, Endian::Little).unwrap();
        let expected = [
            format!("len_bytes={}", bytes.len()),
            "tracepoints.0.id=314".to_owned(),
            "tracepoints.0.name=sched:sched_switch".to_owned(),
        ];
        assert_eq!(Flat::of(|fields| summary.visit(fields)), expected);
        assert!(<TracingSummary as SectionObject>::parse(&bytes[1..], Endian::Big).is_err());
    }

    #[test]
    fn every_truncation_is_an_error() {
        let bytes = encoded(&sample(), Endian::Little);
        for len in 0..bytes.len() {
            assert!(TracingData::parse(&bytes[..len]).is_err(), "{len} bytes");
        }
    }

    #[test]
    fn version_0_5_has_no_command_lines() {
        let mut data = sample();
        data.cmdlines = Vec::new();
        let mut bytes = encoded(&data, Endian::Little);
        bytes.truncate(bytes.len() - 8);
        bytes[12] = b'5';
        assert_eq!(TracingData::parse(&bytes).unwrap(), data);
    }

    #[test]
    fn another_format_is_said_to_be_one() {
        let mut bytes = encoded(&sample(), Endian::Little);
        bytes[4] = b'x';
        let error = TracingData::parse(&bytes).unwrap_err();
        assert_eq!(error.to_string(), "tracing data has the wrong magic");
    }

    proptest! {
        #[test]
        fn damage_never_panics(at in 0_usize..300, byte: u8) {
            let mut bytes = encoded(&sample(), Endian::Little);
            if let Some(slot) = bytes.get_mut(at) {
                *slot = byte;
            }
            let _ = TracingData::parse(&bytes);
        }
    }
}
