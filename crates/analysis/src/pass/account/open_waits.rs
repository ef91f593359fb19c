//! What a part of a recording has to know of the one before it: the waits that go on.

use super::ledger::Ledger;
use super::sources::Sources;
use super::steps::Steps;
use super::{followed_by, name_at};
use crate::Error;
use crate::index::SampleOrder;
use crate::recording::Recording;
use rprof_abi::{Encoder, RecordHeader};
use rprof_locate::Locator;
use rprof_perfdata::{Reader, Step};
use rprof_profile::Account;

/// Bytes of records, at most. Other waits are not known to the part after.
const MOST_BYTES: usize = 16 << 20;

/// The records of a recording with which waits began that go on as it ends, as they are in the file: in front of the
/// records that come next, they say how threads wait then.
///
/// # Errors
/// [`Error`] if the recording cannot be read.
pub fn open_waits(reader: &Reader) -> Result<Vec<u8>, Error> {
    let locator = Locator::default();
    let recording = Recording::open(reader, &locator, SampleOrder::Any)?;
    let recording = &recording;
    let mut steps = Steps::find(recording, Sources::of(reader, Account::OffCpu), false)?;
    let name_at = |tid, time_ns| name_at(recording, tid, time_ns);
    let followed = followed_by(recording, &mut steps);
    let mut ledger = Ledger::new(Sources::of(reader, Account::OffCpu), followed, &name_at);
    ledger.set_times(steps.begin_ns(), steps.lost());
    ledger.set_pauses(steps.pauses());
    steps.for_each(|step, facts| ledger.take(step, facts));
    let offsets = ledger.open_waits(steps.end_ns());
    let mut wanted = offsets.iter().copied().peekable();
    let mut records = Vec::new();
    reader.walk(reader.data(), |offset, raw| {
        while wanted.next_if(|wanted| *wanted < offset).is_some() {}
        let Some(next) = wanted.peek() else {
            return Step::Stop;
        };
        let len = raw.body.len() + RecordHeader::LEN;
        if *next == offset && records.len() + len <= MOST_BYTES {
            let header = RecordHeader {
                kind: raw.kind,
                misc: raw.misc,
                size: u16::try_from(len).unwrap_or(u16::MAX),
            };
            header.encode(&mut Encoder::new(&mut records, reader.endian()));
            records.extend_from_slice(raw.body);
        }
        Step::On
    })?;
    Ok(records)
}
