//! A recording made long: its records again and again, each copy later in time.

use std::io::{BufWriter, Write};
use std::ops::RangeInclusive;
use std::os::unix::fs::FileExt;
use std::path::Path;

use anyhow::{Context, Result, bail};
use rprof_abi::{Encoder, Endian, RawRecord, Record, RecordKind};
use rprof_perfdata::{FileHeader, Reader, Section, Step};

use crate::files::make_file;

/// Writes `copies` of the records of `from` to `to`; features are kept. Of the copies after the first only the kinds
/// that are `wanted`.
pub(crate) fn repeat(
    from: &Path,
    to: &Path,
    copies: u64,
    wanted: fn(RecordKind) -> bool,
) -> Result<()> {
    let reader = Reader::open(from)?;
    let Some(header) = reader.header() else {
        bail!("{} is not of file mode", from.display());
    };
    let (first, last) = times(&reader)?.into_inner();
    let span = last - first + 1_000_000;
    let source = std::fs::read(from).with_context(|| format!("reading {}", from.display()))?;
    let slice = |range: std::ops::Range<u64>| -> Result<&[u8]> {
        let range = usize::try_from(range.start)?..usize::try_from(range.end)?;
        source.get(range).context("a section beyond the file")
    };

    let file = make_file(to)?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    out.write_all(slice(0..header.data.offset)?)?;
    let mut written = 0;
    for copy in 0..copies {
        let wanted = if copy == 0 { |_| true } else { wanted };
        written += write_copy(&reader, copy * span, wanted, &mut out)?;
    }
    // The table of features and they themselves move to the new end.
    let moved = written - header.data.size;
    let n_features = header.feature_ids().count() as u64;
    let table_end = header.data.end() + n_features * Section::LEN;
    let mut table = Vec::new();
    for &(_, section) in reader.features() {
        let mut encoder = Encoder::new(&mut table, reader.endian());
        encoder.u64(section.offset + moved);
        encoder.u64(section.size);
    }
    out.write_all(&table)?;
    out.write_all(slice(table_end..source.len() as u64)?)?;
    let file = out
        .into_inner()
        .map_err(std::io::IntoInnerError::into_error)?;
    let longer = FileHeader {
        data: Section {
            size: written,
            ..header.data
        },
        ..header.clone()
    };
    let mut head = Vec::new();
    longer.encode(&mut head, Endian::NATIVE);
    file.write_all_at(&head, 0).context("writing the header")
}

/// Times of the first and last sample.
fn times(reader: &Reader) -> Result<RangeInclusive<u64>> {
    let (mut first, mut last) = (u64::MAX, 0);
    reader.walk(reader.data(), |_, raw| {
        let event = reader
            .event_of(raw)
            .and_then(|idx| reader.events().get(idx));
        if raw.kind == RecordKind::SAMPLE
            && let Some(time) = event.and_then(|event| event.layout.sample_time(raw))
        {
            (first, last) = (first.min(time), last.max(time));
        }
        Step::On
    })?;
    if first > last {
        bail!("no samples with times");
    }
    Ok(first..=last)
}

/// Writes the records of some kinds, this much later; returns their bytes.
fn write_copy(
    reader: &Reader,
    later_ns: u64,
    wanted: fn(RecordKind) -> bool,
    out: &mut impl Write,
) -> Result<u64> {
    let (mut written, mut failed) = (0, None);
    let mut bytes = Vec::new();
    reader.walk(reader.data(), |_, raw| {
        if !wanted(raw.kind) {
            return Step::On;
        }
        bytes.clear();
        let done = shifted(reader, raw, later_ns, &mut bytes)
            .and_then(|()| out.write_all(&bytes).context("writing"));
        written += bytes.len() as u64;
        match done {
            Ok(()) => Step::On,
            Err(error) => {
                failed = Some(error);
                Step::Stop
            }
        }
    })?;
    failed.map_or(Ok(written), Err)
}

fn shifted(reader: &Reader, raw: RawRecord<'_>, later_ns: u64, out: &mut Vec<u8>) -> Result<()> {
    let event = reader
        .event_of(raw)
        .and_then(|idx| reader.events().get(idx));
    let (Some(event), true) = (event, raw.kind.name().is_some()) else {
        return Ok(raw.encode(out, reader.endian())?);
    };
    let (mut record, mut id) = Record::parse(raw, &event.layout)?;
    match &mut record {
        Record::Sample(sample) => shift(&mut sample.time_ns, later_ns),
        Record::Fork(task) | Record::Exit(task) => task.time_ns += later_ns,
        Record::Throttle(throttle) | Record::Unthrottle(throttle) => throttle.time_ns += later_ns,
        _ => {}
    }
    shift(&mut id.time_ns, later_ns);
    Ok(record.encode(raw.misc, &id, &event.layout, out)?)
}

fn shift(time_ns: &mut Option<u64>, later_ns: u64) {
    if let Some(time) = time_ns {
        *time += later_ns;
    }
}
