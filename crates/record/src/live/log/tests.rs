//! Logs of this process, made by hand: what is in memory is said by the test.

use super::*;
use rprof_untrusted::Limits;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use tempfile::NamedTempFile;

const CODE: [u8; 11] = [0x48, 0x83, 0xec, 8, 0xff, 0xd1, 0x48, 0x83, 0xc4, 8, 0xc3];
const FRAMES: &[u8] = b"\x14\0\0\0\0\0\0\0\x01zR\0\x01\x78\x10\x01\x1b\x0c\x07\x08\x90\x01\0\0\
    \x14\0\0\0\x1c\0\0\0\xd0\xff\xff\xff\x0b\0\0\0\0\x44\x0e\x10\x46\x0e\x08\0";

/// Later than any look at a log.
const LATER: u64 = u64::MAX;

/// A log and what is written to it.
struct Written(NamedTempFile);

impl Written {
    fn of(pid: u32) -> Self {
        let mut written = Self(NamedTempFile::new().unwrap());
        written.u32(&[0x4a69_5444, 1, 40, 0, 0, pid]).u64(&[0, 0]);
        written
    }

    fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.write_all(bytes).unwrap();
        self
    }

    fn u32(&mut self, all: &[u32]) -> &mut Self {
        let bytes: Vec<u8> = all.iter().flat_map(|n| n.to_le_bytes()).collect();
        self.bytes(&bytes)
    }

    fn u64(&mut self, all: &[u64]) -> &mut Self {
        let bytes: Vec<u8> = all.iter().flat_map(|n| n.to_le_bytes()).collect();
        self.bytes(&bytes)
    }

    fn frames(&mut self) -> &mut Self {
        let len = u32::try_from(FRAMES.len()).unwrap();
        self.u32(&[4, 40 + len]).u64(&[0, len.into(), 0, 0]);
        self.bytes(FRAMES)
    }

    fn load(&mut self, time_ns: u64, start: u64) -> &mut Self {
        self.u32(&[0, 56 + 2 + 11]).u64(&[time_ns]).u32(&[1, 1]);
        self.u64(&[start, start, 11, 1]).bytes(b"f\0").bytes(&CODE)
    }

    fn log(&self, budget: &Budget) -> Log {
        let place = Place {
            pid: std::process::id().cast_signed(),
            path: self.0.path().to_str().unwrap().to_owned(),
            inode: self.0.as_file().metadata().unwrap().ino(),
        };
        Log::new(place, Machine::X86_64, budget)
    }
}

fn own() -> Written {
    Written::of(std::process::id())
}

/// Whether a log says something of an address, where memory holds the code.
fn says(log: &Log, avma: u64, time_ns: u64) -> bool {
    let read = |_, into: &mut [u8]| {
        into.copy_from_slice(&CODE);
        true
    };
    log.table(avma, (time_ns, 1), read).is_some()
}

#[test]
fn code_is_known_from_when_it_was_made_until_there_is_other_code() {
    let mut written = own();
    written.frames().load(50, 0x7000).frames().load(60, 0x8000);
    let mut log = written.log(&Budget::default());
    assert!(!says(&log, 0x7005, 70));
    log.look(1);
    assert_eq!(log.newest_ns(), 60);
    for (avma, time_ns, is_known) in [
        (0x7000, 50, true),
        (0x700a, 70, true),
        (0x7000, 49, false),
        (0x700b, 70, false),
        (0x6fff, 70, false),
        (0x8000, 55, false),
        (0x8000, 60, true),
    ] {
        assert_eq!(says(&log, avma, time_ns), is_known, "{avma:x} {time_ns}");
    }
    // Over the end of the first; the second is moved over.
    let version = log.version();
    written.load(80, 0x700a);
    written.u32(&[1, 64]).u64(&[90]).u32(&[1, 1]);
    written.u64(&[0x7ffa, 0x9000, 0x7ffa, 7, 5]);
    log.look(LATER);
    assert!(log.version() > version);
    assert!(
        ![0x7000, 0x700a, 0x8000]
            .iter()
            .any(|&avma| says(&log, avma, 100))
    );
    assert_eq!((log.newest_ns(), log.held.bytes()), (90, 0));
}

#[test]
fn code_counts_while_it_is_what_is_in_memory() {
    let mut written = own();
    written.frames().load(50, 0x7000);
    let mut log = written.log(&Budget::default());
    log.look(1);
    let is_known = |round, code: Option<[u8; 11]>| {
        let read = |start, into: &mut [u8]| {
            assert_eq!((start, into.len()), (0x7000, 11));
            into.copy_from_slice(&code.unwrap_or_default());
            code.is_some()
        };
        log.table(0x7006, (100, round), read).is_some()
    };
    assert!(is_known(1, Some(CODE)));
    assert!(is_known(1, None), "it is not looked at twice in a round");
    assert!(!is_known(2, None));
    let mut other = CODE;
    other[3] = 16;
    assert!(!is_known(3, Some(other)));
    assert!(is_known(4, Some(CODE)));
}

#[test]
fn a_log_that_cannot_be_followed_says_nothing_any_more() {
    let other = std::process::id() + 1;
    let mut of_another = Written::of(other);
    of_another.frames().load(50, 0x7000);
    let mut log = of_another.log(&Budget::default());
    log.look(1);
    assert!(log.is_void && !says(&log, 0x7000, 100));

    let mut other = own();
    other.frames().load(50, 0x7000);
    let mut log = other.log(&Budget::default());
    log.place.inode += 1;
    log.look(1);
    assert!(log.is_void);

    let mut given = own();
    given.frames().load(50, 0x7000);
    // Only root may give files away.
    if std::os::unix::fs::chown(given.0.path(), Some(65_534), None).is_ok() {
        let mut log = given.log(&Budget::default());
        log.look(1);
        assert!(log.is_void);
    }

    let mut cut = own();
    cut.frames().load(50, 0x7000);
    let mut log = cut.log(&Budget::default());
    log.look(1);
    assert!(says(&log, 0x7000, 100));
    let version = log.version();
    cut.0.as_file().set_len(60).unwrap();
    log.look(LATER);
    assert!(log.is_void && !says(&log, 0x7000, 100) && log.version() > version);

    let mut many = own();
    for n in 0..100 {
        many.frames().load(n, 0x7000 + 16 * n);
    }
    let budget = Budget::new(Limits {
        read: 1 << 20,
        ..Limits::of_memory(50 * PIECE_BYTES)
    });
    let mut log = many.log(&budget);
    log.look(1);
    assert!(log.is_void && !says(&log, 0x7000, 100));
    assert!(budget.hold(50 * PIECE_BYTES).is_ok());
}

#[test]
fn a_long_log_is_read_a_part_at_a_time() {
    let mut many = own();
    for n in 0..5000 {
        many.load(n, 0x7000);
    }
    many.frames().load(5000, 0x7000);
    let mut log = many.log(&Budget::default());
    let mut n_looks = 0;
    while log.newest_ns() < 5000 {
        log.look(log.looked_ns() + 1);
        n_looks += 1;
    }
    assert!(n_looks > 1 && says(&log, 0x7000, 6000));
}

#[test]
fn what_is_not_written_yet_is_read_when_it_is() {
    let whole = {
        let mut written = own();
        written.frames().load(50, 0x7000);
        std::fs::read(written.0.path()).unwrap()
    };
    let mut written = Written(NamedTempFile::new().unwrap());
    let mut log = written.log(&Budget::default());
    for part in whole.chunks(30) {
        assert!(!says(&log, 0x7000, 100) && !log.is_void);
        written.bytes(part);
        log.look(log.looked_ns() + 1);
    }
    assert!(says(&log, 0x7000, 100));
}
