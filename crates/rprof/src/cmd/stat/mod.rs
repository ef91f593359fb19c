//! `rprof stat`.

mod kept;
mod metrics;

use super::record::with_filters;
use crate::args::{CountDelay, CountOutputArgs, CountedArgs, StatArgs};
use crate::usage::{of_event, usage};
use crate::{say, target};
use anyhow::{Context, Result, anyhow};
pub(crate) use kept::{record, report};
use metrics::metrics;
use rprof_abi::AttrFlags;
use rprof_base::Counted;
use rprof_events::{Event, Sources, group_all, parse_cpu_list, parse_events};
use rprof_probes::{Defined, Searched, resolve};
use rprof_process::exit_code;
use rprof_stat::{
    Aggregation, Cgroups, CountForm, DefaultSet, StatEnd, StatSettings, Style, WhoseEvents,
    default_events, detail_events, stat, topdown_events,
};
use rprof_targets::rights::advice::without_kernel;
use rprof_untrusted::{Goal, open_to_append};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) fn run(args: &StatArgs) -> Result<ExitCode> {
    let (settings, _defined) = settings(args)?;
    let mut out = opened(&args.output)?;
    let outcome = stat(&settings, None, &mut out)?;
    drop(out);
    Ok(ended(&outcome))
}

/// Says what was not counted; the status is the command's.
fn ended(outcome: &StatEnd) -> ExitCode {
    outcome.refused.iter().for_each(say::warning);
    if outcome.uncounted_children > 0 {
        let n = outcome.uncounted_children as u64;
        say::line(format_args!(
            "{} already running, not counted (use --children to count them, too)",
            Counted::new(n, "child process", "child processes")
        ));
    }
    if !outcome.not_permitted.is_empty() {
        say::line(format_args!(
            "not permitted to count {}: kernel events ({})",
            outcome.not_permitted.join(", "),
            without_kernel()
        ));
    }
    if !outcome.never_counted.is_empty() {
        say::line(format_args!(
            "never counted: {}: not enough hardware counters (use a smaller group, fewer events, or \
             kernel.nmi_watchdog=0)",
            outcome.never_counted.join(", ")
        ));
    }
    match outcome.status {
        Some(status) => ExitCode::from(exit_code(status)),
        None => ExitCode::SUCCESS,
    }
}

/// Where counts are written for people and programs.
fn opened(args: &CountOutputArgs) -> Result<Box<dyn Write>> {
    Ok(match &args.output {
        None => Box::new(BufWriter::new(io::stderr())),
        Some(path) => Box::new(BufWriter::new(output(path, args.append)?)),
    })
}

/// A file for counts, which grow while they are written: unlike other outputs it has its name from the start.
fn output(path: &Path, append: bool) -> Result<File> {
    let doing = || format!("writing {}", path.display());
    if let Goal::There(seen) = Goal::of(path).with_context(doing)? {
        return seen.open(File::options().write(true)).with_context(doing);
    }
    if !append || !path.exists() {
        target::write(Some(path), |_| Ok(()))?;
    }
    open_to_append(path).with_context(doing)
}

/// What is counted; the definitions of its probes must stay until then.
fn settings(args: &StatArgs) -> Result<(StatSettings, Option<Defined>)> {
    let watch = watch(args)?;
    let aggregation = aggregation(args, &watch)?;
    let cpus = args.targets.cpu.as_deref().map(parse_cpu_list).transpose();
    let of_cpus = watch == WhoseEvents::All;
    let sources = Sources::default();
    let (mut events, defined) = placed(events(args, of_cpus, &sources)?, args, &watch)?;
    let metrics = metrics(args, &sources, &mut events)?;
    restrict(args, &mut events);
    let settings = StatSettings {
        events,
        metrics,
        cpus: cpus.map_err(of_event)?,
        cgroups: cgroups(args)?,
        command: args.command.clone(),
        aggregation,
        children: args.targets.children,
        inherit: !args.targets.no_inherit,
        scale: !args.events.no_scale,
        repeat: args.runs.repeat,
        delay: match args.runs.delay {
            Some(CountDelay::Time(delay)) if !delay.is_zero() => Some(delay),
            _ => None,
        },
        starts_off: args.runs.delay == Some(CountDelay::UntilTold),
        control: args.runs.control.clone(),
        interval: args.runs.interval_print,
        interval_count: args.runs.interval_count,
        timeout: args.runs.timeout,
        style: style(args)?,
        sysfs: PathBuf::from("/sys"),
        watch,
    };
    Ok((settings, defined))
}

/// The events, their probes defined: threads and children are to have them.
fn placed(
    events: Vec<Event>,
    args: &StatArgs,
    watch: &WhoseEvents,
) -> Result<(Vec<Event>, Option<Defined>)> {
    if events.iter().all(|event| event.probe.is_none()) {
        return Ok((events, None));
    }
    let searched = match (watch, args.command.first()) {
        (WhoseEvents::Processes(ids) | WhoseEvents::Threads(ids), _) => Searched::Tasks(ids),
        (_, Some(command)) => Searched::Command(command),
        (_, None) => Searched::Nowhere,
    };
    let (defined, events) = Defined::new(&resolve(&events, searched)?)?;
    Ok((events, Some(defined)))
}

fn watch(args: &StatArgs) -> Result<WhoseEvents> {
    let targets = &args.targets;
    let has_groups = !(targets.cgroup.is_empty() && targets.for_each_cgroup.is_empty());
    Ok(if !targets.pid.is_empty() {
        WhoseEvents::Processes(targets.pid.clone())
    } else if !targets.tid.is_empty() {
        WhoseEvents::Threads(targets.tid.clone())
    } else if targets.all_cpus || targets.cpu.is_some() || has_groups {
        WhoseEvents::All
    } else if args.command.is_empty() {
        return Err(usage(
            "nothing to count: give a command (rprof stat -- COMMAND), processes (-p), threads (-t), or all CPUs \
             (-a)",
        ));
    } else {
        WhoseEvents::Command
    })
}

fn aggregation(args: &StatArgs, watch: &WhoseEvents) -> Result<Aggregation> {
    let sums = &args.sums;
    let of_cpus = [
        (sums.no_aggr, "-A", Aggregation::Cpu),
        (sums.per_core, "--per-core", Aggregation::Core),
        (sums.per_die, "--per-die", Aggregation::Die),
        (sums.per_socket, "--per-socket", Aggregation::Socket),
        (sums.per_node, "--per-node", Aggregation::Node),
    ];
    if let Some((_, flag, aggregation)) = of_cpus.into_iter().find(|(is_asked, ..)| *is_asked) {
        if *watch != WhoseEvents::All {
            return Err(usage(format_args!(
                "{flag} needs -a or -C: it does not work with a command, processes or threads"
            )));
        }
        return Ok(aggregation);
    }
    match (sums.per_thread, watch) {
        (false, _) => Ok(Aggregation::Global),
        (true, WhoseEvents::Command) => Err(usage(
            "--per-thread needs threads that are already running: use -p, -t or -a",
        )),
        (true, _) => Ok(Aggregation::Thread),
    }
}

fn cgroups(args: &StatArgs) -> Result<Cgroups> {
    let targets = &args.targets;
    if !targets.for_each_cgroup.is_empty() {
        return Ok(Cgroups::Each(targets.for_each_cgroup.clone()));
    }
    if targets.cgroup.is_empty() {
        return Ok(Cgroups::All);
    }
    if args.sums.per_thread {
        return Err(usage("-G counts on CPUs: leave out --per-thread"));
    }
    let names = targets.cgroup.iter();
    let name = |name: &String| (!name.is_empty()).then(|| name.clone());
    Ok(Cgroups::ByEvent(names.map(name).collect()))
}

fn events(args: &StatArgs, of_cpus: bool, sources: &Sources) -> Result<Vec<Event>> {
    let asked = &args.events;
    if asked.null {
        return Ok(Vec::new());
    }
    if asked.topdown {
        let level = usize::from(asked.td_level.unwrap_or(1));
        let events = topdown_events(sources, level).map_err(of_event)?;
        return events.ok_or_else(|| {
            anyhow!(
                "this machine does not count slots at level {level}: sysfs lacks the topdown events (level 1 needs \
                 an Intel processor and its PMU, level 2 Sapphire Rapids or later)"
            )
        });
    }
    let mut events = named(asked, of_cpus, sources)?;
    if asked.group {
        group_all(&mut events).map_err(of_event)?;
    }
    Ok(events)
}

/// What was named, or the default set.
fn named(asked: &CountedArgs, of_cpus: bool, sources: &Sources) -> Result<Vec<Event>> {
    let set = match asked.detailed {
        0 => DefaultSet::Usual,
        1 => DefaultSet::Data,
        2 => DefaultSet::Addresses,
        _ => DefaultSet::Prefetches,
    };
    if asked.events.is_empty() && asked.metrics.is_empty() {
        return default_events(sources, of_cpus, set).map_err(of_event);
    }
    let parse = |list: &str| parse_events(list, sources);
    let events = with_filters(&asked.events, &asked.filters, sources, parse);
    let mut events = events.map_err(of_event)?;
    events.extend(detail_events(sources, set).map_err(of_event)?);
    Ok(events)
}

/// `--all-user`, `--all-kernel`.
fn restrict(args: &StatArgs, events: &mut [Event]) {
    let excluded = match (args.events.all_user, args.events.all_kernel) {
        (true, _) => AttrFlags::EXCLUDE_KERNEL.with(AttrFlags::EXCLUDE_HV),
        (_, true) => AttrFlags::EXCLUDE_USER,
        _ => AttrFlags::default(),
    };
    for event in events {
        event.attr.flags = event.attr.flags.with(excluded);
    }
}

fn style(args: &StatArgs) -> Result<Style> {
    Ok(Style {
        metric_only: args.output.metric_only || args.events.topdown,
        table: args.runs.table,
        summary: args.runs.summary,
        ..style_of(&args.output)?
    })
}

fn style_of(output: &CountOutputArgs) -> Result<Style> {
    let form = match (&output.field_separator, output.json_output) {
        (Some(separator), _) if separator.is_empty() => {
            return Err(usage("-x needs a separator, such as -x,"));
        }
        // As perf.
        (Some(separator), _) if separator == "\\t" => CountForm::Csv("\t".to_owned()),
        (Some(separator), _) => CountForm::Csv(separator.clone()),
        (None, true) => CountForm::Json,
        (None, false) => CountForm::Text,
    };
    Ok(Style {
        form,
        big_numbers: !output.no_big_num,
        metric_only: output.metric_only,
        table: false,
        summary: false,
    })
}
