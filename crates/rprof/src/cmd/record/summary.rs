//! The summary printed when a recording ends.

use super::stacks::{whole_stacks, why_not_whole};
use crate::say;
use crate::sudo::sudo_rprof;
use rprof_base::{Counted, Share};
use rprof_perfdata::feature::SampleThinning;
use rprof_process::killed_by;
use rprof_profile::{self as profile, Coverage};
use rprof_record::{EventCount, Output, Summary, WatchpointUse};
use rprof_ringbuf::sys::effective_uid;
use rprof_untrusted::quoted;

/// Prints the summary: one line for the result, and whatever else the user should know.
pub(super) fn tell(summary: &Summary, all: fn(&Summary) -> String, is_quiet: bool, verbosity: u8) {
    let say_unless_quiet = |line: Option<String>| {
        line.filter(|_| !is_quiet).into_iter().for_each(say::line);
    };
    let killed = death(summary).map(|signal| format!("the command was killed by {signal}"));
    say_unless_quiet(killed);
    if !is_quiet || summary.lost_samples.is_some_and(|lost| lost > 0) {
        say::line(all(summary));
    }
    say_unless_quiet(given_up(summary));
    if verbosity > 0 {
        say::line(cost(summary));
        let completed = summary.stacks.as_ref().map_or(0, |stacks| stacks.completed);
        let used = watchpoints(summary.watchpoints, completed);
        used.into_iter().for_each(say::line);
    }
    say_unless_quiet(coverage(summary));
    say_unless_quiet(why_not_whole(summary));
    if let Some(what) = late_writer(summary) {
        say::warning(what);
    }
    if summary.lost_sideband > 0 {
        say::warning(format_args!(
            "{} lost: some frames will have no name (processes started faster than their records could be written)",
            Counted::new(
                summary.lost_sideband,
                "mapping or name was",
                "mappings or names were"
            )
        ));
    }
}

/// Prints the end of a recording that was shown live.
pub(in crate::cmd) fn tell_of_end(summary: &Summary) {
    tell(summary, brief, false, 0);
}

/// The signal that killed the command, unless it also ended the recording.
fn death(summary: &Summary) -> Option<String> {
    let status = summary.status.filter(|_| summary.ended_by.is_none());
    status.and_then(killed_by)
}

/// A shorter recording may have begun and ended at any moment of what it is of.
const LONG_NS: u64 = 200_000_000;

/// That there was little to sample, if so.
fn waited(summary: &Summary) -> String {
    let (ran_ns, wall_ns) = (summary.ran_ns.unwrap_or(u64::MAX), summary.cost.wall_ns);
    if summary.has_off_cpu || wall_ns < LONG_NS || ran_ns.saturating_mul(10) > wall_ns {
        return String::new();
    }
    let share = Share::of(ran_ns, wall_ns);
    format!("; it ran {share:.1} % of the time (waiting, including for a free CPU, is not sampled)")
}

/// What happened to samples because the writer could not keep up, and what would help.
fn late_writer(summary: &Summary) -> Option<String> {
    let lost = summary.lost_samples.unwrap_or(summary.lost_at_least);
    let what = match summary.shortened {
        0 if lost == 0 || !summary.was_writer_late => return None,
        0 => "samples were lost".to_owned(),
        shortened => {
            let samples = Counted::new(shortened, "sample", "samples");
            format!("the stack dumps of {samples} were shortened")
        }
    };
    let help = match summary.compression {
        Some(level @ 2..) => format!("it compresses at level {level}; -z1 is faster"),
        _ => "free CPUs, a faster disk, or a lower -F would help".to_owned(),
    };
    Some(format!("the writer could not keep up: {what} ({help})"))
}

/// The final line if the recording is read immediately.
pub(super) fn brief(summary: &Summary) -> String {
    let samples = Counted::new(summary.samples, "sample", "samples");
    let missing = missing(summary);
    match summary.samples {
        0 => why_no_samples(summary),
        _ => format!("{samples}, {missing}{}", waited(summary)),
    }
}

/// The final line of a flight recorder without a trigger.
fn why_nothing_kept(summary: &Summary) -> String {
    let limit = ["", "try a shorter limit, or "][usize::from(summary.has_limits_of_spans)];
    format!("no trigger fired, so nothing was kept: {limit}send SIGUSR2 to rprof while it records")
}

/// The final line.
pub(super) fn sentence(summary: &Summary) -> String {
    if summary.flight_windows == Some(0) {
        return why_nothing_kept(summary);
    }
    let view = if summary.has_off_cpu { " --wall" } else { "" };
    let (place, next) = match &summary.output {
        Output::File(path) if path.as_os_str() == "perf.data" => (
            "perf.data".to_owned(),
            format!("; next: rprof report{view}"),
        ),
        Output::File(path) => {
            let word = quoted(path.as_os_str());
            (
                path.display().to_string(),
                format!("; next: rprof report{view} -i {word}"),
            )
        }
        Output::Pipe(_) => ("the pipe".to_owned(), String::new()),
        Output::Segments(_) => ("memory".to_owned(), String::new()),
    };
    let size = match summary.uncompressed_bytes {
        Some(plain) => {
            let (compressed, plain) = (size(summary.size_bytes), size(plain));
            format!("{compressed}, compressed from {plain}")
        }
        None => size(summary.size_bytes),
    };
    let stacks = whole_stacks(summary);
    let stacks = stacks.map_or(String::new(), |stacks| format!(", {stacks}"));
    let missing = missing(summary);
    let next = match summary.samples {
        0 if !summary.has_off_cpu => format!("; {}", why_no_samples(summary)),
        _ => format!("{}{next}", waited(summary)),
    };
    let place = match summary.earlier_files {
        0 => place,
        n => match summary.removed_files {
            0 => format!("{} files, the last {place}", n + 1),
            gone => {
                let more = match summary.flight_windows {
                    Some(_) => " (--switch-max-files keeps more)",
                    None => "",
                };
                format!("{} files, {gone} removed{more}, the last {place}", n + 1)
            }
        },
    };
    let samples = Counted::new(summary.samples, "sample", "samples");
    let samples = match summary.thinning {
        Some(SampleThinning { taken, kept, .. }) => profile::Thinning { taken, kept }.to_string(),
        None => samples.to_string(),
    };
    format!("{samples} in {place} ({size}), {missing}{stacks}{next}")
}

/// Number of lost samples, and how often the kernel throttled.
fn missing(summary: &Summary) -> String {
    let lost = match summary.lost_samples {
        // Of all that were taken.
        Some(lost) if lost > 0 && summary.own_samples + summary.others_samples > 0 => {
            format!("at most {lost} lost")
        }
        Some(lost) => format!("{lost} lost"),
        None => format!("at least {} lost", summary.lost_at_least),
    };
    let held = summary.enough_pages.filter(|_| !summary.was_writer_late);
    let is_any_lost = summary.lost_samples.unwrap_or(summary.lost_at_least) > 0;
    let lost = match (held, is_any_lost && summary.has_dumps_of_hits) {
        (Some(pages), true) => {
            format!("{lost} (-m {pages} would have held them; --call-graph fp needs less space)")
        }
        (Some(pages), false) => format!("{lost} (-m {pages} would have held them)"),
        (None, true) => format!("{lost} (--call-graph fp needs less space)"),
        (None, false) => lost,
    };
    let throttled = match summary.throttled {
        0 => String::new(),
        n => format!(", throttled {}", Counted::new(n, "time", "times")),
    };
    format!("{lost}{throttled}")
}

/// What the recording cost.
#[expect(clippy::cast_precision_loss, reason = "seconds that are displayed")]
fn cost(summary: &Summary) -> String {
    let cost = summary.cost;
    let share = Share::of(cost.cpu_ns, cost.wall_ns);
    format!(
        "rprof itself used {:.3} s of CPU time, {share:.1} % of a CPU; it read {} from the ring buffers and wrote {}",
        cost.cpu_ns as f64 / 1e9,
        size(cost.ring_bytes),
        size(cost.written_bytes)
    )
}

/// How deep stacks were verified; `None` if no stack was deep.
fn watchpoints(used: WatchpointUse, completed: u64) -> Option<String> {
    if used == WatchpointUse::default() {
        return None;
    }
    let WatchpointUse {
        set,
        hit,
        taken_back,
        withheld,
        refused,
        unattended,
    } = used;
    let refused = match refused {
        0 => String::new(),
        n => {
            format!(", {n} refused by the kernel (all in use, none on this CPU, or not permitted)")
        }
    };
    let unattended = match unattended {
        0 => String::new(),
        n => format!(", {n} not set since no thread would have removed them in time"),
    };
    Some(format!(
        "deep stacks: {completed} completed by {}: {hit} hit, {taken_back} removed and {withheld} left to a \
         debugger or to events that the program may have opened{refused}{unattended}; use --no-watchpoints to set none",
        Counted::new(set, "watchpoint", "watchpoints")
    ))
}

/// What was given up to stay within the budget; `None` if nothing was.
#[expect(clippy::cast_precision_loss, reason = "seconds that are displayed")]
fn given_up(summary: &Summary) -> Option<String> {
    let budget = summary.budget?;
    let rarer = format!("{} Hz at the end", budget.hz);
    let cuts = [
        (budget.small_dumps_after_ns, "small stack dumps"),
        (
            budget.not_unwound_after_ns,
            "callers from frame pointers only",
        ),
        (budget.rarer_after_ns, &rarer),
    ];
    let cuts = cuts.iter().filter(|(after_ns, _)| *after_ns > 0);
    let cuts = cuts.map(|(after_ns, what)| format!("{what} after {:.1} s", *after_ns as f64 / 1e9));
    let cuts: Vec<String> = cuts.collect();
    let percent = budget.percent;
    (!cuts.is_empty()).then(|| {
        format!(
            "to stay within --cpu-percent {percent}: {}",
            cuts.join(", ")
        )
    })
}

/// Why there are no samples, by the events' counts.
fn why_no_samples(summary: &Summary) -> String {
    let own = summary.own_samples;
    if !summary.was_on {
        return "no samples: they were never enabled (-D, --control)".to_owned();
    }
    if own > 0 {
        return format!("all {own} were of rprof itself (use --include-self to keep them)");
    }
    if summary.lost_samples.is_some_and(|lost| lost > 0) {
        return "no samples: all may have been lost".to_owned();
    }
    let why: Vec<String> = summary.event_counts.iter().map(why_none).collect();
    if why.is_empty() {
        "no samples: idle, or too short; a higher -F may help".to_owned()
    } else {
        format!("no samples: {}", why.join(", "))
    }
}

fn why_none(event: &EventCount) -> String {
    let EventCount {
        name,
        count,
        period,
        is_filtered,
    } = event;
    let is_clock = name.starts_with("cpu-clock") || name.starts_with("task-clock");
    match (count, period) {
        _ if name.starts_with("dummy") => format!("'{name}' takes no samples: it counts nothing"),
        // None were asked for, or its group's leader has them.
        (ns, Some(0)) if is_clock => format!("'{name}' counted {ns} ns"),
        (n, Some(0)) => format!("'{name}' happened {}", Counted::new(*n, "time", "times")),
        (_, None) if is_clock => "too short, or idle; a higher -F may help".to_owned(),
        (ns, Some(period)) if is_clock => {
            format!("'{name}' counted {ns} ns, a sample takes {period}: a smaller -c may help")
        }
        (0, _) if *is_filtered => format!("no hit of '{name}' matches its filter"),
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

/// How much of the work the samples cover, if little, and how to cover more.
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
        (true, _) => "a higher -F may cover more".to_owned(),
        (false, 0) => "-a covers them".to_owned(),
        (false, _) if is_live(summary) => format!("{} top covers them", sudo_rprof()),
        (false, _) => format!("{} record covers them", sudo_rprof()),
    };
    Some(format!("{coverage} ({more})"))
}

/// Whether the recording was shown live (`rprof top`).
pub(super) fn is_live(summary: &Summary) -> bool {
    matches!(summary.output, Output::Segments(_))
}

#[expect(clippy::cast_precision_loss, reason = "a size that is displayed")]
pub(in crate::cmd) fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_refuses_is_not_said_to_be_a_debuggers() {
        let used = WatchpointUse {
            refused: 37,
            ..WatchpointUse::default()
        };
        let said = watchpoints(used, 0).unwrap();
        let claimed = "0 removed and 0 left to a debugger";
        assert!(said.contains(claimed) && said.contains(", 37 refused by the kernel ("));
        assert_eq!(watchpoints(WatchpointUse::default(), 0), None);
    }
}
