//! Logs made by hand, in both byte orders, and damaged ones.

use super::*;
use std::io::Write;

/// Writes a log.
struct Maker {
    bytes: Vec<u8>,
    is_big_endian: bool,
}

impl Maker {
    fn new(is_big_endian: bool) -> Self {
        let mut maker = Self {
            bytes: Vec::new(),
            is_big_endian,
        };
        maker
            .u32(&[MAGIC, 1, HEADER_LEN, 62, 0, 77])
            .u64(&[1000, 0]);
        maker
    }

    fn u32(&mut self, values: &[u32]) -> &mut Self {
        for value in values {
            self.bytes.extend(if self.is_big_endian {
                value.to_be_bytes()
            } else {
                value.to_le_bytes()
            });
        }
        self
    }

    fn u64(&mut self, values: &[u64]) -> &mut Self {
        for value in values {
            self.bytes.extend(if self.is_big_endian {
                value.to_be_bytes()
            } else {
                value.to_le_bytes()
            });
        }
        self
    }

    fn prefix(&mut self, kind: u32, len: usize, time: u64) -> &mut Self {
        let len = u32::try_from(len).unwrap();
        self.u32(&[kind, len]).u64(&[time])
    }

    fn load(&mut self, time: u64, start: u64, index: u64, name: &[u8]) -> &mut Self {
        self.prefix(JIT_CODE_LOAD, 56 + name.len() + 1 + 8, time);
        self.u32(&[77, 78]).u64(&[start, start, 8, index]);
        self.bytes.extend_from_slice(name);
        self.bytes
            .extend_from_slice(b"\0\x90\x90\x90\x90\x90\x90\x90\xc3");
        self
    }

    fn moved(&mut self, time: u64, from: u64, to: u64, index: u64) -> &mut Self {
        self.prefix(JIT_CODE_MOVE, 64, time);
        self.u32(&[77, 78]).u64(&[to, from, to, 8, index])
    }

    /// `.eh_frame` and its header, with their length.
    fn frames(&mut self, frames: &[u8], header_len: usize) -> &mut Self {
        let len = frames.len() + header_len;
        self.prefix(JIT_CODE_UNWINDING_INFO, 40 + len + 4, 0);
        self.u64(&[len as u64, header_len as u64, 0]);
        self.bytes.extend_from_slice(frames);
        self.bytes.extend(std::iter::repeat_n(0x1b, header_len + 4));
        self
    }

    fn lines(&mut self, start: u64, lines: &[(u64, u32, &[u8])]) -> &mut Self {
        let len: usize = lines.iter().map(|(_, _, file)| 17 + file.len()).sum();
        self.prefix(JIT_CODE_DEBUG_INFO, 32 + len, 0);
        self.u64(&[start, lines.len() as u64]);
        for (address, line, file) in lines {
            self.u64(&[*address]).u32(&[*line, 0]);
            self.bytes.extend_from_slice(file);
            self.bytes.push(0);
        }
        self
    }
}

fn open(bytes: &[u8]) -> Result<JitDump, JitDumpError> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    JitDump::open(file.path(), &Budget::default())
}

/// All that a log says, in words.
fn read(dump: &mut JitDump) -> io::Result<Vec<String>> {
    let mut all = Vec::new();
    while let Some(record) = dump.next_record()? {
        all.push(match record {
            JitRecord::Load(load) => {
                let name = String::from_utf8_lossy(dump.name(&load)?).into_owned();
                let mut text = format!("{} {:x}+{} {name}", load.time_ns, load.start.0, load.len);
                if let Some(frames) = load.frames {
                    text += &format!(" {:x?}", dump.eh_frame(frames)?);
                }
                text
            }
            JitRecord::Move(moved) => {
                let JitMove { time_ns, index, .. } = moved;
                format!("{time_ns} {:x}+{} ={index}", moved.start.0, moved.len)
            }
            JitRecord::Lines(lines) => {
                let mut text = String::new();
                dump.for_each_line(&lines, |line| {
                    let file = String::from_utf8_lossy(line.file);
                    text += &format!(" {:x} {file}:{}", line.start.0, line.line);
                })?;
                format!("{:x}{text}", lines.start.0)
            }
        });
    }
    Ok(all)
}

fn sample(is_big_endian: bool) -> Vec<u8> {
    let mut maker = Maker::new(is_big_endian);
    maker
        .lines(0x7000, &[(0x7000, 3, b"a.js"), (0x7004, 4, b"\xff")])
        .load(2000, 0x7000, 1, b"JS:*hot a.js:3")
        .frames(b"\x10\x20\x30", 20)
        .moved(2500, 0x7000, 0x8000, 1)
        .load(3000, 0x7000, 2, b"next");
    maker.bytes
}

#[test]
fn records_are_read_in_both_byte_orders() {
    for is_big_endian in [false, true] {
        let bytes = sample(is_big_endian);
        let mut dump = open(&bytes).unwrap();
        assert_eq!((dump.pid, dump.has_arch_times), (77, false));
        let expected = [
            "7000 7000 a.js:3 7004 :4",
            "2000 7000+8 JS:*hot a.js:3",
            "2500 8000+8 =1",
            "3000 7000+8 next [10, 20, 30]",
        ];
        assert_eq!(read(&mut dump).unwrap(), expected);
        assert_eq!(read(&mut dump).unwrap(), [""; 0]);
        dump.rewind();
        assert_eq!(read(&mut dump).unwrap(), expected);
    }
}

#[test]
fn code_is_where_the_file_has_it() {
    let bytes = sample(false);
    let mut dump = open(&bytes).unwrap();
    let mut n = 0;
    while let Some(record) = dump.next_record().unwrap() {
        if let JitRecord::Load(load) = record {
            let at = usize::try_from(load.code.0).unwrap();
            assert_eq!(bytes[at..at + 8], *b"\x90\x90\x90\x90\x90\x90\x90\xc3");
            n += 1;
        }
    }
    assert_eq!(n, 2);
}

#[test]
fn code_without_bytes_or_at_no_address_is_passed_over() {
    let mut maker = Maker::new(false);
    maker.prefix(JIT_CODE_LOAD, 58, 1).u32(&[1, 1]);
    maker.u64(&[0x7000, 0x7000, 100, 1]).bytes.extend(b"a\0");
    maker.prefix(JIT_CODE_LOAD, 58, 1).u32(&[1, 1]);
    maker.u64(&[0x7000, 0x7000, 0, 1]).bytes.extend(b"a\0");
    maker.load(5, u64::MAX - 3, 3, b"wraps");
    maker.load(6, 0x7000, 4, b"good");
    let mut dump = open(&maker.bytes).unwrap();
    assert_eq!(read(&mut dump).unwrap(), ["6 7000+8 good"]);
    // Code of no bytes is no damage.
    let damage = JitDamage {
        n_bad: 2,
        cut_at: None,
    };
    assert_eq!(dump.damage(), damage);
}

#[test]
fn a_log_that_is_being_written_ends_with_its_last_whole_record() {
    let bytes = sample(false);
    let mut whole = open(&bytes).unwrap();
    let mut ends = vec![whole.next_at];
    while whole.next_record().unwrap().is_some() {
        ends.push(whole.next_at);
    }
    // Of the record that is passed over, too.
    ends.push(ends[2] + 40 + 27);
    assert_eq!(whole.damage(), JitDamage::default());
    let whole = read(&mut open(&bytes).unwrap()).unwrap();
    for len in 0..bytes.len() {
        match open(&bytes[..len]) {
            Ok(mut dump) => {
                let all = read(&mut dump).unwrap();
                assert!(len >= 40 && all.len() < whole.len() && whole.starts_with(&all));
                let is_cut = !ends.contains(&(len as u64));
                assert_eq!(dump.damage().cut_at.is_some(), is_cut, "{len} bytes");
            }
            Err(error) => assert!(len < 40 && matches!(error, JitDumpError::NotJitDump)),
        }
    }
}

#[test]
fn a_name_without_an_end_is_damage_and_no_name() {
    let mut maker = Maker::new(false);
    maker
        .load(5, 0x7000, 1, b"torn")
        .load(6, 0x7000, 2, b"good");
    let end = maker.bytes.windows(5).position(|five| five == b"torn\0");
    maker.bytes[end.unwrap() + 4] = b'x';
    let mut dump = open(&maker.bytes).unwrap();
    assert_eq!(read(&mut dump).unwrap(), ["6 7000+8 good"]);
    assert_eq!(dump.damage().n_bad, 1);
}

#[test]
fn a_log_that_gets_shorter_is_an_error() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let mut maker = Maker::new(false);
    for n in 0..4000 {
        maker.load(n, 0x7000 + n * 16, n, b"name");
    }
    file.write_all(&maker.bytes).unwrap();
    let mut dump = JitDump::open(file.path(), &Budget::default()).unwrap();
    file.as_file().set_len(100_000).unwrap();
    assert!(read(&mut dump).is_err());
}

#[test]
fn how_frames_are_left_belongs_to_the_next_code_alone() {
    let mut maker = Maker::new(false);
    maker
        .frames(b"old", 4)
        .frames(b"ab", 4)
        .lines(0x7000, &[])
        .load(1, 0x7000, 1, b"its")
        .load(2, 0x8000, 2, b"other")
        .frames(b"", 20)
        .load(3, 0x9000, 3, b"only a header");
    let mut dump = open(&maker.bytes).unwrap();
    let all = read(&mut dump).unwrap();
    let loads = [
        "1 7000+8 its [61, 62]",
        "2 8000+8 other",
        "3 9000+8 only a header",
    ];
    assert_eq!(all[1..], loads);
    assert_eq!(dump.damage(), JitDamage::default());
}

#[test]
fn lengths_that_lie_describe_no_frames_and_are_damage() {
    // More than the record has, a header of more than all, more than any code needs.
    for (len, header_len) in [
        (100, 4),
        (4, 5),
        (u64::MAX, 0),
        (u64::from(MAX_FRAMES) + 1, 0),
    ] {
        let mut maker = Maker::new(false);
        let room = usize::try_from(MAX_FRAMES).unwrap() + 8;
        let room = if len > 100 { room } else { 8 };
        maker.prefix(JIT_CODE_UNWINDING_INFO, 40 + room, 0);
        maker.u64(&[len, header_len, 0]).bytes.extend(vec![7; room]);
        maker.load(1, 0x7000, 1, b"bare");
        let mut dump = open(&maker.bytes).unwrap();
        assert_eq!(read(&mut dump).unwrap(), ["1 7000+8 bare"]);
        assert_eq!(dump.damage().n_bad, 1);
    }
}

#[test]
fn a_log_that_grows_is_read_on() {
    let whole = sample(false);
    let expected = read(&mut open(&whole).unwrap()).unwrap();
    for step in [1, 7, 50] {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&whole[..40]).unwrap();
        let mut dump = JitDump::open(file.path(), &Budget::default()).unwrap();
        let mut all = read(&mut dump).unwrap();
        for more in whole[40..].chunks(step) {
            file.write_all(more).unwrap();
            dump.look_again().unwrap();
            all.extend(read(&mut dump).unwrap());
        }
        assert_eq!(all, expected);
        assert_eq!(dump.damage(), JitDamage::default());
        file.as_file().set_len(100).unwrap();
        assert!(dump.look_again().is_err());
    }
}

#[test]
fn damage_is_never_a_panic_or_an_endless_loop() {
    for is_big_endian in [false, true] {
        let bytes = sample(is_big_endian);
        for at in 0..bytes.len() {
            for value in [0, 1, 0x40, 0x7f, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] = value;
                if let Ok(mut dump) = open(&damaged) {
                    let all = read(&mut dump).unwrap();
                    // What describes frames may have become code.
                    assert!(all.len() <= 5);
                }
            }
        }
    }
}

/// The corpus is no part of the project.
#[test]
fn a_log_by_julia_has_its_functions_and_lines() {
    let Some(dir) = std::env::var_os("RPROF_CORPUS") else {
        println!("not run, RPROF_CORPUS is not set");
        return;
    };
    let path = Path::new(&dir).join("jitdump/jit-simple-julia.dump");
    let mut dump = JitDump::open(&path, &Budget::default()).unwrap();
    assert_eq!(dump.pid, 3_198_645);
    let all = read(&mut dump).unwrap();
    let n_loads = all.iter().filter(|text| text.contains('+')).count();
    assert_eq!((n_loads, all.len() - n_loads), (13, 8));
    assert_eq!(
        all[..2],
        [
            "7bea23b00000 7bea23b00040 ./client.jl:474 7bea23b0005b ./client.jl:476",
            "144593699451542 7bea23b00000+73 julia_include_0",
        ]
    );
}
