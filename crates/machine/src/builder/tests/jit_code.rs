//! Code that a log has, in memory that is announced again and again.

use super::*;
use crate::JitCode;

const LOG: &[u8] = b"/tmp/jit-7.dump";

/// A process with memory for code from 0x1000 to 0x2000, and a log.
fn script() -> Script {
    let mut script = Script::new();
    script.map(10, 7, 0x1000, b"//anon");
    script.map(11, 7, 0x9000, LOG);
    script
}

fn load(script: &mut Script, time: Option<u64>, start: u64, offset: u64) {
    let log = script.0.jitdumps()[0];
    let code = JitCode {
        start: Avma(start),
        len: 0x100,
        offset: FileOffset(offset),
    };
    script.0.add_code(&log, time, code);
}

/// Where an address points: an image's name, and where in it.
fn at(history: &History, time: u64, address: u64) -> Option<(String, u64)> {
    let key = Key {
        time_ns: time,
        offset: 0,
    };
    match history.resolve(history.epoch(7, key), Avma(address)) {
        AddressLocation::User { image, offset } => {
            let path = &history.images().of(image)?.path;
            Some((String::from_utf8_lossy(path).into_owned(), offset.0))
        }
        _ => None,
    }
}

fn in_log(offset: u64) -> Option<(String, u64)> {
    Some(("/tmp/jit-7.dump".to_owned(), offset))
}

fn in_memory(address: u64) -> Option<(String, u64)> {
    Some(("/tmp/perf-7.map".to_owned(), address))
}

#[test]
fn an_address_is_the_function_that_was_there_then() {
    let mut script = script();
    load(&mut script, Some(100), 0x1200, 0x50);
    load(&mut script, Some(300), 0x1200, 0x250);
    load(&mut script, Some(200), 0x1400, 0x450);
    let history = script.0.build();
    assert_eq!(at(&history, 50, 0x1210), in_memory(0x1210));
    assert_eq!(at(&history, 150, 0x1210), in_log(0x60));
    assert_eq!(at(&history, 350, 0x1210), in_log(0x260));
    assert_eq!(at(&history, 150, 0x1410), in_memory(0x1410));
    assert_eq!(at(&history, 250, 0x1410), in_log(0x460));
    assert_eq!(at(&history, 350, 0x1300), in_memory(0x1300));
}

#[test]
fn memory_that_is_announced_again_keeps_its_code() {
    let mut script = script();
    load(&mut script, Some(100), 0x1200, 0x50);
    script.map(200, 7, 0x1000, b"//anon");
    script.map(300, 7, 0x1280, b"//anon");
    script.map(400, 7, 0x1000, b"/lib/x.so");
    let history = script.0.build();
    for time in [150, 250, 350] {
        assert_eq!(at(&history, time, 0x12ff), in_log(0x14f), "{time}");
        assert_eq!(at(&history, time, 0x1000), in_memory(0x1000), "{time}");
    }
    assert_eq!(at(&history, 250, 0x2200), None);
    assert_eq!(at(&history, 350, 0x2200), in_memory(0x2200));
    assert_eq!(
        at(&history, 450, 0x1210),
        Some(("/lib/x.so".to_owned(), 0x5210))
    );
}

#[test]
fn announcing_the_same_memory_again_makes_no_new_set() {
    let mut script = script();
    load(&mut script, Some(100), 0x1200, 0x50);
    for time in 200..300 {
        script.map(time, 7, 0x1000, b"//anon");
    }
    let history = script.0.build();
    let epoch = |time_ns| history.epoch(7, Key { time_ns, offset: 0 });
    assert_eq!(epoch(150), epoch(1000));
}

#[test]
fn without_times_what_was_loaded_last_counts_from_the_logs_mapping_on() {
    let mut script = script();
    load(&mut script, None, 0x1200, 0x50);
    load(&mut script, None, 0x1280, 0x250);
    script.map(200, 7, 0x1000, b"//anon");
    let history = script.0.build();
    for time in [12, 500] {
        assert_eq!(at(&history, time, 0x1200), in_log(0x50));
        assert_eq!(at(&history, time, 0x1290), in_log(0x260));
    }
    assert_eq!(at(&history, 10, 0x1200), in_memory(0x1200));
}

#[test]
fn code_from_before_the_recording_counts_from_the_start() {
    let mut script = script();
    load(&mut script, Some(3), 0x1200, 0x50);
    let history = script.0.build();
    assert_eq!(at(&history, 12, 0x1200), in_log(0x50));
}

#[test]
fn much_code_stays_where_it_is() {
    let mut script = script();
    let mut maps = |time, n: u64| {
        for page in 0..n {
            script.map(time, 7, 0x10_0000 + page * 0x1000, b"//anon");
        }
    };
    maps(12, 1000);
    for n in 0..8000 {
        load(
            &mut script,
            Some(100),
            0x10_0000 + n * 0x200,
            0x1000 + n * 0x200,
        );
    }
    let log = script.0.jitdumps()[0];
    assert_eq!(script.0.image(log.image).unwrap().path, LOG);
    for _ in 0..1000 {
        script.add(
            200,
            Misc::USER,
            Record::Mmap2(memory(0x10_0000, 1000 << 12)),
        );
    }
    let history = script.0.build();
    assert_eq!(at(&history, 300, 0x10_0000), in_log(0x1000));
    assert_eq!(
        at(&history, 300, 0x10_0000 + 7999 * 0x200),
        in_log(0x1000 + 7999 * 0x200)
    );
}

fn memory(addr: u64, len: u64) -> Mmap2<'static> {
    Mmap2 {
        pid: 7,
        tid: 7,
        addr,
        len,
        pgoff: 0,
        identity: FileIdentity::Inode(Inode::default()),
        prot: 5,
        flags: 0x22,
        filename: b"//anon",
    }
}

#[test]
fn memory_for_code_goes_by_the_name_of_its_map() {
    let build_id = BuildId::new(&[7; 20]).unwrap();
    let known = b"/memfd:program (deleted)".to_vec();
    let ids = HashMap::from_iter([(known, build_id)]);
    let mut script = Script(HistoryBuilder::new(true, ids), 100);
    let names: [&[u8]; 7] = [
        b"//anon",
        b"/dev/zero (deleted)",
        b"/anon_hugepage (deleted)",
        b"[heap]",
        b"/SYSV00000000 (deleted)",
        b"/memfd:doublemapper (deleted)",
        b"/memfd:program (deleted)",
    ];
    for (page, name) in (1..).zip(names) {
        script.map(10, 7, page * 0x1000, name);
    }
    let history = script.0.build();
    for page in 1..7 {
        assert_eq!(at(&history, 20, page * 0x1000), in_memory(page * 0x1000));
    }
    let program = ("/memfd:program (deleted)".to_owned(), 0x5000);
    assert_eq!(at(&history, 20, 0x7000), Some(program));
}

#[test]
fn only_logs_are_logs() {
    let mut script = Script::new();
    let names: [&[u8]; 6] = [
        b"/a/jit-1.dump",
        b"/a/jit-1.dump",
        b"/a/jit-.dump",
        b"/a/jit-x.dump",
        b"/jit-1.dump/a",
        b"jit-1.dump",
    ];
    for name in names {
        script.map(10, 7, 0x1000, name);
    }
    assert_eq!(script.0.jitdumps().len(), 1);
}
