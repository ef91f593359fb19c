//! `rprof record`.

use super::symbols::embed;
use crate::args::{CallGraph, LimitArgs, RecordArgs};
use crate::say;
use crate::usage::{of_event, usage};
use anyhow::{Context, Result};
use rprof_base::{Counted, Share, StackEnd};
use rprof_events::{Event, EventError, Sources, parse_cpu_list, parse_events};
use rprof_locate::Locator;
use rprof_perfdata::Reader;
use rprof_perfdata::feature::StackEnds;
use rprof_process::exit_code;
use rprof_profile::Coverage;
use rprof_record::{
    CallChains, EventCount, MOST_STACK_BYTES, Note, Output, Rate, Settings, Summary, Tool, Watch,
    record,
};
use rprof_ringbuf::sys::{Rights, effective_uid, mount_tracefs, page_size};
use rprof_untrusted::{Untrusted, quoted};
use std::fs::File;
use std::io::{ErrorKind, IsTerminal};
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// Why rights are missing that the executable seems to have.
const DROPPED: &str = "everybody may execute this rprof: the capabilities of its file are dropped, as \
                       they are meant for a group (README.md, \"For a team\")";

pub(crate) fn run(args: &RecordArgs, rights: Rights) -> Result<ExitCode> {
    if rights == Rights::Dropped && !args.quiet {
        say::line(DROPPED);
    }
    let mut note = |note: Note| {
        if args.verbose > 0 || !(args.quiet || note.is_detail()) {
            say::line(&note);
        }
    };
    let settings = settings(args)?;
    let mut summary = match record(&settings, &mut note) {
        Err(error) if is_reader_gone(&error, &settings.output) => return Ok(reader_gone(&error)),
        Err(error) if rights == Rights::Dropped && args.quiet => {
            // It may be why.
            say::line(DROPPED);
            return Err(error.into());
        }
        recorded => recorded?,
    };
    if let (true, Output::File(path)) = (args.embed_symbols, &summary.output)
        && summary.samples > 0
    {
        let locator = |reader: &Reader| Locator {
            kept: settings.kept_files.clone(),
            budget: reader.budget().clone(),
            ..Locator::default()
        };
        match embed(path, None, LimitArgs::default(), locator) {
            Ok(done) => {
                summary.size_bytes = done.size_bytes;
                if !args.quiet {
                    say::line(done);
                }
            }
            // The recording is whole all the same.
            Err(error) => say::warning(format_args!("names are not in the file: {error:#}")),
        }
    }
    tell(&summary, args.quiet);
    Ok(match summary.status {
        Some(status) => ExitCode::from(exit_code(status)),
        None => ExitCode::SUCCESS,
    })
}

/// Whether the reader of the pipe has left.
fn is_reader_gone(error: &rprof_record::Error, output: &Output) -> bool {
    let rprof_record::Error::Write {
        source: rprof_perfdata::Error::Io { source, .. },
        ..
    } = error
    else {
        return false;
    };
    matches!(output, Output::Pipe(_)) && source.kind() == ErrorKind::BrokenPipe
}

/// It knows what it does: no error of ours. The command's status is passed on.
fn reader_gone(error: &rprof_record::Error) -> ExitCode {
    say::line("the reader of the pipe has gone: what came later is not recorded");
    match error {
        rprof_record::Error::Write {
            status: Some(status),
            ..
        } => ExitCode::from(exit_code(*status)),
        _ => ExitCode::SUCCESS,
    }
}

/// What came of it.
fn tell(summary: &Summary, is_quiet: bool) {
    if !is_quiet || summary.lost_samples.is_some_and(|lost| lost > 0) {
        say::line(sentence(summary));
    }
    if let Some(how_much) = coverage(summary)
        && !is_quiet
    {
        say::line(how_much);
    }
    if let Some(why) = why_not_whole(summary)
        && !is_quiet
    {
        say::line(why);
    }
    if summary.shortened > 0 {
        say::warning(format_args!(
            "the writer could not keep up: the stack dumps of {} were shortened (a faster \
             disk, or a lower -F, would help)",
            Counted::new(summary.shortened, "sample", "samples")
        ));
    }
    if summary.lost_sideband > 0 {
        say::warning(format_args!(
            "{} lost: some frames will have no name (larger rings with -m)",
            Counted::new(
                summary.lost_sideband,
                "mapping or name was",
                "mappings or names were"
            )
        ));
    }
}

fn settings(args: &RecordArgs) -> Result<Settings> {
    let cpus = args.cpu.as_deref().map(parse_cpu_list).transpose();
    let cpus = cpus.map_err(of_event)?;
    let watch = if !args.pid.is_empty() {
        Watch::Processes(args.pid.clone())
    } else if !args.tid.is_empty() {
        Watch::Threads(args.tid.clone())
    } else if args.all_cpus || cpus.is_some() {
        Watch::All
    } else {
        Watch::Command
    };
    Ok(Settings {
        events: events(&args.events, args.quiet)?,
        rate: rate(args)?,
        call_chains: call_chains(args)?,
        watch,
        children: args.children,
        cpus,
        command: args.command.clone(),
        duration: args.duration.map(duration).transpose()?,
        ring_pages: args.mmap_pages.as_deref().map(ring_pages).transpose()?,
        output: output(args)?,
        strict_rate: args.perfs.strict_freq,
        bpf_events: !args.perfs.no_bpf_event,
        kernel_build_ids: args.perfs.buildid_mmap,
        kept_files: args.embed_symbols.then(Arc::default),
        include_self: args.include_self,
        wait_all: args.wait_all,
        tool: Tool {
            command_line: std::env::args_os()
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
            version: concat!("rprof ", env!("CARGO_PKG_VERSION")).to_owned(),
        },
    })
}

fn call_chains(args: &RecordArgs) -> Result<CallChains> {
    let keep = args.post_unwind;
    Ok(match args.call_graph {
        CallGraph::Dwarf(bytes) => CallChains::Dwarf { bytes, keep },
        CallGraph::Auto if keep => CallChains::Dwarf {
            bytes: MOST_STACK_BYTES,
            keep,
        },
        _ if keep => {
            let why = "--post-unwind needs stack dumps: --call-graph auto or dwarf";
            return Err(usage(why));
        }
        CallGraph::Auto => CallChains::Auto,
        CallGraph::Fp => CallChains::FramePointers,
        CallGraph::Lbr => CallChains::BranchRecords,
        CallGraph::None if args.callers => CallChains::Auto,
        CallGraph::None => CallChains::None,
    })
}

fn output(args: &RecordArgs) -> Result<Output> {
    if args.output.as_os_str() != "-" {
        return Ok(Output::File(args.output.clone()));
    }
    if args.embed_symbols {
        let why = "--embed-symbols needs a file: a pipe cannot be added to (-o FILE)";
        return Err(usage(why));
    }
    let stdout = std::io::stdout();
    if stdout.is_terminal() {
        return Err(usage(
            "-o - is for a program or a file, not for a terminal: \
             rprof record -o - ... | rprof report -i -",
        ));
    }
    let pipe = stdout.as_fd().try_clone_to_owned();
    let pipe = pipe.context("duplicating standard output")?;
    Ok(Output::Pipe(Arc::new(File::from(pipe))))
}

fn events(lists: &[String], is_quiet: bool) -> Result<Vec<Event>> {
    let parse = |list: &str| parse_events(list, &Sources::default());
    let mut events = Vec::new();
    for list in lists {
        let parsed = match parse(list) {
            Err(EventError::TracefsMissing { path, .. }) if mount_tracefs(&path).is_ok() => {
                if !is_quiet {
                    let path = path.display();
                    say::line(format_args!("tracefs was not mounted, now it is: {path}"));
                }
                parse(list)
            }
            parsed => parsed,
        };
        events.extend(parsed.map_err(of_event)?);
    }
    Ok(events)
}

fn rate(args: &RecordArgs) -> Result<Option<Rate>> {
    if let Some(period) = args.period {
        return Ok(Some(Rate::Period(period)));
    }
    match args.frequency.as_deref() {
        None => Ok(None),
        // The kernel's limit lowers it.
        Some("max") => Ok(Some(Rate::Frequency(u64::MAX))),
        Some(text) => match text.parse() {
            Ok(0) | Err(_) => Err(usage(format_args!(
                "-F takes samples a second, at least 1, or max; not '{text}'"
            ))),
            Ok(hz) => Ok(Some(Rate::Frequency(hz))),
        },
    }
}

fn duration(seconds: f64) -> Result<Duration> {
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|time| !time.is_zero())
        .ok_or_else(|| usage(format_args!("--duration takes seconds, not {seconds}")))
}

/// Pages, or bytes with a unit; rounded up to a power of two of pages, as perf does.
fn ring_pages(text: &str) -> Result<usize> {
    let bad = || {
        usage(format_args!(
            "-m takes pages, or a size such as 512K; not '{text}'"
        ))
    };
    let units = [("B", 1), ("K", 1 << 10), ("M", 1 << 20), ("G", 1 << 30)];
    let unit = units
        .iter()
        .find_map(|(name, bytes)| Some((text.strip_suffix(name)?, *bytes)));
    let pages = match unit {
        Some((number, bytes)) => {
            let number: usize = number.parse().ok().ok_or_else(bad)?;
            number
                .checked_mul(bytes)
                .ok_or_else(bad)?
                .div_ceil(page_size())
        }
        None => text.parse().ok().ok_or_else(bad)?,
    };
    match pages {
        0 => Err(bad()),
        pages => pages.checked_next_power_of_two().ok_or_else(bad),
    }
}

/// The one line at the end.
fn sentence(summary: &Summary) -> String {
    let (place, next) = match &summary.output {
        Output::File(path) if path.as_os_str() == "perf.data" => {
            ("perf.data".to_owned(), "; next: rprof report".to_owned())
        }
        Output::File(path) => {
            let word = quoted(path.as_os_str());
            (
                path.display().to_string(),
                format!("; next: rprof report -i {word}"),
            )
        }
        Output::Pipe(_) => ("the pipe".to_owned(), String::new()),
    };
    let size = size(summary.size_bytes);
    let lost = match summary.lost_samples {
        // Of all that were taken.
        Some(lost) if lost > 0 && summary.own_samples + summary.others_samples > 0 => {
            format!("at most {lost} lost")
        }
        Some(lost) => format!("{lost} lost"),
        None => format!("at least {} lost", summary.lost_at_least),
    };
    let stacks = summary.stacks.as_ref().and_then(whole_stacks);
    let stacks = stacks.map_or(String::new(), |stacks| format!(", {stacks}"));
    let throttled = match summary.throttled {
        0 => String::new(),
        n => format!(", throttled {}", Counted::new(n, "time", "times")),
    };
    let next = match summary.samples {
        0 => format!("; {}", why_no_samples(summary)),
        _ => next,
    };
    format!(
        "{} in {place} ({size}), {lost}{throttled}{stacks}{next}",
        Counted::new(summary.samples, "sample", "samples")
    )
}

/// Why there are none, by what the events counted.
fn why_no_samples(summary: &Summary) -> String {
    let own = summary.own_samples;
    if own > 0 {
        return format!("all {own} were of rprof itself (--include-self keeps them)");
    }
    let why: Vec<String> = summary.event_counts.iter().map(why_none).collect();
    match why.is_empty() {
        true => "no samples: idle, or too short; a higher -F may help".to_owned(),
        false => format!("no samples: {}", why.join(", ")),
    }
}

fn why_none(event: &EventCount) -> String {
    let EventCount {
        name,
        count,
        period,
    } = event;
    let is_clock = name.starts_with("cpu-clock") || name.starts_with("task-clock");
    match (count, period) {
        _ if name.starts_with("dummy") => format!("'{name}' takes none, it counts nothing"),
        (_, None) if is_clock => "too short, or idle; a higher -F may help".to_owned(),
        (ns, Some(period)) if is_clock => {
            format!("'{name}' counted {ns} ns, a sample takes {period}: a smaller -c may help")
        }
        (0, _) => format!("'{name}' did not happen"),
        (n, Some(period)) => {
            let times = Counted::new(*n, "time", "times");
            format!("'{name}' happened {times}, a sample takes {period}: a smaller -c may help")
        }
        (n, None) => {
            let times = Counted::new(*n, "time", "times");
            format!("'{name}' happened {times}: a higher -F may help")
        }
    }
}

/// How many stacks were unwound to where their thread began.
fn whole_stacks(ends: &StackEnds) -> Option<String> {
    let others: u64 = ends.reasons.iter().map(|reason| reason.stacks).sum();
    match (ends.complete, others) {
        (0, 0) => None,
        (_, 0) => Some("all stacks complete".to_owned()),
        (complete, others) => {
            let share = Share::of(complete, complete + others);
            Some(format!("{share:.1} % of stacks complete"))
        }
    }
}

/// How much the samples cover, if that is little, and what covers more.
fn coverage(summary: &Summary) -> Option<String> {
    let coverage = summary.coverage?;
    let event = usize::try_from(coverage.event).ok();
    let event = event.and_then(|event| summary.event_counts.get(event));
    let coverage = Coverage {
        covered: coverage.covered,
        count: coverage.count,
        of: coverage.unit.words(event.map_or("?", |event| &event.name)),
    };
    let more = match (summary.is_by_cpu, effective_uid()) {
        (true, _) => "a higher -F may cover more",
        (false, 0) => "-a covers them",
        (false, _) => "sudo rprof record covers them",
    };
    Some(format!("{coverage} ({more})"))
}

/// Why others are not, if they are more than a few: the reason of most of them.
fn why_not_whole(summary: &Summary) -> Option<String> {
    let ends = summary.stacks.as_ref()?;
    let others: u64 = ends.reasons.iter().map(|reason| reason.stacks).sum();
    if others.saturating_mul(50) <= ends.complete {
        return None;
    }
    let most = ends.reasons.iter().max_by_key(|reason| reason.stacks)?;
    let image = Untrusted::of_bytes(&most.image);
    let why = match most.end {
        StackEnd::Truncated => "deeper than their dumps".to_owned(),
        StackEnd::NoInfo => format!("code without unwind tables in {image}"),
        StackEnd::Guess => format!("by frame pointers alone through {image}"),
        StackEnd::BadInfo => format!("unusable unwind tables in {image}"),
        StackEnd::NotCopied => "not in memory, or exec was replacing them".to_owned(),
        StackEnd::Unreadable => "of processes that may not be inspected (sudo may)".to_owned(),
        _ => "no caller where one should be".to_owned(),
    };
    Some(format!(
        "{} of {}: {why} (rprof report --stats tells more)",
        most.stacks,
        Counted::new(ends.complete + others, "stack", "stacks")
    ))
}

#[expect(clippy::cast_precision_loss, reason = "a size that is displayed")]
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_perfdata::feature::EndReason;
    use rprof_profile::{self as profile, Unwound};

    #[test]
    fn stacks_are_counted_as_in_a_report() {
        let cut = |stacks| EndReason {
            end: StackEnd::Truncated,
            image: Vec::new(),
            stacks,
        };
        let ended = |end, samples| profile::EndedStacks {
            end,
            image: None,
            samples,
        };
        for (complete, others) in [(99_999, 1), (982, 18), (2, 1), (0, 1)] {
            let ends = StackEnds {
                complete,
                reasons: vec![cut(others)],
                ..StackEnds::default()
            };
            let both = [
                (StackEnd::Complete, complete),
                (StackEnd::Truncated, others),
            ];
            let report = Unwound::of(both.map(|(end, samples)| ended(end, samples)).into_iter());
            let (ours, theirs) = (whole_stacks(&ends).unwrap(), report.summary().unwrap());
            let share = ours.strip_suffix(" of stacks complete").unwrap();
            assert!(
                theirs.starts_with(&format!("{share} complete, ")),
                "{ours}: {theirs}"
            );
        }
    }

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
