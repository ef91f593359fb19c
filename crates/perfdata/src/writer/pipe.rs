//! What a pipe gets before and after the kernel's records: events and features as records.
//!
//! Source: tools/perf/util/header.c and synthetic-events.c (v6.1), `perf_event__synthesize_*`.

use super::{Features, WrittenEvent, attr_size, event_desc};
use crate::reader::PIPE_HEADER_LEN;
use crate::{FeatureId, FileHeader, file_kind};
use rprof_abi::{AttrSize, Encoder, Endian, Misc, RawRecord, RecordHeader, RecordKind, WireError};

/// `PERF_EVENT_UPDATE__NAME`.
const UPDATE_NAME: u64 = 2;

/// Header, events with names, and the features that are known.
pub(super) fn preamble(
    events: &[WrittenEvent],
    mut features: Features,
) -> Result<Vec<u8>, WireError> {
    let mut out = Vec::new();
    let mut encoder = Encoder::new(&mut out, Endian::NATIVE);
    encoder.bytes(&FileHeader::MAGIC);
    encoder.u64(PIPE_HEADER_LEN);
    let attr_size = attr_size(events);
    for event in events {
        push_event(event, attr_size, &mut out)?;
    }
    features.push(event_desc(events, Endian::NATIVE));
    out.extend(records_of(features));
    Ok(out)
}

fn push_event(
    event: &WrittenEvent,
    attr_size: AttrSize,
    out: &mut Vec<u8>,
) -> Result<(), WireError> {
    let mut body = Vec::new();
    event.attr.encode(&mut body, Endian::NATIVE, attr_size);
    let mut encoder = Encoder::new(&mut body, Endian::NATIVE);
    event.ids.iter().for_each(|&id| encoder.u64(id));
    push(file_kind::HEADER_ATTR, &body, out)?;
    let mut body = Vec::new();
    let mut encoder = Encoder::new(&mut body, Endian::NATIVE);
    encoder.u64(UPDATE_NAME);
    encoder.u64(event.ids.first().copied().unwrap_or(0));
    encoder.bytes(event.name.as_bytes());
    encoder.u8(0);
    body.resize(body.len().next_multiple_of(8), 0);
    push(file_kind::EVENT_UPDATE, &body, out)
}

fn push(kind: RecordKind, body: &[u8], out: &mut Vec<u8>) -> Result<(), WireError> {
    let misc = Misc(0);
    RawRecord { kind, misc, body }.encode(out, Endian::NATIVE)
}

/// Features as records. rprof's own are left out, since perf stops at features that it does not know;
/// and what is larger than a record can be: of those that a recorder knows, lists of CPUs or event
/// ids on very large machines, which are elsewhere, too.
pub(super) fn records_of(features: Features) -> Vec<u8> {
    let mut out = Vec::new();
    for (id, section) in features {
        match id {
            FeatureId::TRACING_DATA => push_tracing_data(&section, &mut out),
            // Its entries are records already.
            FeatureId::BUILD_ID => out.extend_from_slice(&section),
            id if id.0 >= FeatureId::SIMPLEPERF_FILE.0 => {}
            id => {
                let mut body = u64::from(id.0).to_ne_bytes().to_vec();
                // Without padding: perf takes what is after CPU_TOPOLOGY for more of it.
                body.extend_from_slice(&section);
                // What is too long is left out.
                let _ = push(file_kind::HEADER_FEATURE, &body, &mut out);
            }
        }
    }
    out
}

/// A record that says how long what follows it is.
fn push_tracing_data(section: &[u8], out: &mut Vec<u8>) {
    let padded = section.len().next_multiple_of(8);
    let mut encoder = Encoder::new(out, Endian::NATIVE);
    RecordHeader {
        kind: file_kind::HEADER_TRACING_DATA,
        misc: Misc(0),
        size: 12,
    }
    .encode(&mut encoder);
    encoder.u32(u32::try_from(padded).unwrap_or(u32::MAX));
    encoder.bytes(section);
    encoder.bytes(&vec![0; padded - section.len()]);
}
