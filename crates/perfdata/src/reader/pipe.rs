//! Pipe mode (`perf record -o -`): a header of 16 bytes, then records; events and features are
//! records, too.

use super::attrs::Described;
use super::records::{tracing_data, walk_part};
use super::stream::Part;
use super::{PIPE_HEADER_LEN, Reader, Step};
use crate::feature::BuildIdEntry;
use crate::file_record::{FileRecord, HeaderFeature, Update};
use crate::{Error, FeatureId, FileHeader, Section, file_kind};
use rprof_abi::{RawRecord, RecordHeader, WireError};
use std::sync::Arc;

/// What the records of a pipe-mode recording say of it as a whole.
#[derive(Default)]
pub(super) struct Announced {
    pub(super) events: Vec<Described>,
    pub(super) features: Vec<(FeatureId, Section)>,
    /// Names from EVENT_UPDATE, by event id.
    pub(super) names: Vec<(u64, Vec<u8>)>,
    pub(super) build_ids: Vec<BuildIdEntry>,
    pub(super) is_compressed: bool,
    /// Records that could not be decoded.
    pub(super) n_bad: u64,
}

impl Reader {
    /// The records after the header of a pipe-mode recording.
    pub(super) fn piped_part(&self) -> Part {
        let start = PIPE_HEADER_LEN.min(self.main.len());
        Part {
            range: start..self.main.len(),
            bytes: Arc::clone(&self.main),
            at: start,
            name: None,
            has_payloads: true,
            origins: Vec::new(),
            is_cut: false,
        }
    }

    /// Looks through all records for what a file-mode header would say.
    pub(super) fn read_announced(&self, part: &Part) -> Result<Announced, Error> {
        let mut found = Announced::default();
        let walked = walk_part(part, self.endian, part.range.clone(), |offset, raw| {
            if self.take_announced(offset, raw, &mut found).is_err() {
                found.n_bad += 1;
            }
            Step::On
        });
        // What is wrong with the records is said when they are read.
        walked.map_err(Error::io(&self.path))?;
        Ok(found)
    }

    fn take_announced(
        &self,
        offset: u64,
        raw: RawRecord<'_>,
        found: &mut Announced,
    ) -> Result<(), WireError> {
        // Most are the kernel's.
        if raw.kind < file_kind::HEADER_ATTR {
            return Ok(());
        }
        let body_at = offset + RecordHeader::LEN as u64;
        match FileRecord::parse(raw, self.endian)? {
            FileRecord::HeaderAttr(event) => {
                found.events.push(self.described(event.attr, event.ids));
            }
            FileRecord::EventUpdate(update) => {
                if let Update::Name(name) = update.update {
                    found.names.push((update.id, name.to_vec()));
                }
            }
            // An empty one ends the list.
            FileRecord::HeaderFeature(HeaderFeature { id, section }) if !section.is_empty() => {
                if id.0 >= FileHeader::MAX_FEATURES {
                    let (what, value) = ("feature", id.0.into());
                    return Err(WireError::BadValue { what, value });
                }
                let section = Section {
                    offset: body_at + 8,
                    size: section.len() as u64,
                };
                found.features.push((id, section));
            }
            FileRecord::HeaderTracingData(_) | FileRecord::SimpleperfTracingData(_) => {
                let section = tracing_data(offset, raw, self.endian);
                let section = section.map(|section| (FeatureId::TRACING_DATA, section));
                found.features.extend(section);
            }
            FileRecord::HeaderBuildId(entry) => found.build_ids.push(entry),
            FileRecord::Compressed(_) | FileRecord::Compressed2(_) => found.is_compressed = true,
            _ => {}
        }
        Ok(())
    }
}
