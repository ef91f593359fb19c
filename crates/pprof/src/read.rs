//! Profiles that others have written, part by part: nothing is kept that was not asked for, and what is taken for a part
//! never exceeds a few times its bytes.

use crate::Error;
use crate::messages::{PprofFunction, PprofLocation, PprofMapping, PprofValueType};
use prost::Message;
use prost::encoding::{WireType, decode_key, decode_varint};

/// A part of a profile: a field of its message.
#[derive(Clone, Debug, PartialEq)]
pub enum PprofPart<'p> {
    /// What the next value of each sample is.
    SampleType(PprofValueType),
    /// A sample, still encoded: [`PprofSampleParts::read`].
    Sample(&'p [u8]),
    /// A mapping.
    Mapping(PprofMapping),
    /// A location.
    Location(PprofLocation),
    /// A function.
    Function(PprofFunction),
    /// The next string; tools write UTF-8.
    Text(&'p [u8]),
    /// The kind of the sample type that is shown first, as a string.
    DefaultSampleType(i64),
    /// Something else that profiles have.
    Other,
    /// Nothing that profiles have.
    Unknown,
}

/// The parts of an encoded profile, in order. After an error there are no more.
#[derive(Clone, Debug)]
pub struct PprofParts<'p> {
    rest: &'p [u8],
}

impl<'p> PprofParts<'p> {
    /// Of a profile that is not compressed.
    pub fn new(profile: &'p [u8]) -> Self {
        Self { rest: profile }
    }
}

impl<'p> Iterator for PprofParts<'p> {
    type Item = Result<PprofPart<'p>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let part = field(&mut self.rest).and_then(|(tag, field)| part(tag, field));
        if part.is_err() {
            self.rest = &[];
        }
        Some(part)
    }
}

fn part(tag: u32, field: Field<'_>) -> Result<PprofPart<'_>, Error> {
    Ok(match (tag, field) {
        (1, Field::Bytes(bytes)) => PprofPart::SampleType(Message::decode(bytes)?),
        (2, Field::Bytes(bytes)) => PprofPart::Sample(bytes),
        (3, Field::Bytes(bytes)) => PprofPart::Mapping(Message::decode(bytes)?),
        (4, Field::Bytes(bytes)) => PprofPart::Location(Message::decode(bytes)?),
        (5, Field::Bytes(bytes)) => PprofPart::Function(Message::decode(bytes)?),
        (6, Field::Bytes(bytes)) => PprofPart::Text(bytes),
        (14, Field::Number(number)) => PprofPart::DefaultSampleType(number.cast_signed()),
        // Names of frames to drop or to keep, times, periods, comments.
        (7..=10 | 12 | 13, Field::Number(_)) | (11 | 13, Field::Bytes(_)) => PprofPart::Other,
        _ => PprofPart::Unknown,
    })
}

/// A label of a sample, with numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct PprofLabelParts {
    /// What it says, as a string.
    pub key: i64,
    /// Its value, as a string; 0 if it is a number.
    pub str: i64,
    /// Its value, if it is a number.
    pub num: i64,
}

/// What is in a sample; its memory serves for one after the other.
#[derive(Clone, Debug, Default)]
pub struct PprofSampleParts {
    /// Ids of locations, innermost first.
    pub locations: Vec<u64>,
    /// One of each sample type.
    pub values: Vec<i64>,
    /// What else is known of it.
    pub labels: Vec<PprofLabelParts>,
}

impl PprofSampleParts {
    /// Reads an encoded sample in the place of the one before.
    ///
    /// # Errors
    /// It is no message.
    pub fn read(&mut self, mut sample: &[u8]) -> Result<(), Error> {
        self.locations.clear();
        self.values.clear();
        self.labels.clear();
        while !sample.is_empty() {
            match field(&mut sample)? {
                (1, numbers) => numbers.each(|id| self.locations.push(id))?,
                (2, numbers) => numbers.each(|value| self.values.push(value.cast_signed()))?,
                (3, Field::Bytes(label)) => self.labels.push(PprofLabelParts::read(label)?),
                _ => {}
            }
        }
        Ok(())
    }
}

impl PprofLabelParts {
    fn read(mut label: &[u8]) -> Result<Self, Error> {
        let mut parts = Self::default();
        while !label.is_empty() {
            match field(&mut label)? {
                (1, Field::Number(key)) => parts.key = key.cast_signed(),
                (2, Field::Number(text)) => parts.str = text.cast_signed(),
                (3, Field::Number(number)) => parts.num = number.cast_signed(),
                _ => {}
            }
        }
        Ok(parts)
    }
}

/// What a field of a message holds.
enum Field<'p> {
    Number(u64),
    /// A message, a string, or numbers in a row.
    Bytes(&'p [u8]),
    /// Numbers of fixed width: profiles have none.
    Fixed,
}

impl Field<'_> {
    /// Takes each number of a repeated field, which may be packed or not.
    fn each(self, mut take: impl FnMut(u64)) -> Result<(), Error> {
        match self {
            Self::Number(number) => take(number),
            Self::Bytes(mut packed) => {
                while !packed.is_empty() {
                    take(decode_varint(&mut packed)?);
                }
            }
            Self::Fixed => {}
        }
        Ok(())
    }
}

/// Takes the next field: its number, and what it holds.
fn field<'p>(rest: &mut &'p [u8]) -> Result<(u32, Field<'p>), Error> {
    let (tag, kind) = decode_key(rest)?;
    let field = match kind {
        WireType::Varint => Field::Number(decode_varint(rest)?),
        WireType::LengthDelimited => {
            let len = decode_varint(rest)?;
            Field::Bytes(take(rest, len)?)
        }
        WireType::SixtyFourBit => {
            take(rest, 8)?;
            Field::Fixed
        }
        WireType::ThirtyTwoBit => {
            take(rest, 4)?;
            Field::Fixed
        }
        WireType::StartGroup | WireType::EndGroup => return Err(Error::Group),
    };
    Ok((tag, field))
}

fn take<'p>(rest: &mut &'p [u8], len: u64) -> Result<&'p [u8], Error> {
    let len = usize::try_from(len).map_err(|_| Error::CutOff)?;
    let (bytes, after) = rest.split_at_checked(len).ok_or(Error::CutOff)?;
    *rest = after;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{PPROF_SAMPLE, PprofLabel, PprofRest, PprofSample};
    use prost::encoding::encode_key;

    fn profile() -> Vec<u8> {
        let rest = PprofRest {
            sample_type: vec![PprofValueType { kind: 1, unit: 2 }],
            mapping: vec![PprofMapping {
                id: 1,
                ..PprofMapping::default()
            }],
            string_table: ["", "cpu", "count"].map(str::to_owned).to_vec(),
            default_sample_type: 1,
            ..PprofRest::default()
        };
        let sample = PprofSample {
            location_id: vec![3, 300],
            value: vec![-1, 5],
            label: vec![PprofLabel { key: 1, str: 2 }],
        };
        let mut bytes = rest.encode_to_vec();
        encode_key(PPROF_SAMPLE, WireType::LengthDelimited, &mut bytes);
        sample.encode_length_delimited(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn what_was_encoded_is_read() {
        let profile = profile();
        let parts: Result<Vec<PprofPart<'_>>, Error> = PprofParts::new(&profile).collect();
        let parts = parts.unwrap();
        let texts = parts.iter().filter_map(|part| match part {
            PprofPart::Text(text) => Some(*text),
            _ => None,
        });
        assert_eq!(texts.collect::<Vec<_>>(), [&b""[..], b"cpu", b"count"]);
        assert!(parts.contains(&PprofPart::DefaultSampleType(1)));
        let Some(PprofPart::Sample(bytes)) = parts.last() else {
            panic!("no sample in {parts:?}")
        };
        let mut sample = PprofSampleParts::default();
        for _ in 0..2 {
            sample.read(bytes).unwrap();
            assert_eq!(sample.locations, [3, 300]);
            assert_eq!(sample.values, [-1, 5]);
            let label = PprofLabelParts {
                key: 1,
                str: 2,
                num: 0,
            };
            assert_eq!(sample.labels, [label]);
        }
    }

    #[test]
    fn numbers_come_packed_or_one_by_one() {
        let mut sample = PprofSampleParts::default();
        sample.read(&[0x08, 7, 0x08, 9, 0x10, 1]).unwrap();
        assert_eq!(
            (&sample.locations[..], &sample.values[..]),
            (&[7, 9][..], &[1][..])
        );
    }

    #[test]
    fn a_profile_that_is_cut_off_ends_with_an_error() {
        let profile = profile();
        for len in 0..profile.len() {
            let parts = PprofParts::new(&profile[..len]);
            assert!(parts.filter(Result::is_err).count() <= 1, "{len}");
        }
        let whole = PprofParts::new(&profile[..profile.len() - 1]);
        assert!(whole.last().unwrap().is_err());
        assert!(PprofParts::new(&[0x0b]).next().unwrap().is_err());
    }
}
