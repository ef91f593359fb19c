//! Branches of a sample, newest first.
//!
//! Source: `perf_sample__fprintf_brstack` and its like in tools/perf/builtin-script.c (v6.1).

use crate::columns::{Column, Columns};
use crate::line::Layout;
use crate::spot::{Spot, address_of};
use crate::text;
use rprof_abi::CpuMode;
use rprof_abi::sample::{BranchFlags, BranchStack};
use rprof_analysis::Mappings;

/// Appends them by address, by name or by offset in their files.
pub(crate) fn append(
    layout: &Layout<'_>,
    columns: Columns,
    (mode, mappings): (CpuMode, Mappings),
    branches: &BranchStack<'_>,
    out: &mut Vec<u8>,
) {
    let forms = [Column::Brstack, Column::Brstacksym, Column::Brstackoff];
    let Some(form) = forms.into_iter().find(|&form| columns.has(form)) else {
        return;
    };
    let history = &layout.query.recording.index.history;
    for branch in branches.entries() {
        for (before, avma) in [(" ", branch.from), ("/", branch.to)] {
            let address = address_of(mode, avma);
            let spot = Spot::of(layout.query, mappings, address);
            if form == Column::Brstacksym {
                // Nothing in front of the first: flags end with a space.
                out.extend_from_slice(before.trim_start().as_bytes());
                spot.symbol(layout.symbols, true, out);
            } else {
                out.extend_from_slice(before.as_bytes());
                out.extend_from_slice(b"0x");
                let value = match form {
                    Column::Brstackoff => mappings.offset(history, address),
                    _ => avma,
                };
                text::hex(out, value, 0);
            }
            if columns.has(Column::Dso) {
                spot.dso(columns, out);
            }
        }
        append_flags(branch.flags, out);
    }
}

fn append_flags(flags: BranchFlags, out: &mut Vec<u8>) {
    let prediction = match (flags.is_predicted(), flags.is_mispredicted()) {
        (true, _) => b'P',
        (false, true) => b'M',
        (false, false) => b'-',
    };
    let transaction = if flags.is_in_transaction() {
        b'X'
    } else {
        b'-'
    };
    let abort = if flags.is_abort() { b'A' } else { b'-' };
    out.extend_from_slice(&[b'/', prediction, b'/', transaction, b'/', abort, b'/']);
    text::decimal(out, flags.cycles(), 0);
    out.push(b'/');
    out.extend_from_slice(flags.kind().unwrap_or("").as_bytes());
    out.push(b' ');
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_abi::Endian;

    #[test]
    fn flags_are_letters() {
        let text = |word| {
            let mut out = Vec::new();
            append_flags(BranchFlags::new(word, Endian::Little), &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(text(0), "/-/-/-/0/ ");
        assert_eq!(text(0b1101 | 12 << 4 | 1 << 20), "/M/X/A/12/COND ");
        assert_eq!(text(2), "/P/-/-/0/ ");
    }
}
