//! Where a probe is, as the kernel wants it: a file and an offset in it.

use crate::error::ProbeError;
use rprof_base::Svma;
use rprof_images::Elf;
use std::path::PathBuf;

/// A place in a file.
pub(super) struct ProbeLocation {
    pub(super) path: PathBuf,
    /// What is there, if a pattern was given.
    pub(super) name: Option<String>,
    pub(super) offset: u64,
    pub(super) semaphore: Option<u64>,
    /// Where in the file's image.
    pub(super) address: Svma,
    /// What to record, in the kernel's words, if that is another thing at each place.
    pub(super) arguments: Option<Vec<String>>,
}

impl ProbeLocation {
    pub(super) fn at(
        elf: &Elf,
        name: Option<String>,
        address: Svma,
        semaphore: Option<Svma>,
    ) -> Result<Self, ProbeError> {
        let offset = |address: Svma| {
            let offset = elf.file_offset(address).map(|offset| offset.0);
            offset.ok_or_else(|| ProbeError::NoAddress {
                address: address.0,
                path: elf.path().to_owned(),
            })
        };
        Ok(Self {
            path: elf.path().to_owned(),
            name,
            offset: offset(address)?,
            semaphore: semaphore.map(offset).transpose()?,
            address,
            arguments: None,
        })
    }
}
