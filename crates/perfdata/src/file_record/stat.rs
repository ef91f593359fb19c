//! `STAT` records: counts of `perf stat record`.

use super::body::{BodyItem, Described, encode_items};
use crate::file_kind;
use rprof_abi::{Encoder, Endian, RawRecord, RecordKind, Wire, WireError, wire};

wire! {
    /// One item of `PERF_RECORD_STAT_CONFIG`.
    #[derive(Copy)]
    pub struct StatConfigTerm in "stat configuration" {
        /// 0 how counts are added up (`enum aggr_mode`), 1 interval in milliseconds, 2 whether counts
        /// are scaled, 3 level of aggregation.
        pub tag: u64,
        /// Its value.
        pub value: u64,
    }

    /// `PERF_RECORD_STAT`.
    #[derive(Copy)]
    pub struct Stat in "stat" {
        /// Id of the event.
        pub id: u64,
        /// CPU, or -1.
        pub cpu: i32,
        /// Which thread, counted from 0 in the thread map.
        pub thread: u32,
        /// The count.
        pub value: u64,
        /// Time enabled, nanoseconds.
        pub enabled_ns: u64,
        /// Time on the PMU, nanoseconds.
        pub running_ns: u64,
    }

    /// `PERF_RECORD_STAT_ROUND`.
    #[derive(Copy)]
    pub struct StatRound in "stat round" {
        /// 0 an interval, 1 the end.
        pub kind: u64 as Number named "type",
        /// Since the start, nanoseconds.
        pub time_ns: u64,
    }
}

impl BodyItem<'_> for StatConfigTerm {
    const LIST: &'static str = "terms";
    const COUNT: &'static str = "stat configuration";
}

impl Described<'_> for Stat {}
impl Described<'_> for StatRound {}

impl StatConfigTerm {
    /// Appends the record of these terms, in this machine's byte order.
    ///
    /// # Errors
    /// [`WireError`] if there are too many.
    pub fn encode_all(terms: &[Self], out: &mut Vec<u8>) -> Result<(), WireError> {
        append(file_kind::STAT_CONFIG, out, |body| {
            encode_items(terms, body)
        })
    }
}

impl Stat {
    /// Appends the record, in this machine's byte order.
    ///
    /// # Errors
    /// None: it is short.
    pub fn append_record(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        append(file_kind::STAT, out, |body| self.encode(body))
    }
}

impl StatRound {
    /// Appends the record, in this machine's byte order.
    ///
    /// # Errors
    /// None: it is short.
    pub fn append_record(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        append(file_kind::STAT_ROUND, out, |body| self.encode(body))
    }
}

/// Appends a record of one of the file's own kinds, in this machine's byte order.
pub(super) fn append(
    kind: RecordKind,
    out: &mut Vec<u8>,
    encode: impl FnOnce(&mut Encoder<'_>),
) -> Result<(), WireError> {
    let mut body = Vec::new();
    encode(&mut Encoder::new(&mut body, Endian::NATIVE));
    body.resize(body.len().next_multiple_of(8), 0);
    let record = RawRecord {
        kind,
        misc: rprof_abi::Misc::default(),
        body: &body,
    };
    record.encode(out, Endian::NATIVE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file_record::{CpuMap, EventUpdate, FileRecord, ThreadMapEntry, Update};

    /// What was appended, read again.
    fn again(out: &[u8]) -> FileRecord<'_> {
        assert!(out.len().is_multiple_of(8));
        let raw = RawRecord::parse(out, Endian::NATIVE).unwrap();
        FileRecord::parse(raw, Endian::NATIVE).unwrap()
    }

    #[test]
    fn what_is_appended_is_read_again() {
        let mut out = Vec::new();
        let stat = Stat {
            id: 1,
            cpu: -1,
            thread: 3,
            value: 4,
            enabled_ns: 5,
            running_ns: 6,
        };
        stat.append_record(&mut out).unwrap();
        assert_eq!(again(&out), FileRecord::Stat(stat));
        out.clear();
        let round = StatRound {
            kind: 1,
            time_ns: 2,
        };
        round.append_record(&mut out).unwrap();
        assert_eq!(again(&out), FileRecord::StatRound(round));
        out.clear();
        let terms = vec![StatConfigTerm { tag: 1, value: 9 }];
        StatConfigTerm::encode_all(&terms, &mut out).unwrap();
        assert_eq!(again(&out), FileRecord::StatConfig(terms));
        out.clear();
        CpuMap::encode_cpus(&[-1, 0, 7], &mut out).unwrap();
        assert_eq!(
            again(&out),
            FileRecord::CpuMap(CpuMap::Cpus(vec![-1, 0, 7]))
        );
        assert!(CpuMap::encode_cpus(&[1 << 20], &mut out).is_err());
        out.clear();
        let threads = vec![ThreadMapEntry { tid: 7, comm: b"a" }];
        ThreadMapEntry::encode_all(&threads, &mut out).unwrap();
        assert_eq!(again(&out), FileRecord::ThreadMap(threads));
        for update in [
            Update::Unit(b"msec"),
            Update::Scale(1e-6),
            Update::Name(b"a name"),
        ] {
            out.clear();
            let update = EventUpdate { id: 3, update };
            update.encode(&mut out).unwrap();
            assert_eq!(again(&out), FileRecord::EventUpdate(update));
        }
    }
}
