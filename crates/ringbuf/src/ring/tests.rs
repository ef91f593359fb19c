//! The test plays the kernel: it writes records and moves the head in plain memory.

use super::*;

const AREA: usize = 64;
const PAGE: usize = 2048;

/// A kernel with a ring of 64 bytes whose positions start at `start`.
struct Kernel {
    ring: Ring,
    head: u64,
}

impl Kernel {
    fn new(start: u64) -> Self {
        let region = Region::for_test(PAGE + AREA);
        region.store_release(DATA_OFFSET, PAGE as u64);
        region.store_release(DATA_SIZE, AREA as u64);
        region.store_release(DATA_HEAD, start);
        region.store_release(DATA_TAIL, start);
        Self {
            ring: Ring::over(region).unwrap(),
            head: start,
        }
    }

    fn put(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let at = usize::try_from(self.head % AREA as u64).unwrap();
            self.ring.region.write(PAGE + at, &[*byte]);
            self.head += 1;
        }
    }

    fn publish(&mut self) {
        self.ring.region.store_release(DATA_HEAD, self.head);
    }

    fn tail(&self) -> u64 {
        self.ring.region.load_acquire(DATA_TAIL)
    }
}

fn record(size: u16, fill: u8) -> Vec<u8> {
    let mut bytes = vec![9, 0, 0, 0, 0, 0];
    bytes.extend(size.to_ne_bytes());
    bytes.resize(usize::from(size).max(8), fill);
    bytes
}

#[test]
fn an_empty_ring_has_an_empty_batch() {
    let mut kernel = Kernel::new(0);
    assert_eq!(kernel.ring.batch().next(), Ok(None));
    assert_eq!(kernel.tail(), 0);
}

#[test]
fn records_come_whole_at_every_offset_and_size() {
    for start in (0..AREA as u64).step_by(8) {
        for size in (8..=64u16).step_by(8) {
            let mut kernel = Kernel::new(start);
            kernel.put(&record(size, 0x5a));
            kernel.publish();
            let mut batch = kernel.ring.batch();
            assert_eq!(batch.next().unwrap(), Some(&record(size, 0x5a)[..]));
            assert_eq!(batch.next(), Ok(None));
            drop(batch);
            assert_eq!(kernel.tail(), start + u64::from(size));
        }
    }
}

#[test]
fn a_full_ring_is_read_to_its_end() {
    let mut kernel = Kernel::new(40);
    for fill in 0..4 {
        kernel.put(&record(16, fill));
    }
    kernel.publish();
    let mut batch = kernel.ring.batch();
    for fill in 0..4 {
        assert_eq!(batch.next().unwrap(), Some(&record(16, fill)[..]));
    }
    assert_eq!(batch.next(), Ok(None));
}

#[test]
fn the_tail_is_published_once_and_only_for_what_was_read() {
    let mut kernel = Kernel::new(0);
    kernel.put(&record(16, 1));
    kernel.put(&record(16, 2));
    kernel.publish();
    let mut batch = kernel.ring.batch();
    batch.next().unwrap();
    assert_eq!(batch.ring.region.load_acquire(DATA_TAIL), 0);
    drop(batch);
    assert_eq!(kernel.tail(), 16);
    let head = kernel.ring.head();
    let mut rest = kernel.ring.batch_until(head);
    assert_eq!(rest.next().unwrap(), Some(&record(16, 2)[..]));
}

#[test]
fn records_behind_the_given_head_stay() {
    let mut kernel = Kernel::new(0);
    kernel.put(&record(16, 1));
    kernel.publish();
    let head = kernel.ring.head();
    kernel.put(&record(16, 2));
    kernel.publish();
    let mut batch = kernel.ring.batch_until(head);
    assert!(batch.next().unwrap().is_some());
    assert_eq!(batch.next(), Ok(None));
    drop(batch);
    assert_eq!(kernel.tail(), 16);
}

#[test]
fn record_size_zero_ends_the_batch_with_an_error() {
    let mut kernel = Kernel::new(8);
    kernel.put(&record(0, 0));
    kernel.put(&record(8, 0));
    kernel.publish();
    let mut batch = kernel.ring.batch();
    assert_eq!(
        batch.next(),
        Err(RingError::BadRecordSize {
            size: 0,
            position: 8,
            available: 16
        })
    );
    assert_eq!(batch.next(), Ok(None));
    drop(batch);
    assert_eq!(kernel.tail(), 24);
}

#[test]
fn a_record_larger_than_what_is_there_is_an_error() {
    let mut kernel = Kernel::new(0);
    kernel.put(&record(48, 0)[..16]);
    kernel.publish();
    let error = kernel.ring.batch().next().unwrap_err();
    assert_eq!(
        error,
        RingError::BadRecordSize {
            size: 48,
            position: 0,
            available: 16
        }
    );
    assert_eq!(kernel.tail(), 16);
}

#[test]
fn a_head_beyond_the_ring_is_an_overrun() {
    let mut kernel = Kernel::new(0);
    kernel.head = 72;
    kernel.publish();
    let error = kernel.ring.batch().next().unwrap_err();
    assert_eq!(
        error,
        RingError::Overrun {
            unread: 72,
            size: 64
        }
    );
}

#[test]
fn a_user_page_that_points_outside_is_refused() {
    for (offset, size) in [(0, 1 << 20), (u64::MAX, 64), (PAGE as u64, 48), (2041, 64)] {
        let region = Region::for_test(PAGE + AREA);
        region.store_release(DATA_OFFSET, offset);
        region.store_release(DATA_SIZE, size);
        assert!(matches!(
            Ring::over(region),
            Err(MapError::BadUserPage { .. })
        ));
    }
}

/// The same for a ring that is overwritten.
impl Kernel {
    fn overwriting() -> Self {
        let mut kernel = Self::new(0);
        let fd = std::fs::File::open("/dev/null").unwrap();
        kernel.ring.overwritten_by = Some(fd.into());
        kernel
    }

    fn put_before(&mut self, bytes: &[u8]) {
        self.head = self.head.wrapping_sub(bytes.len() as u64);
        let head = self.head;
        for (idx, byte) in bytes.iter().enumerate() {
            let position = head.wrapping_add(idx as u64);
            let at = usize::try_from(position % AREA as u64).unwrap();
            self.ring.region.write(PAGE + at, &[*byte]);
        }
        self.publish();
    }

    /// The first bytes of the bodies in a snapshot.
    fn snapshot(&mut self) -> Vec<u8> {
        let mut fills = Vec::new();
        let mut batch = self.ring.newest_first();
        while let Some(record) = batch.next().unwrap() {
            fills.push(record[8]);
        }
        fills
    }
}

#[test]
fn an_overwritten_ring_has_its_newest_records_once_each() {
    let mut kernel = Kernel::overwriting();
    assert_eq!(kernel.snapshot(), []);
    kernel.put_before(&record(16, 1));
    kernel.put_before(&record(24, 2));
    assert_eq!(kernel.snapshot(), [2, 1]);
    assert_eq!(kernel.snapshot(), []);
    // Another time around; of the third record only half is left.
    for fill in 3..=5 {
        kernel.put_before(&record(24, fill));
    }
    assert_eq!(kernel.snapshot(), [5, 4]);
    for fill in 6..=9 {
        kernel.put_before(&record(16, fill));
    }
    assert_eq!(kernel.snapshot(), [9, 8, 7, 6]);
    // Without a pause nothing of it is read.
    kernel.put_before(&record(16, 10));
    assert_eq!(kernel.ring.batch().next(), Ok(None));
    assert_eq!(kernel.tail(), 0);
    assert_eq!(kernel.snapshot(), [10]);
}

#[test]
fn damage_in_an_overwritten_ring_is_told_from_its_oldest_record() {
    let mut kernel = Kernel::overwriting();
    kernel.put_before(&[0; 16]);
    kernel.put_before(&record(16, 1));
    let mut batch = kernel.ring.newest_first();
    assert!(batch.next().unwrap().is_some());
    let damage = batch.next();
    assert!(matches!(
        damage,
        Err(RingError::BadRecordSize { size: 0, .. })
    ));
    assert_eq!(batch.next(), Ok(None));
}
