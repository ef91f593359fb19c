//! How inputs are made up that are not whole files: written by `seeds`, read by the targets.

use rprof_abi::{AttrSize, Endian, Fields, Misc, PerfEventAttr, RawRecord, RecordKind};
use rprof_perfdata::FeatureId;
use rprof_inspect::{JsonFields, TextFields};

/// Bytes of the attr of a [`SampleInput`].
const ATTR_LEN: usize = AttrSize::NEWEST.0 as usize;

/// A record of an event.
#[derive(Debug)]
pub struct SampleInput<'a> {
    pub endian: Endian,
    pub attr: PerfEventAttr,
    pub raw: RawRecord<'a>,
}

impl<'a> SampleInput<'a> {
    /// Byte order, kind, misc, attr, body. Any bytes are one if they are enough.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (&[order, kind, misc, high], rest) = bytes.split_first_chunk::<4>()?;
        let (attr, body) = rest.split_first_chunk::<ATTR_LEN>()?;
        let endian = endian_of(order);
        let mut attr = *attr;
        attr[4..8].copy_from_slice(&endian.bytes_u32(AttrSize::NEWEST.0));
        let (attr, _) = PerfEventAttr::parse(&attr, endian).ok()?;
        let raw = RawRecord {
            kind: RecordKind(kind.into()),
            misc: Misc(u16::from_le_bytes([misc, high])),
            body,
        };
        Some(Self { endian, attr, raw })
    }

    /// What [`Self::parse`] reads.
    pub fn encode(&self) -> Vec<u8> {
        let [misc, high] = self.raw.misc.0.to_le_bytes();
        let mut out = vec![order_of(self.endian), self.raw.kind.0 as u8, misc, high];
        self.attr.encode(&mut out, self.endian, AttrSize::NEWEST);
        out.extend_from_slice(self.raw.body);
        out
    }
}

/// A thread that stands in an image.
#[derive(Debug)]
pub struct WalkInput<'a> {
    pub is_x86: bool,
    pub is_cut: bool,
    /// The program counter first, the others by DWARF's numbers.
    pub registers: [u64; 34],
    pub stack: Vec<u64>,
    /// An ELF file.
    pub image: &'a [u8],
}

impl<'a> WalkInput<'a> {
    /// Where the image is.
    pub const IMAGE: u64 = 0x40_0000;
    /// Where the stack is.
    pub const STACK: u64 = 0x7fff_0000;

    /// Flags, number of words on the stack, registers, stack, image. A word is three bytes: what
    /// it points into, and how far.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (&[flags, n_words], rest) = bytes.split_first_chunk()?;
        let (registers, rest) = rest.split_first_chunk::<102>()?;
        let (stack, image) = rest.split_at_checked(3 * usize::from(n_words))?;
        let word = |bytes: &[u8]| {
            let low = u64::from(bytes[1]) | u64::from(bytes[2]) << 8;
            match bytes[0] % 4 {
                0 => low,
                1 => Self::IMAGE + low,
                2 => Self::STACK + low,
                _ => low.rotate_right(16),
            }
        };
        let mut words = registers.chunks(3).map(word);
        Some(Self {
            is_x86: flags & 1 == 0,
            is_cut: flags & 2 != 0,
            registers: std::array::from_fn(|_| words.next().unwrap_or(0)),
            stack: stack.chunks(3).map(word).collect(),
            image,
        })
    }
}

/// A feature section, or the body of one of the file's own records.
#[derive(Debug)]
pub struct SectionInput<'a> {
    pub endian: Endian,
    pub what: Section,
    pub bytes: &'a [u8],
}

/// What a [`SectionInput`] is.
#[derive(Clone, Copy, Debug)]
pub enum Section {
    Feature(FeatureId),
    Record(RecordKind),
}

impl<'a> SectionInput<'a> {
    /// Byte order and what it is, number, bytes.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (&[order, low, high], bytes) = bytes.split_first_chunk::<3>()?;
        let number = u32::from(u16::from_le_bytes([low, high]));
        let what = match order & 2 {
            0 => Section::Feature(FeatureId(number)),
            _ => Section::Record(RecordKind(number)),
        };
        Some(Self {
            endian: endian_of(order),
            what,
            bytes,
        })
    }

    /// What [`Self::parse`] reads.
    pub fn encode(&self) -> Vec<u8> {
        let (is_record, number) = match self.what {
            Section::Feature(id) => (0, id.0),
            Section::Record(kind) => (2, kind.0),
        };
        let [low, high] = (number as u16).to_le_bytes();
        let mut out = vec![order_of(self.endian) | is_record, low, high];
        out.extend_from_slice(self.bytes);
        out
    }
}

fn endian_of(order: u8) -> Endian {
    match order & 1 {
        0 => Endian::Little,
        _ => Endian::Big,
    }
}

fn order_of(endian: Endian) -> u8 {
    u8::from(endian == Endian::Big)
}

/// Writes fields in every form; the JSON must be some.
pub fn show(visit: impl Fn(&mut dyn Fields)) {
    let mut json = JsonFields::new();
    visit(&mut json);
    check_json(&json.finish());
    let mut text = TextFields::default();
    visit(&mut text);
    text.finish();
}

/// Panics unless `bytes` are JSON.
pub fn check_json(bytes: &[u8]) {
    if let Err(error) = serde_json::from_slice::<serde_json::Value>(bytes) {
        panic!("{error}: {}", String::from_utf8_lossy(bytes));
    }
}
