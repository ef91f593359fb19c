//! Jitdumps of this process, made by hand: what is in memory is said by the test.

use super::*;
use rprof_untrusted::Limits;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use tempfile::NamedTempFile;

const CODE: [u8; 11] = [0x48, 0x83, 0xec, 8, 0xff, 0xd1, 0x48, 0x83, 0xc4, 8, 0xc3];
const FRAMES: &[u8] = b"\x14\0\0\0\0\0\0\0\x01zR\0\x01\x78\x10\x01\x1b\x0c\x07\x08\x90\x01\0\0\
    \x14\0\0\0\x1c\0\0\0\xd0\xff\xff\xff\x0b\0\0\0\0\x44\x0e\x10\x46\x0e\x08\0";

/// Later than any jitdump was read.
const LATER: u64 = u64::MAX;

/// A jitdump and what is written to it.
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

    fn jitdump(&self, budget: &Budget) -> LiveJitDump {
        let file = JitDumpFile {
            pid: std::process::id().cast_signed(),
            path: self.0.path().to_str().unwrap().to_owned(),
            inode: self.0.as_file().metadata().unwrap().ino(),
        };
        LiveJitDump::new(file, Machine::X86_64, budget)
    }
}

fn own() -> Written {
    Written::of(std::process::id())
}

/// Whether a jitdump says something of an address, where memory holds the code.
fn says(jitdump: &LiveJitDump, avma: u64, time_ns: u64) -> bool {
    let read = |_, into: &mut [u8]| {
        into.copy_from_slice(&CODE);
        true
    };
    jitdump.table(avma, (time_ns, 1), read).is_some()
}

#[test]
fn code_is_known_from_when_it_was_made_until_there_is_other_code() {
    let mut written = own();
    written.frames().load(50, 0x7000).frames().load(60, 0x8000);
    let mut jitdump = written.jitdump(&Budget::default());
    assert!(!says(&jitdump, 0x7005, 70));
    jitdump.read_until(1);
    assert_eq!(jitdump.newest_ns(), 60);
    for (avma, time_ns, is_known) in [
        (0x7000, 50, true),
        (0x700a, 70, true),
        (0x7000, 49, false),
        (0x700b, 70, false),
        (0x6fff, 70, false),
        (0x8000, 55, false),
        (0x8000, 60, true),
    ] {
        assert_eq!(
            says(&jitdump, avma, time_ns),
            is_known,
            "{avma:x} {time_ns}"
        );
    }
    // Over the end of the first; the second is moved over.
    let version = jitdump.version();
    written.load(80, 0x700a);
    written.u32(&[1, 64]).u64(&[90]).u32(&[1, 1]);
    written.u64(&[0x7ffa, 0x9000, 0x7ffa, 7, 5]);
    jitdump.read_until(LATER);
    assert!(jitdump.version() > version);
    assert!(
        ![0x7000, 0x700a, 0x8000]
            .iter()
            .any(|&avma| says(&jitdump, avma, 100))
    );
    assert_eq!((jitdump.newest_ns(), jitdump.held.bytes()), (90, 0));
}

#[test]
fn code_counts_while_it_is_what_is_in_memory() {
    let mut written = own();
    written.frames().load(50, 0x7000);
    let mut jitdump = written.jitdump(&Budget::default());
    jitdump.read_until(1);
    let is_known = |round, code: Option<[u8; 11]>| {
        let read = |start, into: &mut [u8]| {
            assert_eq!((start, into.len()), (0x7000, 11));
            into.copy_from_slice(&code.unwrap_or_default());
            code.is_some()
        };
        jitdump.table(0x7006, (100, round), read).is_some()
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
fn a_jitdump_that_cannot_be_followed_says_nothing_any_more() {
    let other = std::process::id() + 1;
    let mut of_another = Written::of(other);
    of_another.frames().load(50, 0x7000);
    let mut jitdump = of_another.jitdump(&Budget::default());
    jitdump.read_until(1);
    assert!(jitdump.is_void && !says(&jitdump, 0x7000, 100));

    let mut other = own();
    other.frames().load(50, 0x7000);
    let mut jitdump = other.jitdump(&Budget::default());
    jitdump.file.inode += 1;
    jitdump.read_until(1);
    assert!(jitdump.is_void);

    let mut given = own();
    given.frames().load(50, 0x7000);
    // Only root may give files away.
    if std::os::unix::fs::chown(given.0.path(), Some(65_534), None).is_ok() {
        let mut jitdump = given.jitdump(&Budget::default());
        jitdump.read_until(1);
        assert!(jitdump.is_void);
    }

    let mut cut = own();
    cut.frames().load(50, 0x7000);
    let mut jitdump = cut.jitdump(&Budget::default());
    jitdump.read_until(1);
    assert!(says(&jitdump, 0x7000, 100));
    let version = jitdump.version();
    cut.0.as_file().set_len(60).unwrap();
    jitdump.read_until(LATER);
    assert!(jitdump.is_void && !says(&jitdump, 0x7000, 100) && jitdump.version() > version);

    let mut many = own();
    for n in 0..100 {
        many.frames().load(n, 0x7000 + 16 * n);
    }
    let budget = Budget::new(Limits {
        read: 1 << 20,
        ..Limits::of_memory(50 * FUNCTION_BYTES)
    });
    let mut jitdump = many.jitdump(&budget);
    jitdump.read_until(1);
    assert!(jitdump.is_void && !says(&jitdump, 0x7000, 100));
    assert!(budget.hold(50 * FUNCTION_BYTES).is_ok());
}

#[test]
fn a_long_jitdump_is_read_a_part_at_a_time() {
    let mut many = own();
    for n in 0..5000 {
        many.load(n, 0x7000);
    }
    many.frames().load(5000, 0x7000);
    let mut jitdump = many.jitdump(&Budget::default());
    let mut n_reads = 0;
    while jitdump.newest_ns() < 5000 {
        jitdump.read_until(jitdump.read_ns() + 1);
        n_reads += 1;
    }
    assert!(n_reads > 1 && says(&jitdump, 0x7000, 6000));
}

#[test]
fn what_is_not_written_yet_is_read_when_it_is() {
    let whole = {
        let mut written = own();
        written.frames().load(50, 0x7000);
        std::fs::read(written.0.path()).unwrap()
    };
    let mut written = Written(NamedTempFile::new().unwrap());
    let mut jitdump = written.jitdump(&Budget::default());
    for part in whole.chunks(30) {
        assert!(!says(&jitdump, 0x7000, 100) && !jitdump.is_void);
        written.bytes(part);
        jitdump.read_until(jitdump.read_ns() + 1);
    }
    assert!(says(&jitdump, 0x7000, 100));
}
