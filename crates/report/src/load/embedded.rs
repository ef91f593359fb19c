//! Symbols that a recording brings along: simpleperf writes those that samples hit.

use super::resolve::PlaceKey;
use rprof_images::Svma;
use rprof_perfdata::feature::SimpleperfFile;
use rprof_perfdata::{Feature, FeatureId, Reader};
use rprof_symbols::{Answers, Demangling, Listed, symbolize_listed};
use rustc_hash::FxHashMap;

/// The files of a recording that have symbols in it, by path.
#[derive(Debug, Default)]
pub(crate) struct Embedded(FxHashMap<Vec<u8>, SimpleperfFile>);

impl Embedded {
    /// What the recording has; a damaged section counts as none.
    pub(crate) fn of(reader: &Reader) -> Self {
        let mut all = FxHashMap::default();
        for id in [FeatureId::SIMPLEPERF_FILE, FeatureId::SIMPLEPERF_FILE2] {
            let section = reader.feature(id).ok().flatten();
            let feature = section.map(|bytes| Feature::parse(id, &bytes, reader.endian()));
            if let Some(Ok(Feature::SimpleperfFiles(files))) = feature {
                let named = files.into_iter().filter(|file| !file.symbols.is_empty());
                all.extend(named.map(|file| (file.path.clone(), file)));
            }
        }
        Self(all)
    }

    /// Names places of a file, if the recording has symbols of it.
    pub(crate) fn answer(
        &self,
        path: &[u8],
        places: &[PlaceKey],
        demangling: Demangling,
    ) -> Option<Answers> {
        let file = self.0.get(path)?;
        let symbols = file.symbols.iter().map(|symbol| Listed {
            start: Svma(symbol.vaddr),
            len: symbol.len.into(),
            name: &symbol.name,
        });
        let addresses = places.iter().map(|place| Svma(svma(file, place.address)));
        Some(symbolize_listed(symbols, addresses, demangling))
    }
}

/// Where an offset in the file is in its address space. The kernel's places are addresses already.
fn svma(file: &SimpleperfFile, offset: u64) -> u64 {
    let is_offset = matches!(
        file.kind,
        SimpleperfFile::ELF | SimpleperfFile::KERNEL_MODULE
    );
    if !is_offset || file.file_offset_of_min_vaddr == SimpleperfFile::UNKNOWN_OFFSET {
        return offset;
    }
    offset
        .wrapping_sub(file.file_offset_of_min_vaddr)
        .wrapping_add(file.min_vaddr)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_count_from_the_first_code() {
        let file = SimpleperfFile {
            kind: SimpleperfFile::ELF,
            min_vaddr: 0x1730,
            file_offset_of_min_vaddr: 0x730,
            ..SimpleperfFile::default()
        };
        assert_eq!(svma(&file, 0x948), 0x1948);
        let kernel = SimpleperfFile {
            kind: SimpleperfFile::KERNEL,
            ..file
        };
        assert_eq!(svma(&kernel, 0x948), 0x948);
    }
}
