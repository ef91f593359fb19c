//! `rprof stat record`, `rprof stat report`: counts into a file, and out of one.

use super::{ended, opened, settings, style_of};
use crate::args::{StatArgs, StatReportArgs};
use crate::cmd::reading::open;
use crate::say;
use crate::usage::usage;
use anyhow::{Context, Result, bail};
use rprof_abi::{Encoder, Endian};
use rprof_events::{Sources, online_cpus};
use rprof_perfdata::FeatureId;
use rprof_perfdata::feature::{encode_nr_cpus, encode_string, encode_strings};
use rprof_stat::{Aggregation, CountsFile, KeptSettings, show_kept, stat};
use rprof_untrusted::{Goal, NewFile};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

/// Counts, and keeps the counts.
pub(crate) fn record(args: &StatArgs) -> Result<ExitCode> {
    if args.runs.repeat != 1 {
        return Err(usage("a file holds the counts of one run: leave out -r"));
    }
    if !args.targets.for_each_cgroup.is_empty() || !args.targets.cgroup.is_empty() {
        return Err(usage(
            "a file does not record the control group of a count: leave out -G",
        ));
    }
    let (settings, _defined) = settings(args)?;
    let path = args.output.output.as_deref();
    let path = path.unwrap_or_else(|| Path::new("perf.data"));
    let doing = || format!("writing {}", path.display());
    let Goal::Place(place) = Goal::of(path).with_context(doing)? else {
        bail!("{}: not a regular file", path.display());
    };
    let new = NewFile::beside(place, 0o600).with_context(doing)?;
    let file = CountsFile {
        file: new.file().try_clone().with_context(doing)?,
        path: path.to_owned(),
        features: features(),
    };
    let mut out = BufWriter::new(std::io::stderr());
    let outcome = stat(&settings, Some(file), &mut out)?;
    new.put_beside_old(".old").with_context(doing)?;
    Ok(ended(&outcome))
}

/// What a reader of the file wants to know.
fn features() -> Vec<(FeatureId, Vec<u8>)> {
    let section = |id, encode: &dyn Fn(&mut Encoder<'_>)| {
        let mut bytes = Vec::new();
        encode(&mut Encoder::new(&mut bytes, Endian::NATIVE));
        (id, bytes)
    };
    let version = concat!("rprof ", env!("CARGO_PKG_VERSION"));
    let words: Vec<Vec<u8>> = std::env::args_os()
        .map(std::os::unix::ffi::OsStringExt::into_vec)
        .collect();
    let n_cpus = online_cpus(&Sources::default()).map_or(1, |cpus| cpus.len());
    let n_cpus = u32::try_from(n_cpus).unwrap_or(u32::MAX);
    let text = |id, text: &str| section(id, &|encoder| encode_string(text.as_bytes(), encoder));
    vec![
        text(FeatureId::VERSION, version),
        text(FeatureId::ARCH, std::env::consts::ARCH),
        section(FeatureId::NRCPUS, &|encoder| {
            encode_nr_cpus(n_cpus, n_cpus, encoder)
        }),
        section(FeatureId::CMDLINE, &|encoder| {
            encode_strings(words.iter().map(Vec::as_slice), encoder);
        }),
    ]
}

/// Shows the counts of a file.
pub(crate) fn report(args: &StatReportArgs) -> Result<ExitCode> {
    let reader = open(args.recording.path(), args.limits)?;
    let aggregation = match (args.no_aggr, args.per_thread, args.global) {
        (true, ..) => Some(Aggregation::Cpu),
        (_, true, _) => Some(Aggregation::Thread),
        (.., true) => Some(Aggregation::Global),
        _ => None,
    };
    let settings = KeptSettings {
        aggregation,
        style: style_of(&args.output)?,
    };
    let mut out = opened(&args.output)?;
    let path = || args.recording.path().display().to_string();
    let warnings = show_kept(&reader, &settings, &mut out).with_context(path)?;
    out.flush().context("writing counts")?;
    warnings.iter().for_each(say::warning);
    Ok(ExitCode::SUCCESS)
}
