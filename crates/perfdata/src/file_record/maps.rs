//! `THREAD_MAP` and `CPU_MAP`: what was recorded.

use super::body::{BodyItem, FileBody, encode_items};
use super::stat::append;
use crate::file_kind;
use crate::ranges::{set_bits, visit_ranges, visit_spans};
use rprof_abi::format::FixedText;
use rprof_abi::{Cursor, Fields, Misc, Value, WireError, wire};

wire! {
    /// One item of `PERF_RECORD_THREAD_MAP`.
    #[derive(Copy)]
    pub struct ThreadMapEntry<'a> in "thread map" {
        /// Thread, or -1 for all.
        pub tid: i64,
        /// Its name, of 15 bytes at most.
        pub comm: &'a [u8] as FixedText<16>,
    }
}

impl<'a> BodyItem<'a> for ThreadMapEntry<'a> {
    const LIST: &'static str = "threads";
    const COUNT: &'static str = "thread map";
}

impl ThreadMapEntry<'_> {
    /// Appends the record of these threads, in this machine's byte order.
    ///
    /// # Errors
    /// [`WireError`] if there are too many.
    pub fn encode_all(threads: &[Self], out: &mut Vec<u8>) -> Result<(), WireError> {
        append(file_kind::THREAD_MAP, out, |body| {
            encode_items(threads, body)
        })
    }
}

/// A set of CPUs: `PERF_RECORD_CPU_MAP`, or a part of `EVENT_UPDATE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CpuMap<'a> {
    /// One by one; -1 stands for any CPU.
    Cpus(Vec<i32>),
    /// One bit each.
    Mask {
        /// Bits in a word: 32 or 64.
        bits_per_word: u64,
        /// The words, lowest CPU first.
        words: Vec<u64>,
    },
    /// All from `first` to `last` (6.1).
    Range {
        /// Whether "any CPU" is one of them.
        any_cpu: bool,
        /// The first CPU.
        first: u16,
        /// The last CPU.
        last: u16,
    },
    /// A form that is not known.
    Unknown {
        /// Its number.
        kind: u16,
        /// Its bytes.
        data: &'a [u8],
    },
}

impl<'a> CpuMap<'a> {
    /// Appends the record of CPUs one by one, in this machine's byte order; -1 stands for any CPU.
    ///
    /// # Errors
    /// [`WireError`] if there are too many, or a number is too large.
    pub fn encode_cpus(cpus: &[i32], out: &mut Vec<u8>) -> Result<(), WireError> {
        let what = "CPU of a CPU map";
        let number = |&cpu: &i32| match cpu {
            -1 => Ok(u16::MAX),
            cpu => u16::try_from(cpu).map_err(|_| WireError::BadValue {
                what,
                value: u64::from(cpu.unsigned_abs()),
            }),
        };
        let numbers: Vec<u16> = cpus.iter().map(number).collect::<Result<_, _>>()?;
        let n = u16::try_from(numbers.len()).map_err(|_| WireError::BadValue {
            what: "length of a CPU map",
            value: numbers.len() as u64,
        })?;
        append(file_kind::CPU_MAP, out, |body| {
            body.u16(0);
            body.u16(n);
            numbers.iter().for_each(|&cpu| body.u16(cpu));
        })
    }

    fn parse_mask(cursor: &mut Cursor<'_>) -> Result<Self, WireError> {
        let what = "CPU mask";
        let n = cursor.u16(what)?;
        let word_len = cursor.u16(what)?;
        let take = match word_len {
            4 => |cursor: &mut Cursor<'_>| cursor.u32("CPU mask").map(u64::from),
            8 => {
                cursor.bytes(4, what)?; // padding
                |cursor: &mut Cursor<'_>| cursor.u64("CPU mask")
            }
            _ => {
                return Err(WireError::BadValue {
                    what: "length of a word of a CPU mask",
                    value: word_len.into(),
                });
            }
        };
        Ok(Self::Mask {
            bits_per_word: u64::from(word_len) * 8,
            words: (0..n).map(|_| take(cursor)).collect::<Result<_, _>>()?,
        })
    }
}

impl<'a> FileBody<'a> for CpuMap<'a> {
    /// Takes the map; alignment was an accident once, and is part of the format now.
    fn parse_body(cursor: &mut Cursor<'a>, _: Misc) -> Result<Self, WireError> {
        let what = "CPU map";
        match cursor.u16(what)? {
            0 => {
                let n = cursor.u16(what)?;
                let cpu = |_| cursor.u16(what).map(any_or_number);
                (0..n).map(cpu).collect::<Result<_, _>>().map(Self::Cpus)
            }
            1 => Self::parse_mask(cursor),
            2 => {
                let any_cpu = cursor.u8(what)? != 0;
                cursor.u8(what)?;
                Ok(Self::Range {
                    any_cpu,
                    first: cursor.u16(what)?,
                    last: cursor.u16(what)?,
                })
            }
            kind => Ok(Self::Unknown {
                kind,
                data: cursor.rest(),
            }),
        }
    }

    fn name_fields(&self, fields: &mut dyn Fields) {
        match self {
            Self::Cpus(cpus) => {
                fields.field("any_cpu", Value::Bool(cpus.contains(&-1)));
                let cpus = cpus.iter().filter_map(|&cpu| u64::try_from(cpu).ok());
                visit_ranges("cpus", cpus, fields);
            }
            Self::Mask {
                bits_per_word,
                words,
            } => {
                fields.field("any_cpu", Value::Bool(false));
                let cpus = set_bits(words.iter().copied(), *bits_per_word);
                visit_ranges("cpus", cpus, fields);
            }
            Self::Range {
                any_cpu,
                first,
                last,
            } => {
                fields.field("any_cpu", Value::Bool(*any_cpu));
                // Not number by number: the record is short, and a file may have many of them.
                let span = (first <= last).then_some((u64::from(*first), u64::from(*last)));
                visit_spans("cpus", span, fields);
            }
            Self::Unknown { kind, data } => {
                fields.field("type", Value::Unsigned((*kind).into()));
                fields.field("data", Value::Bytes(data));
            }
        }
    }
}

/// `-1` is stored in 16 bits.
fn any_or_number(cpu: u16) -> i32 {
    match cpu {
        u16::MAX => -1,
        cpu => cpu.into(),
    }
}
