//! Values of samples as perf shows them.

use super::DimensionValue;
use crate::{StrId, Strings};
use rprof_base::Seconds;

/// `  12345:make`.
pub(super) fn task(value: DimensionValue, strings: &Strings) -> String {
    match value {
        DimensionValue::Task(id, name) => format!("{id:>7}:{}", strings.of(name)),
        _ => of(value, strings, |number| format!("{number:>7}")),
    }
}

pub(super) fn cpu(value: DimensionValue, strings: &Strings) -> String {
    of(value, strings, |number| format!("{number:03}"))
}

pub(super) fn socket(value: DimensionValue, strings: &Strings) -> String {
    of(value, strings, |number| {
        format!("{:>6}", format!("{number:03}"))
    })
}

pub(super) fn number(value: DimensionValue, strings: &Strings) -> String {
    of(value, strings, |number| number.to_string())
}

pub(super) fn text(value: DimensionValue, strings: &Strings) -> String {
    number(value, strings)
}

/// Seconds, with microseconds.
pub(super) fn time(value: DimensionValue, strings: &Strings) -> String {
    of(value, strings, |ns| Seconds(ns.cast_unsigned()).to_string())
}

pub(super) fn physical(value: DimensionValue, strings: &Strings) -> String {
    of(value, strings, |address| format!("{address:#018x}"))
}

/// `4K`; 0 is what the kernel says where it does not know.
pub(super) fn page_size(value: DimensionValue, strings: &Strings) -> String {
    of(value, strings, |bytes| {
        let units = ['B', 'K', 'M', 'G', 'T'];
        let (mut size, mut unit) = (bytes, 0);
        while size >= 1024 && unit + 1 < units.len() {
            size /= 1024;
            unit += 1;
        }
        match bytes {
            0 => "N/A".to_owned(),
            _ => format!("{size}{}", units[unit]),
        }
    })
}

/// As wide as its heading.
pub(super) fn dso_size(value: DimensionValue, strings: &Strings) -> String {
    format!("{:>8}", number(value, strings))
}

/// As wide as its heading.
pub(super) fn symbol_size(value: DimensionValue, strings: &Strings) -> String {
    format!("{:>11}", number(value, strings))
}

pub(super) fn address(value: DimensionValue, strings: &Strings) -> String {
    of(value, strings, |address| format!("{address:#x}"))
}

/// 0 is what the kernel says where it does not know.
pub(super) fn cycles(value: DimensionValue, strings: &Strings) -> String {
    of(value, strings, |cycles| match cycles {
        0 => "-".to_owned(),
        _ => cycles.to_string(),
    })
}

/// Bits of a transaction (`PERF_TXN_*`), in perf's order and words.
const TRANSACTION: &[(i64, &str)] = &[
    (1, "EL "),
    (1 << 1, "TX "),
    (1 << 2, "SYNC "),
    (1 << 3, "ASYNC "),
    (1 << 4, "RETRY "),
    (1 << 5, "CON "),
    (1 << 6, "CAP-WRITE "),
    (1 << 7, "CAP-READ "),
];

pub(super) fn transaction(value: DimensionValue, strings: &Strings) -> String {
    of(value, strings, |flags| {
        let names = TRANSACTION.iter().filter(|(bit, _)| flags & bit != 0);
        let mut text: String = names.map(|&(_, name)| name).collect();
        if flags != 0 && flags & 0b1100 == 0 {
            text += "NEITHER ";
        }
        match flags.cast_unsigned() >> 32 {
            0 => {}
            code => text += &format!(":{code:x}"),
        }
        text.trim_end().to_owned()
    })
}

fn of(value: DimensionValue, strings: &Strings, number: impl Fn(i64) -> String) -> String {
    let text = |id: StrId| strings.of(id).to_string();
    match value {
        DimensionValue::Number(value) => number(value),
        DimensionValue::Task(_, id) | DimensionValue::Text(id) => text(id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dimension;

    #[test]
    fn cells_are_perfs() {
        let mut strings = Strings::default();
        let name = strings.intern("make");
        let task = Dimension::Pid.cell(DimensionValue::Task(7, name), &strings);
        assert_eq!(task, "      7:make");
        for (dimension, number, cell) in [
            (Dimension::Cpu, 7, "007"),
            (Dimension::Socket, 1, "   001"),
            (Dimension::Time, 42_276_700_000_000, "42276.700000"),
            // The clock's numbers have no sign.
            (Dimension::Time, i64::MIN, "9223372036.854775"),
            (Dimension::LocalWeight, 12, "12"),
            (Dimension::CodePageSize, 4096, "4K"),
            (Dimension::DataPageSize, 2 << 20, "2M"),
            (Dimension::DataPageSize, 0, "N/A"),
            (Dimension::DsoSize, 4096, "    4096"),
            (Dimension::SymSize, 70, "         70"),
            (Dimension::Cycles, 12, "12"),
            (Dimension::Cycles, 0, "-"),
            (Dimension::PhysDaddr, 0x1000, "0x0000000000001000"),
            (Dimension::Transaction, 0, ""),
            (Dimension::Transaction, 0b10_0010, "TX CON NEITHER"),
            (Dimension::Transaction, 5 << 32 | 0b110, "TX SYNC :5"),
        ] {
            let found = dimension.cell(DimensionValue::Number(number), &strings);
            assert_eq!(found, cell, "{dimension:?} {number}");
        }
    }
}
