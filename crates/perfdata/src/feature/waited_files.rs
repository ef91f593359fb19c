//! WAITED_FILES, rprof's own: what threads waited for through descriptors: pipes, sockets, terminals, files.

use super::section::{DescribedItem, encode_items};
use super::text::PerfString;
use rprof_abi::{Encoder, wire};

wire! {
    /// What a descriptor is open for.
    pub struct WaitedFile in "waited file" {
        /// As `/proc/PID/fd` has it: `pipe:[123]`, `socket:[123]`, a path.
        pub name: Vec<u8> as PerfString,
    }
}

impl DescribedItem for WaitedFile {
    const COUNT: &'static str = "number of waited files";
}

impl WaitedFile {
    /// Appends the section.
    pub fn encode_all(files: &[Self], encoder: &mut Encoder<'_>) {
        encode_items(files, encoder);
    }
}

/// The descriptor that a thread waits for. In a recording with a section WAITED_FILES, the sample with which a wait begins
/// has it in its field ADDR, which the kernel leaves 0 in samples of switches: the descriptor and 1 in the lower half, the
/// number of its file in the section and 1 in the upper one, or 0 if that is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WaitedFd {
    /// The descriptor.
    pub fd: u32,
    /// The number of its file in the section, from 0 on.
    pub file: Option<u32>,
}

impl WaitedFd {
    /// The value of the field; `None` for descriptors and numbers that have none.
    pub fn to_addr(self) -> Option<u64> {
        let low = self.fd.checked_add(1)?;
        let high = match self.file {
            Some(file) => file.checked_add(1)?,
            None => 0,
        };
        Some(u64::from(high) << 32 | u64::from(low))
    }

    /// What a value of the field says; `None` if it says nothing.
    #[expect(clippy::cast_possible_truncation, reason = "a half is wanted")]
    pub fn from_addr(addr: u64) -> Option<Self> {
        Some(Self {
            fd: (addr as u32).checked_sub(1)?,
            file: ((addr >> 32) as u32).checked_sub(1),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::SectionItem;
    use crate::testing::{ORDERS, bytes};

    #[test]
    fn files_round_trip_and_short_ones_are_errors() {
        let file = |name: &[u8]| WaitedFile {
            name: name.to_vec(),
        };
        let files = vec![file(b"pipe:[123]"), file(b"/tmp/\x1b[2J\xff")];
        for endian in ORDERS {
            let section = bytes(endian, |encoder| WaitedFile::encode_all(&files, encoder));
            assert_eq!(WaitedFile::parse_all(&section, endian).as_ref(), Ok(&files));
            for len in 0..section.len() {
                assert!(WaitedFile::parse_all(&section[..len], endian).is_err());
            }
        }
    }

    #[test]
    fn a_descriptor_and_its_file_are_one_number() {
        let of = |fd, file| WaitedFd { fd, file };
        for (waited, addr) in [
            (of(0, None), 1),
            (of(3, Some(0)), 1 << 32 | 4),
            (of(u32::MAX - 1, Some(u32::MAX - 1)), u64::MAX),
        ] {
            assert_eq!(waited.to_addr(), Some(addr));
            assert_eq!(WaitedFd::from_addr(addr), Some(waited));
        }
        assert_eq!(of(u32::MAX, None).to_addr(), None);
        assert_eq!(of(0, Some(u32::MAX)).to_addr(), None);
        // The kernel's own.
        assert_eq!(WaitedFd::from_addr(0), None);
        assert_eq!(WaitedFd::from_addr(7 << 32), None);
    }
}
