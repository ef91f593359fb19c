//! From arguments to settings.

use super::events::{events, spans};
use super::flight;
use crate::args::{
    CallChainArgs, CallGraph, EventArgs, OutputArgs, RecordArgs, TargetArgs, bytes_with_unit,
};
use crate::say;
use crate::usage::{of_event, usage};
use anyhow::{Context, Result};
use rprof_abi::{BranchSampleType, SampleType};
use rprof_events::parse_cpu_list;
use rprof_record::{
    CallChains, Cgroups, Inherit, MOST_STACK_BYTES, Matching, Output, Rate, RotateOn, Rotation,
    SampleFields, Settings, Tool, Watch, When, Writing,
};
use rprof_ringbuf::sys::page_size;
use std::fs::File;
use std::io::IsTerminal;
use std::num::NonZeroUsize;
use std::os::fd::AsFd;
use std::sync::Arc;

pub(in crate::cmd) fn settings(args: &RecordArgs) -> Result<Settings> {
    let cpus = args.targets.cpu.as_deref().map(parse_cpu_list).transpose();
    let cpus = cpus.map_err(of_event)?;
    let cgroups = args.cgroups.settings();
    let watch = match cgroups {
        Cgroups::All => watch(&args.targets)?,
        _ => Watch::All,
    };
    Ok(Settings {
        events: events(args)?,
        spans: spans(args)?,
        rate: rate(&args.events)?,
        call_chains: match (call_chains(args)?, is_overwritten(args)) {
            (CallChains::Auto, true) => CallChains::FramePointers,
            (CallChains::Dwarf { .. }, true) => {
                let why = "--overwrite and --flight keep no stack dumps, since a few dozen samples would fill a ring \
                    buffer: use --call-graph fp (their default), lbr or none";
                return Err(usage(why));
            }
            (chains, _) => chains,
        },
        watchpoints: !args.call_chains.no_watchpoints,
        fields: fields(args),
        sideband: args.parts.sideband(),
        off_cpu: args.parts.off_cpu(),
        clock: args.fields.clockid.unwrap_or_default(),
        watch,
        wait: args.targets.wait,
        inherit: inherit(&args.targets),
        children: args.targets.children,
        cpus,
        cgroups,
        command: args.command.clone(),
        hides_command: false,
        when: When {
            delay: args.timing.delay.clone().unwrap_or_default(),
            control: args.timing.control.clone(),
        },
        duration: args.targets.duration,
        cpu_percent: args.cost.cpu_percent,
        samples_per_hour: args.cost.samples_per_hour,
        ring_pages: asked_ring_pages(args)?,
        output: output(&args.output)?,
        writing: writing(args)?,
        strict_rate: args.events.strict_freq,
        bpf_events: !args.perfs.no_bpf_event,
        kernel_build_ids: args.perfs.buildid_mmap,
        kept_files: args.output.embed_symbols.then(Arc::default),
        include_self: args.targets.include_self,
        wait_all: args.targets.wait_all,
        tool: Tool {
            command_line: std::env::args_os()
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
            version: concat!("rprof ", env!("CARGO_PKG_VERSION")).to_owned(),
        },
    })
}

/// `-C` without tasks samples everything on these CPUs.
fn watch(args: &TargetArgs) -> Result<Watch> {
    Ok(if let Some(user) = &args.uid {
        Watch::Matching(super::targets::user(user)?)
    } else if !args.name.is_empty() {
        Watch::Matching(Matching::Names(args.name.clone()))
    } else if !args.pid.is_empty() {
        Watch::Processes(args.pid.clone())
    } else if !args.tid.is_empty() {
        Watch::Threads(args.tid.clone())
    } else if args.all_cpus || args.cpu.is_some() {
        Watch::All
    } else {
        Watch::Command
    })
}

fn inherit(args: &TargetArgs) -> Inherit {
    match (args.per_thread, args.no_inherit) {
        (true, _) => Inherit::PerThread,
        (false, true) => Inherit::No,
        (false, false) => Inherit::Inherited,
    }
}

fn fields(args: &RecordArgs) -> SampleFields {
    let mut fields = args.fields.fields();
    if args.parts.all_cgroups {
        fields.fields = fields.fields.with(SampleType::CGROUP);
    }
    SampleFields {
        branches: args.parts.branches(),
        only_in: args.parts.only_in(),
        chains_of: args.parts.chains_of(),
        ..fields
    }
}

fn call_chains(args: &RecordArgs) -> Result<CallChains> {
    let has_branches = args.parts.branches() != BranchSampleType::default();
    let chains = chains_alone(&args.call_chains)?;
    match chains {
        CallChains::BranchRecords if has_branches => Err(usage(
            "--call-graph lbr and -b or -j need the same branch records: leave out one of them",
        )),
        CallChains::Dwarf { keep: true, .. } if args.parts.kernel_callchains => Err(usage(
            "--post-unwind and --kernel-callchains exclude each other: kernel call chains have no user stacks",
        )),
        CallChains::Auto | CallChains::Dwarf { .. } if args.parts.kernel_callchains => {
            Ok(CallChains::FramePointers)
        }
        chains => Ok(chains),
    }
}

fn chains_alone(args: &CallChainArgs) -> Result<CallChains> {
    let keep = args.post_unwind;
    Ok(match args.call_graph {
        CallGraph::Dwarf(bytes) => CallChains::Dwarf { bytes, keep },
        CallGraph::Auto if keep => CallChains::Dwarf {
            bytes: MOST_STACK_BYTES,
            keep,
        },
        _ if keep => {
            let why = "--post-unwind needs stack dumps: use --call-graph auto or dwarf";
            return Err(usage(why));
        }
        CallGraph::Auto => CallChains::Auto,
        CallGraph::Fp => CallChains::FramePointers,
        CallGraph::Lbr => CallChains::BranchRecords,
        CallGraph::None if args.callers => CallChains::Auto,
        CallGraph::None => CallChains::None,
    })
}

fn writing(args: &RecordArgs) -> Result<Writing> {
    let files = &args.files;
    let is_pipe = args.output.output.as_os_str() == "-";
    let rotation = files.rotate_on();
    if is_pipe && (rotation.is_some() || files.timestamp_filename) {
        let why = "--switch-output, --flight and --timestamp-filename need a file, not a pipe: use -o FILE";
        return Err(usage(why));
    }
    if is_pipe && args.cost.samples_per_hour.is_some() {
        let why = "--samples-per-hour needs a file, which says how many samples were taken, not a pipe: use -o FILE";
        return Err(usage(why));
    }
    if args.output.embed_symbols && rotation.is_some() {
        let why = "--embed-symbols needs a single file, but --switch-output and --flight write several: use rprof symbols \
            --embed FILE later";
        return Err(usage(why));
    }
    if files.switch_max_files.is_some() && rotation.is_none() {
        let why = "--switch-max-files needs --switch-output or --flight";
        return Err(usage(why));
    }
    let (flight, triggers) = flight::plan(args)?;
    let most_files = match (files.switch_max_files, &flight) {
        (None, Some(_)) => Some(flight::MOST_FILES),
        (asked, _) => asked.and_then(NonZeroUsize::new),
    };
    let rotation_events = match (&files.switch_output_event, rotation) {
        (None, _) => triggers,
        (Some(list), Some(RotateOn::Signal)) => super::events::of_list(list, args.quiet)?,
        (Some(_), _) => {
            let why = "--switch-output-event and a size or time of --switch-output exclude each other: \
                       leave out one of them";
            return Err(usage(why));
        }
    };
    Ok(Writing {
        // The reader of a pipe may not know compressed records, and a recorder that unwinds each switch has no time for it.
        compression: files.compression(!is_pipe && has_short_switches(args)),
        overwrite: is_overwritten(args),
        rotation: rotation.map(|on| Rotation { on, most_files }),
        rotation_events,
        flight,
        timestamp_name: files.timestamp_filename || rotation.is_some(),
        max_bytes: files.max_size,
        no_build_ids: files.no_buildid,
        synthesis: files.synth.unwrap_or_default(),
        synthesis_at_end: files.tail_synthesize,
    })
}

/// Whether context switches are recorded, without a dump of each stack.
fn has_short_switches(args: &RecordArgs) -> bool {
    let off_cpu = args.parts.off_cpu();
    off_cpu.is_some_and(|off_cpu| !off_cpu.threshold.is_zero())
}

/// Whether rings keep only the latest samples.
fn is_overwritten(args: &RecordArgs) -> bool {
    args.files.overwrite || args.files.flight.is_some()
}

fn output(args: &OutputArgs) -> Result<Output> {
    if args.output.as_os_str() != "-" {
        return Ok(Output::File(args.output.clone()));
    }
    if args.embed_symbols {
        let why = "--embed-symbols needs a file, not a pipe: use -o FILE";
        return Err(usage(why));
    }
    let stdout = std::io::stdout();
    if stdout.is_terminal() {
        return Err(usage(
            "refusing to write a recording to a terminal: use -o - with a pipe, as in rprof record -o - ... | rprof \
             report -i -",
        ));
    }
    let pipe = stdout.as_fd().try_clone_to_owned();
    let pipe = pipe.context("duplicating stdout")?;
    Ok(Output::Pipe(Arc::new(File::from(pipe))))
}

fn rate(args: &EventArgs) -> Result<Option<Rate>> {
    if let Some(period) = args.period {
        return Ok(Some(Rate::Period(period)));
    }
    match args.frequency.as_deref() {
        None => Ok(None),
        // The kernel's limit lowers it.
        Some("max") => Ok(Some(Rate::Frequency(u64::MAX))),
        Some(text) => match text.parse() {
            Ok(0) | Err(_) => Err(usage(format_args!(
                "-F takes samples per second, at least 1, or max; not '{text}'"
            ))),
            Ok(hz) => Ok(Some(Rate::Frequency(hz))),
        },
    }
}

/// The ring size of `-m`; prints a note if it was rounded up.
fn asked_ring_pages(args: &RecordArgs) -> Result<Option<usize>> {
    let Some(text) = &args.output.mmap_pages else {
        return Ok(None);
    };
    let pages = ring_pages(text)?;
    if text.parse().is_ok_and(|typed: usize| typed != pages) && !args.quiet {
        say::line(format_args!("-m {text}: rounded up to {pages} pages"));
    }
    Ok(Some(pages))
}

/// Pages, or bytes with a unit; rounded up to a power of two of pages, as perf does.
fn ring_pages(text: &str) -> Result<usize> {
    let bad = || {
        usage(format_args!(
            "-m takes pages, or a size such as 512K; not '{text}'"
        ))
    };
    let pages = match bytes_with_unit(text) {
        Some(bytes) => usize::try_from(bytes)
            .map_err(|_| bad())?
            .div_ceil(page_size()),
        None => text.parse().map_err(|_| bad())?,
    };
    match pages {
        0 => Err(bad()),
        pages => pages.checked_next_power_of_two().ok_or_else(bad),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ring_sizes_are_pages_or_bytes_rounded_up() {
        assert_eq!(ring_pages("128").unwrap(), 128);
        assert_eq!(ring_pages("100").unwrap(), 128);
        assert_eq!(ring_pages("512K").unwrap() * page_size(), 512 << 10);
        assert_eq!(ring_pages("1M").unwrap() * page_size(), 1 << 20);
        assert_eq!(ring_pages("1B").unwrap(), 1);
        for bad in ["", "0", "x", "-1", "K", "99999999999999999999G"] {
            assert!(ring_pages(bad).is_err(), "{bad}");
        }
    }
}
