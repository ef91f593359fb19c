//! Where threads guess that records begin.

use super::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How often records were looked at.
#[derive(Default)]
struct Visits(AtomicUsize);

impl BlockWalk for Visits {
    type Block = usize;

    fn block(&self) -> usize {
        0
    }

    fn take(&self, block: &mut usize, _offset: u64, _raw: RawRecord<'_>) {
        *block += 1;
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn no_record_of_usual_samples_is_read_twice() {
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
        let (visits, mut n_walked) = (Visits::default(), 0);
        let warnings = reader.walk_blocks(&visits, block_len, n_threads, |walked| {
            n_walked += walked.block as u64;
        });
        assert_eq!(warnings.unwrap(), []);
        let n_visits = visits.0.into_inner() as u64;
        assert_eq!((n_walked, n_visits), (n_records, n_records), "{block_len}");
    }
}
