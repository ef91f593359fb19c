//! What a sample says of the data it touched: addresses, sizes, how long it took.

use crate::fields::{Field, FieldSet};
use crate::{data_src, text};
use rprof_abi::Sample;
use rprof_abi::sample::{DataSource, Weight};
use std::borrow::Cow;

/// Appends where data came from and how long that took. The words grow with `width`, that of the
/// longest so far.
pub(crate) fn source(fields: FieldSet, sample: &Sample<'_>, width: &mut usize, out: &mut Vec<u8>) {
    if let Some(source) = sample.data_src.filter(|_| fields.has(Field::DataSrc)) {
        let text = data_src::text(DataSource(source));
        *width = (*width).max(text.len());
        out.extend_from_slice(text.as_bytes());
        out.extend(std::iter::repeat_n(b' ', *width - text.len()));
    }
    let parts = match sample.weight {
        Some(Weight::Whole(weight)) => [Some(weight), None, None],
        Some(Weight::Parts { var1, var2, var3 }) => {
            [var1.into(), var2.into(), var3.into()].map(Some)
        }
        None => [None; 3],
    };
    let wanted = [Field::Weight, Field::InsLat, Field::RetireLat];
    for (field, part) in wanted.into_iter().zip(parts) {
        if let Some(part) = part.filter(|_| fields.has(field)) {
            text::decimal(out, part, 16);
        }
    }
}

/// Appends where in physical memory data is.
pub(crate) fn pages(fields: FieldSet, sample: &Sample<'_>, out: &mut Vec<u8>) {
    if let Some(addr) = sample.phys_addr.filter(|_| fields.has(Field::PhysAddr)) {
        text::hex(out, addr, 16);
    }
    let sizes = [
        (Field::DataPageSize, sample.data_page_size),
        (Field::CodePageSize, sample.code_page_size),
    ];
    for (field, size) in sizes {
        if let Some(size) = size.filter(|_| fields.has(field)) {
            out.push(b' ');
            out.extend_from_slice(page_size(size).as_bytes());
        }
    }
}

/// perf's way to write the size of a page.
fn page_size(bytes: u64) -> Cow<'static, str> {
    match bytes {
        0 => "N/A".into(),
        bytes => {
            let unit = (bytes.ilog2() / 10).min(6);
            let letter = ["", "K", "M", "G", "T", "P", "E"][unit as usize];
            format!("{}{letter}", bytes >> (unit * 10)).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_sizes_are_perfs() {
        for (bytes, text) in [(0, "N/A"), (4096, "4K"), (2 << 20, "2M"), (1 << 30, "1G")] {
            assert_eq!(page_size(bytes), text);
        }
    }
}
