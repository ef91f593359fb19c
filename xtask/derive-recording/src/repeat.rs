//! A recording made long: its records again and again, each copy later in time.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::RangeInclusive;
use std::os::unix::fs::FileExt;
use std::path::Path;

use anyhow::{Context, Result, bail};
use rprof_abi::{Encoder, Endian, RawRecord, Record, RecordKind};
use rprof_perfdata::{FeatureId, FileHeader, Reader, Section, Step};

/// What becomes of the records of a copy.
pub(crate) struct Changes<'a> {
    /// Whether a record is kept, by its kind and how many of this kind came before it.
    pub(crate) keeps: &'a dyn Fn(RecordKind, u64) -> bool,
    /// The new time for a time.
    pub(crate) time_ns: &'a dyn Fn(u64) -> u64,
}

/// Writes `copies` of the records of `from` to `to`; features are kept. Of the copies after the first only the kinds
/// that are `wanted`.
pub(crate) fn repeat(
    from: &Path,
    to: &Path,
    copies: u64,
    wanted: fn(RecordKind) -> bool,
) -> Result<()> {
    let reader = Reader::open(from)?;
    let (first, last) = sample_times(&reader)?.into_inner();
    let span = last - first + 1_000_000;
    rewrite(&reader, to, None, |out| {
        let mut written = 0;
        for copy in 0..copies {
            let changes = Changes {
                keeps: &|kind, _| copy == 0 || wanted(kind),
                time_ns: &|time_ns| time_ns + copy * span,
            };
            written += write_copy(&reader, &changes, out)?;
        }
        Ok(written)
    })
}

/// Writes a recording with other records, as `write` writes them, and its own features, but for the host's name.
/// `write` returns how many bytes it has written.
pub(crate) fn rewrite(
    reader: &Reader,
    to: &Path,
    host: Option<&str>,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<u64>,
) -> Result<()> {
    let from = reader.path();
    let Some(header) = reader.header() else {
        bail!("{} is not of file mode", from.display());
    };
    let source = File::open(from).with_context(|| format!("reading {}", from.display()))?;
    let slice = |range: std::ops::Range<u64>| -> Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(range.end - range.start)?];
        source.read_exact_at(&mut bytes, range.start)?;
        Ok(bytes)
    };

    let file = File::create(to).with_context(|| format!("creating {}", to.display()))?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    out.write_all(&slice(0..header.data.offset)?)?;
    let written = write(&mut out)?;
    // The table of features and they themselves move to the new end.
    let moved = |offset: u64| offset + written - header.data.size;
    let n_features = header.feature_ids().count() as u64;
    let table_end = header.data.end() + n_features * Section::LEN;
    let mut table = Vec::new();
    for &(_, section) in reader.features() {
        let mut encoder = Encoder::new(&mut table, reader.endian());
        encoder.u64(moved(section.offset));
        encoder.u64(section.size);
    }
    out.write_all(&table)?;
    let mut features = slice(table_end..source.metadata()?.len())?;
    if let Some(host) = host {
        let hostname = reader
            .features()
            .iter()
            .find(|(id, _)| *id == FeatureId::HOSTNAME);
        let (_, section) = hostname.context("no host name to change")?;
        // A length, and the name up to a zero.
        let at = usize::try_from(section.offset - table_end)? + 4;
        let end = at + usize::try_from(section.size)? - 4;
        let name = features
            .get_mut(at..end)
            .context("a section beyond the file")?;
        name.fill(0);
        let start = name
            .get_mut(..host.len())
            .context("no room for the host's name")?;
        start.copy_from_slice(host.as_bytes());
    }
    out.write_all(&features)?;
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
pub(crate) fn sample_times(reader: &Reader) -> Result<RangeInclusive<u64>> {
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

/// Writes the records of a copy; returns their bytes.
pub(crate) fn write_copy(
    reader: &Reader,
    changes: &Changes<'_>,
    out: &mut impl Write,
) -> Result<u64> {
    let (mut written, mut failed) = (0, None);
    let mut bytes = Vec::new();
    let mut n_before: HashMap<RecordKind, u64> = HashMap::new();
    reader.walk(reader.data(), |_, raw| {
        let n = n_before.entry(raw.kind).or_default();
        *n += 1;
        if !(changes.keeps)(raw.kind, *n - 1) {
            return Step::On;
        }
        bytes.clear();
        let done = changed(reader, raw, changes.time_ns, &mut bytes)
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

fn changed(
    reader: &Reader,
    raw: RawRecord<'_>,
    new_time: &dyn Fn(u64) -> u64,
    out: &mut Vec<u8>,
) -> Result<()> {
    let event = reader
        .event_of(raw)
        .and_then(|idx| reader.events().get(idx));
    let (Some(event), true) = (event, raw.kind.name().is_some()) else {
        return Ok(raw.encode(out, reader.endian())?);
    };
    let (mut record, mut id) = Record::parse(raw, &event.layout)?;
    match &mut record {
        Record::Sample(sample) => sample.time_ns = sample.time_ns.map(new_time),
        Record::Fork(task) | Record::Exit(task) => task.time_ns = new_time(task.time_ns),
        Record::Throttle(throttle) | Record::Unthrottle(throttle) => {
            throttle.time_ns = new_time(throttle.time_ns);
        }
        _ => {}
    }
    id.time_ns = id.time_ns.map(new_time);
    Ok(record.encode(raw.misc, &id, &event.layout, out)?)
}
