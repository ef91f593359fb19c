//! Naming JIT code by the jitdump that its compiler wrote (`jit-PID.dump`).

use crate::symbolized::{Collector, Frame, Line, Symbolized};
use crate::table::size_between;
use crate::{Detail, Reason, Request};
use rprof_base::FileOffset;
use rprof_images::{JitDump, JitLines, JitLoad, JitRecord};
use rprof_untrusted::OverBudget;
use std::io;

/// Names places in a log, which must be sorted.
///
/// # Errors
/// [`Reason::NoFile`] if the log cannot be read.
pub fn symbolize_jitdump(
    dump: &mut JitDump,
    offsets: &[FileOffset],
    request: Request,
) -> Result<Symbolized, Reason> {
    let mut collector = Collector::default();
    let named = name_all(dump, offsets, request, &mut collector);
    let mut symbolized = collector.finish();
    match named {
        // What was read counts.
        Err(error) if is_over_budget(&error) => symbolized.note_over_budget(true),
        Err(error) => {
            let reason = rprof_images::NoFile::Unreadable(error.kind());
            return Err(Reason::NoFile(reason));
        }
        Ok(()) => {}
    }
    Ok(symbolized)
}

fn is_over_budget(error: &io::Error) -> bool {
    let inner = error.get_ref();
    inner.is_some_and(<dyn std::error::Error + Send + Sync>::is::<OverBudget>)
}

fn name_all(
    dump: &mut JitDump,
    offsets: &[FileOffset],
    request: Request,
    collector: &mut Collector,
) -> io::Result<()> {
    let mut lines: Option<JitLines> = None;
    let mut rest = offsets;
    dump.rewind();
    while !rest.is_empty() {
        let load = match dump.next_record()? {
            Some(JitRecord::Load(load)) => load,
            Some(JitRecord::Lines(next)) => {
                lines = Some(next);
                continue;
            }
            Some(_) => continue,
            None => break,
        };
        let lines = lines.take().filter(|lines| lines.start == load.start);
        // Code lies in the file in the order of records.
        let n_before = rest.partition_point(|offset| offset.0 < load.code.0);
        (0..n_before).for_each(|_| collector.end_address());
        rest = &rest[n_before..];
        let end = load.code.0 + load.len;
        let (own, others) = rest.split_at(rest.partition_point(|offset| offset.0 < end));
        rest = others;
        if own.is_empty() {
            continue;
        }
        let lines = match lines {
            Some(lines) if request.detail == Detail::Lines => {
                LineTable::read(dump, &load, &lines, collector)?
            }
            _ => LineTable::default(),
        };
        let name = collector.name(dump.name(&load)?, |name| request.demangling.of(name));
        for offset in own {
            let offset = offset.0 - load.code.0;
            collector.frame(Frame {
                name,
                // A function that was compiled anew is still the same function.
                start: 0,
                offset,
                size: size_between(0, load.len),
                is_inlined: false,
                line: lines.find(offset),
            });
            collector.end_address();
        }
    }
    rest.iter().for_each(|_| collector.end_address());
    Ok(())
}

/// Lines of one function, by offset in it.
#[derive(Debug, Default)]
struct LineTable(Vec<(u64, Line)>);

/// Bytes of the header that `perf inject` puts before code in the files that it makes.
///
/// perf before 5.9 counted lines from there, so compilers came to add this to the addresses of lines
/// (V8's src/diagnostics/perf-jit.cc, LLVM's PerfJITEventListener.cpp).
const ELF_HEADER_LEN: u64 = 0x40;

impl LineTable {
    fn read(
        dump: &mut JitDump,
        load: &JitLoad,
        lines: &JitLines,
        collector: &mut Collector,
    ) -> io::Result<Self> {
        let mut all: Vec<(u64, Line)> = Vec::new();
        dump.for_each_line(lines, |line| {
            let file = match (line.file, all.last()) {
                (b"", Some((_, before))) => before.file,
                (name, _) => collector.name(name, |name| String::from_utf8_lossy(name).into()),
            };
            let Some(offset) = line.start.0.checked_sub(load.start.0) else {
                return;
            };
            let line = Line {
                file,
                line: line.line,
            };
            all.push((offset, line));
        })?;
        all.sort_by_key(|&(offset, _)| offset);
        // Code begins with a line, so where the first bytes have none the header was added.
        if all
            .first()
            .is_some_and(|&(first, _)| first >= ELF_HEADER_LEN)
        {
            for (offset, _) in &mut all {
                *offset -= ELF_HEADER_LEN;
            }
        }
        Ok(Self(all))
    }

    /// The line of the nearest address before.
    fn find(&self, offset: u64) -> Option<Line> {
        let after = self.0.partition_point(|&(start, _)| start <= offset);
        Some(self.0.get(after.checked_sub(1)?)?.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log of functions of 8 bytes, each with the offsets of its lines.
    fn log(functions: &[(&[u8], &[u64])]) -> Vec<u8> {
        let mut out = Vec::new();
        let u32s =
            |out: &mut Vec<u8>, all: &[u32]| all.iter().for_each(|n| out.extend(n.to_le_bytes()));
        let u64s =
            |out: &mut Vec<u8>, all: &[u64]| all.iter().for_each(|n| out.extend(n.to_le_bytes()));
        u32s(&mut out, &[0x4a69_5444, 1, 40, 62, 0, 7]);
        u64s(&mut out, &[0, 0]);
        for (n, (name, lines)) in (1..).zip(functions) {
            u32s(
                &mut out,
                &[2, 32 + 21 * u32::try_from(lines.len()).unwrap()],
            );
            u64s(&mut out, &[0, 0x7000, lines.len() as u64]);
            for (line, offset) in (10..).zip(*lines) {
                u64s(&mut out, &[0x7000 + offset]);
                u32s(&mut out, &[line, 0]);
                out.extend_from_slice(b"a.js\0");
            }
            u32s(&mut out, &[0, 56 + 9 + u32::try_from(name.len()).unwrap()]);
            u64s(&mut out, &[n, 0, 0x7000, 0x7000, 8, n]);
            out.extend_from_slice(name);
            out.extend_from_slice(b"\0CODECODE");
        }
        out
    }

    /// Name, offset and line at each offset in the file.
    fn ask(bytes: &[u8], offsets: &[u64]) -> Vec<Option<(String, u64, Option<u32>)>> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let offsets: Vec<_> = offsets.iter().copied().map(FileOffset).collect();
        let mut dump = JitDump::open(file.path(), &rprof_untrusted::Budget::default()).unwrap();
        let request = Request {
            detail: Detail::Lines,
            ..Request::default()
        };
        let symbolized = symbolize_jitdump(&mut dump, &offsets, request).unwrap();
        let one = |at| {
            let frame = symbolized.frames(at).first()?;
            let line = frame.line.map(|line| line.line);
            Some((symbolized.name(frame.name).to_owned(), frame.offset, line))
        };
        (0..offsets.len()).map(one).collect()
    }

    #[test]
    fn places_have_the_names_and_lines_of_their_code() {
        let bytes = log(&[
            (b"first", &[0, 4]),
            (b"_ZN3foo3barEv", &[0x40, 0x44]),
            (b"bare", &[]),
        ]);
        let code: Vec<u64> = (0..)
            .zip(bytes.windows(8))
            .filter(|(_, bytes)| bytes == b"CODECODE")
            .map(|(at, _)| at)
            .collect();
        let asked = [
            0,
            code[0],
            code[0] + 5,
            code[0] + 8,
            code[1] + 3,
            code[1] + 4,
            code[2] + 7,
            code[2] + 8,
        ];
        let named = |name: &str, offset, line| Some((name.to_owned(), offset, line));
        assert_eq!(
            ask(&bytes, &asked),
            [
                None,
                named("first", 0, Some(10)),
                named("first", 5, Some(11)),
                None,
                named("foo::bar", 3, Some(10)),
                named("foo::bar", 4, Some(11)),
                named("bare", 7, None),
                None,
            ]
        );
    }
}
