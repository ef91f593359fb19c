//! STACK_ENDS, rprof's own: how the stacks that were unwound while recording ended.
//!
//! ```text
//! u32 version (1)   u32 number of reasons   u64 complete stacks   u64 of these, completed
//! reasons:  u32 kind   u64 stacks   string image (empty if no image is to blame)
//! u64 number of samples, for each: u64 offset in the file   u32 reason   u32 gap
//! ```

use super::section::{SectionObject, check_version};
use super::text::{encode_string, take_owned};
use rprof_abi::{Cursor, Encoder, Endian, Fields, Value, Wire, WireError, wire};
use rprof_base::StackEnd;

/// Stacks that ended for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndReason {
    /// The reason.
    pub end: StackEnd,
    /// Path of the image to blame; empty if there is none.
    pub image: Vec<u8>,
    /// How many ended so.
    pub stacks: u64,
}

wire! {
    /// A sample whose stack is not complete.
    #[derive(Copy)]
    pub struct EndedStack in "stack ends" {
        /// Where its record begins, bytes from the start of the file; of compressed records, as if they
        /// followed each other uncompressed.
        pub offset: u64,
        /// Its reason, by place in [`StackEnds::reasons`].
        pub reason: u32,
        /// Entries of its call chain before the gap; 0 if there is none.
        pub gap: u32,
    }
}

/// How stacks ended.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct StackEnds {
    /// Stacks that are complete.
    pub complete: u64,
    /// Those of them that are larger than their dumps: their outermost frames were read from
    /// the process right after the sample.
    pub completed: u64,
    /// Why others are not.
    pub reasons: Vec<EndReason>,
    /// Which those are.
    pub stacks: Vec<EndedStack>,
}

const VERSION: u32 = 1;

/// Reasons that files are added up by. Those of further images have none to blame.
const MOST_ADDED: usize = 256;

impl EndReason {
    /// Whether it is why others ended, in such an image.
    fn is_of(&self, other: &Self, image: &[u8]) -> bool {
        self.end == other.end && self.image == image
    }
}

impl StackEnds {
    /// Adds the counts of another file, without its single stacks.
    pub fn add_counts(&mut self, other: &Self) {
        self.complete += other.complete;
        self.completed += other.completed;
        for reason in &other.reasons {
            let is_full = self.reasons.len() >= MOST_ADDED;
            let is_known = !is_full
                || self
                    .reasons
                    .iter()
                    .any(|own| own.is_of(reason, &reason.image));
            let image = if is_known { &reason.image[..] } else { b"" };
            match self.reasons.iter_mut().find(|own| own.is_of(reason, image)) {
                Some(own) => own.stacks += reason.stacks,
                None => self.reasons.push(EndReason {
                    image: image.to_vec(),
                    ..*reason
                }),
            }
        }
    }

    /// Appends the section.
    pub fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.u32(VERSION);
        encoder.count(self.reasons.len());
        encoder.u64(self.complete);
        encoder.u64(self.completed);
        for reason in &self.reasons {
            encoder.u32(reason.end.code().unwrap_or(0));
            encoder.u64(reason.stacks);
            encode_string(&reason.image, encoder);
        }
        encoder.u64(self.stacks.len() as u64);
        self.stacks.iter().for_each(|stack| stack.encode(encoder));
    }
}

impl SectionObject for StackEnds {
    fn parse(section: &[u8], endian: Endian) -> Result<Self, WireError> {
        let mut cursor = Cursor::new(section, endian);
        let what = "stack ends";
        check_version(cursor.u32(what)?, VERSION, "version of stack ends")?;
        let n_reasons = cursor.u32(what)?;
        let complete = cursor.u64(what)?;
        let completed = cursor.u64(what)?;
        let reason = |cursor: &mut Cursor<'_>| {
            Ok(EndReason {
                end: StackEnd::of_code(cursor.u32(what)?),
                stacks: cursor.u64(what)?,
                image: take_owned(cursor)?,
            })
        };
        let reasons: Result<_, WireError> = (0..n_reasons).map(|_| reason(&mut cursor)).collect();
        let n_stacks = cursor.u64(what)?;
        let mut all = Cursor::new(cursor.bytes(n_stacks.saturating_mul(16), what)?, endian);
        let stacks = std::iter::from_fn(|| EndedStack::parse(&mut all).ok());
        Ok(Self {
            complete,
            completed,
            reasons: reasons?,
            stacks: stacks.collect(),
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("complete", Value::Unsigned(self.complete));
        fields.field("completed", Value::Unsigned(self.completed));
        fields.objects("reasons", &self.reasons, |fields, reason| {
            fields.field("end", Value::Text(reason.end.name().as_bytes()));
            fields.field("image", Value::Text(&reason.image));
            fields.field("stacks", Value::Unsigned(reason.stacks));
        });
        fields.field("n_stacks", Value::Unsigned(self.stacks.len() as u64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ORDERS, bytes};

    #[test]
    fn ends_round_trip_and_short_ones_are_errors() {
        let reason = |end| EndReason {
            end,
            image: b"/lib/x.so".to_vec(),
            stacks: 3,
        };
        let known = StackEnd::ALL.iter().filter(|end| end.code().is_some());
        let known = known.map(|&end| reason(end));
        let ends = StackEnds {
            complete: 7,
            completed: 2,
            reasons: known.chain([reason(StackEnd::Other(77))]).collect(),
            stacks: vec![EndedStack {
                offset: 104,
                reason: 1,
                gap: 5,
            }],
        };
        for endian in ORDERS {
            let section = bytes(endian, |encoder| ends.encode(encoder));
            assert_eq!(StackEnds::parse(&section, endian).as_ref(), Ok(&ends));
            for len in 0..section.len() {
                assert!(StackEnds::parse(&section[..len], endian).is_err());
            }
        }
    }
}
