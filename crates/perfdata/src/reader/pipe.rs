//! Pipe mode (`perf record -o -`): a header of 16 bytes, then records; events and features are
//! records, too.

use super::attrs::Described;
use super::stream::Part;
use super::walk::{payload_len, walk_part};
use super::{PIPE_HEADER_LEN, Reader, Step};
use crate::feature::BuildIdEntry;
use crate::{Error, FeatureId, Section, file_kind};
use rprof_abi::{Cursor, PerfEventAttr, RawRecord, RecordHeader, WireError};
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

/// EVENT_UPDATE: the payload is a name (tools/lib/perf/include/perf/event.h, v6.1).
const EVENT_UPDATE_NAME: u64 = 2;

impl Reader {
    /// The records behind the header of a pipe-mode recording.
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
        walked.map_err(|source| self.io_error(source))?;
        Ok(found)
    }

    fn take_announced(
        &self,
        offset: u64,
        raw: RawRecord<'_>,
        found: &mut Announced,
    ) -> Result<(), WireError> {
        let mut cursor = Cursor::new(raw.body, self.endian);
        let body_at = offset + RecordHeader::LEN as u64;
        match raw.kind {
            file_kind::HEADER_ATTR => {
                let (attr, len) = PerfEventAttr::parse(raw.body, self.endian)?;
                cursor.bytes(u64::from(len), "attr")?;
                found.events.push(self.described(attr, cursor.rest()));
            }
            file_kind::EVENT_UPDATE => {
                let (kind, id) = (cursor.u64("event update")?, cursor.u64("event update")?);
                if kind == EVENT_UPDATE_NAME {
                    found.names.push((id, cursor.c_str().to_vec()));
                }
            }
            file_kind::HEADER_FEATURE => {
                let id = cursor.u64("feature id")?;
                let section = Section {
                    offset: body_at + 8,
                    size: cursor.rest().len() as u64,
                };
                // An empty one ends the list; its number is none.
                if let Ok(id) = u32::try_from(id)
                    && section.size > 0
                {
                    found.features.push((FeatureId(id), section));
                }
            }
            file_kind::HEADER_TRACING_DATA => {
                let section = Section {
                    offset: offset + raw.len_bytes() as u64,
                    size: payload_len(raw, self.endian),
                };
                found.features.push((FeatureId::TRACING_DATA, section));
            }
            file_kind::HEADER_BUILD_ID => {
                found.build_ids.push(BuildIdEntry::parse(raw, self.endian)?);
            }
            file_kind::COMPRESSED | file_kind::COMPRESSED2 => found.is_compressed = true,
            _ => {}
        }
        Ok(())
    }
}
