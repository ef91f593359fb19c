//! Where threads guess that records begin.

use super::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ThreadId};

/// Counts the records that the thread looks at that puts blocks together: those of blocks that were not begun where their
/// first record is.
struct Joined {
    joining: ThreadId,
    n_records: AtomicUsize,
}

impl BlockWalk for Joined {
    type Block = u64;

    fn block(&self) -> u64 {
        0
    }

    fn take(&self, block: &mut u64, _offset: u64, _raw: RawRecord<'_>) {
        *block += 1;
        if thread::current().id() == self.joining {
            self.n_records.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[test]
fn threads_begin_blocks_where_their_first_record_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("perf.data");
    let event = WrittenEvent {
        name: "cycles".to_owned(),
        attr: PerfEventAttr::default(),
        ids: vec![],
    };
    let mut writer =
        Writer::start(File::create(&path).unwrap(), &path, &[event], Vec::new()).unwrap();
    let n_records = 20_000;
    for n in 0..n_records {
        // Addresses of users and of the kernel, markers, counts, ids, times, nothing.
        let words: [u64; 7] = [
            0x7f12_3456_7890 + n,
            0xffff_ffff_8123_4567,
            0xffff_ffff_ffff_ff80,
            12,
            n << 32 | 9,
            827_967_571_825 + n,
            0,
        ];
        let words = words
            .iter()
            .cycle()
            .take(10 + usize::try_from(n % 23).unwrap());
        let body: Vec<u8> = words.flat_map(|word| word.to_ne_bytes()).collect();
        let mut sample = record(9, u16::try_from(8 + body.len()).unwrap(), 0);
        sample.truncate(8);
        sample.extend(body);
        writer.write(&sample).unwrap();
    }
    writer.finish(vec![]).unwrap();
    let reader = Reader::open(&path).unwrap();
    for (block_len, n_threads) in [(1 << 16, 2), (100_000, 3), (1 << 20, 4)] {
        let joined = Joined {
            joining: thread::current().id(),
            n_records: AtomicUsize::new(0),
        };
        let mut n_walked = 0;
        let warnings = reader.walk_blocks(&joined, block_len, n_threads, |walked| {
            n_walked += walked.block;
        });
        assert_eq!(warnings.unwrap(), []);
        let n_joined = joined.n_records.into_inner();
        assert_eq!((n_walked, n_joined), (n_records, 0), "{block_len}");
    }
}
