//! The first 104 bytes.

use rprof_abi::{Cursor, Encoder, Endian, WireError};

/// A range of the file: `struct perf_file_section`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Section {
    /// Bytes from the start of the file.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
}

impl Section {
    /// Bytes of an encoded section.
    pub const LEN: u64 = 16;

    /// The first byte after it, or `u64::MAX` if it claims more than a file can hold.
    pub fn end(self) -> u64 {
        self.offset.saturating_add(self.size)
    }

    pub(crate) fn parse(cursor: &mut Cursor<'_>) -> Result<Self, WireError> {
        Ok(Self {
            offset: cursor.u64("section")?,
            size: cursor.u64("section")?,
        })
    }

    pub(crate) fn encode(self, encoder: &mut Encoder<'_>) {
        encoder.u64(self.offset);
        encoder.u64(self.size);
    }
}

/// `struct perf_file_header`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileHeader {
    /// Bytes of one entry of the attr section: the attr and the section of its ids.
    pub attr_entry_size: u64,
    /// The attr section.
    pub attrs: Section,
    /// The records; a size of 0 means that the recording was not ended.
    pub data: Section,
    /// Feature bits 0 to 255.
    pub features: [u64; 4],
}

impl FileHeader {
    /// Bytes of the header.
    pub const LEN: u64 = 104;

    /// Where the size of the data is in it.
    pub(crate) const DATA_SIZE_OFFSET: u64 = 48;
    /// Bits for features: numbers of features are below this.
    pub(crate) const MAX_FEATURES: u32 = 256;
    /// The magic, as bytes of a little-endian file.
    pub const MAGIC: [u8; 8] = *b"PERFILE2";

    /// The byte order that a magic says; `None` if it is no magic.
    pub fn endian_of(magic: [u8; 8]) -> Option<Endian> {
        let mut swapped = magic;
        swapped.reverse();
        if magic == Self::MAGIC {
            Some(Endian::Little)
        } else if swapped == Self::MAGIC {
            Some(Endian::Big)
        } else {
            None
        }
    }

    /// Reads a header whose magic has been looked at already.
    ///
    /// # Errors
    /// [`WireError`] if it is short or says that it is smaller than it must be.
    pub fn parse(bytes: &[u8], endian: Endian) -> Result<Self, WireError> {
        let mut cursor = Cursor::new(bytes, endian);
        cursor.bytes(8, "magic")?;
        let size = cursor.u64("header size")?;
        if size < Self::LEN {
            return Err(WireError::BadSize {
                what: "file header",
                size,
                min: Self::LEN,
            });
        }
        let attr_entry_size = cursor.u64("attr size")?;
        let attrs = Section::parse(&mut cursor)?;
        let data = Section::parse(&mut cursor)?;
        Section::parse(&mut cursor)?;
        let mut features = [0; 4];
        for word in &mut features {
            *word = cursor.u64("feature bits")?;
        }
        Ok(Self {
            attr_entry_size,
            attrs,
            data,
            features,
        })
    }

    /// Appends the header, little-endian magic or its mirror as `endian` says.
    pub fn encode(&self, out: &mut Vec<u8>, endian: Endian) {
        let mut encoder = Encoder::new(out, endian);
        encoder.u64(u64::from_le_bytes(Self::MAGIC));
        encoder.u64(Self::LEN);
        encoder.u64(self.attr_entry_size);
        self.attrs.encode(&mut encoder);
        self.data.encode(&mut encoder);
        Section::default().encode(&mut encoder);
        for word in self.features {
            encoder.u64(word);
        }
    }

    /// Whether the recorder ended before it closed the file: perf writes the data's size last, and rprof the
    /// features. Everybody's finished files have some.
    pub fn is_unfinished(&self) -> bool {
        self.data.size == 0 || self.features == [0; 4]
    }

    /// The feature bits that are set, lowest first.
    pub fn feature_ids(&self) -> impl Iterator<Item = crate::FeatureId> + '_ {
        (0..Self::MAX_FEATURES).filter_map(|bit| {
            let word = self.features.get((bit / 64) as usize)?;
            (word >> (bit % 64) & 1 == 1).then_some(crate::FeatureId(bit))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_round_trips_in_both_byte_orders() {
        for endian in [Endian::Little, Endian::Big] {
            let header = FileHeader {
                attr_entry_size: 144,
                attrs: Section {
                    offset: 200,
                    size: 288,
                },
                data: Section {
                    offset: 500,
                    size: 1000,
                },
                features: [1 << 3, 0, 0, 1 << 8],
            };
            let mut bytes = Vec::new();
            header.encode(&mut bytes, endian);
            assert_eq!(bytes.len() as u64, FileHeader::LEN);
            let magic = bytes[..8].try_into().unwrap();
            assert_eq!(FileHeader::endian_of(magic), Some(endian));
            assert_eq!(FileHeader::parse(&bytes, endian).unwrap(), header);
            let ids: Vec<_> = header.feature_ids().map(|id| id.0).collect();
            assert_eq!(ids, [3, 200]);
        }
    }
}
