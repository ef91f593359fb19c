//! `rprof flame`.

use super::against::{After, Before};
use super::event::{self, choose, say_which};
use super::next::{self, Seen};
use super::reading::{ending, is_shown, warn};
use super::recorded::record_first;
use super::several::OpenedRecordings;
use super::sure;
use crate::args::FlameArgs;
use crate::usage::usage;
use crate::{browser, say, target};
use anyhow::{Context, Result, bail};
use rprof_analysis::{GroupBy, Options};
use rprof_base::Counted;
use rprof_export::{Folded, Format};
use rprof_profile::view::ThreadNames;
use rprof_profile::{Account, Dimension, Profile, SampledProfile};
use rprof_query::{Explorer, SampleSelection, StackFolding};
use rprof_report::{Drawn, Error, FlameOptions, quality_faults, write_flame, write_flame_chart};
use rprof_ringbuf::sys::Rights;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

/// Where the picture goes if it cannot go to standard output.
const DEFAULT: &str = "flame.svg";

pub(crate) fn run(args: &FlameArgs, rights: Rights) -> Result<ExitCode> {
    let output = output_of(args)?;
    let limits = args.input.limits();
    let (opened, code) = if args.command.is_given() {
        let (reader, code) = record_first(&args.command, args.event.as_deref(), limits, rights)?;
        (OpenedRecordings::only(reader, &args.input), code)
    } else {
        (
            OpenedRecordings::open(&args.input.recordings, &args.input.samples)?,
            ExitCode::SUCCESS,
        )
    };
    if args.against.against.is_some() {
        opened.paths.only("--against")?;
        if args.keep.is_filter() {
            return Err(usage(
                "--against compares whole recordings: leave out --keep-stacks",
            ));
        }
    }
    let reader = &opened.first;
    args.fold.check(args.input.filter().account)?;
    let causes = match args.input.filter().account {
        Account::OnCpu => &[][..],
        Account::OffCpu | Account::Wall => &[Dimension::Cause][..],
    };
    let mut options = Options {
        group_by: GroupBy::of(causes),
        demangling: args.fold.demangling(args.input.demangling()),
        nodes: args.frames,
        ..args.input.options(reader)
    };
    // What a command's event is called may be more than what was asked for.
    let asked = args.event.as_deref().filter(|_| !args.command.is_given());
    if let Some(name) = asked
        && opened.count() == 1
    {
        event::check(reader, options.filter.account, name)?;
    }
    options.filter.events = event::chosen(asked);
    if asked.is_none() && options.filter.account == Account::OnCpu {
        event::say_bookkeeping(reader);
    }
    let (mut profile, in_time) = if args.flamechart {
        let mut explorer = Explorer::new(read_samples(&opened, &options)?);
        (counted(&mut explorer), Some(explorer.into_sampled()))
    } else {
        (opened.read(&options)?, None)
    };
    args.keep.apply(&mut profile).iter().for_each(say::warning);
    args.fold.apply(&mut profile);
    let has_samples = profile.events.iter().any(|event| event.samples > 0);
    if args.command.is_given() && !has_samples && args.input.filter().accepts_all() {
        // Why was said at the end of the recording.
        return Err(Error::NothingToDraw.into());
    }
    warn(&profile, reader, &args.input);
    let before = args.against.against.as_deref();
    let before = before.map(|path| Before::load(path, &args.input, &args.fold, &options));
    let before = before.transpose()?;
    let common = before
        .as_ref()
        .and_then(|before| before.first_common(&profile));
    let number = match common.filter(|_| asked.is_none()) {
        Some(number) => Some(number),
        None => choose(&profile, asked)?,
    };
    let event = number.and_then(|number| profile.events.get(number));
    let event = event.context("the recording has no events to draw")?;
    if asked.is_none() {
        say_which(&profile, event, "-e draws another");
    }
    if let Some(before) = before {
        let after = After {
            profile: &profile,
            event,
            run: sure::load(reader, name_of(args), &options)?,
        };
        let drawn = before.write(after, args, flame_options(args), output)?;
        say_left_out(drawn);
    } else if args.folded {
        let folded = Folded {
            event: number.unwrap_or(0),
        };
        target::write(output, |out| folded.write(&profile, out))?;
    } else {
        // Before a file is made.
        if event.tree.nodes().iter().all(|node| node.self_samples == 0) {
            return Err(Error::NothingToDraw.into());
        }
        let options = flame_options(args);
        let drawn = write_picture(output, |mut out| match in_time {
            Some(sampled) => write_flame_chart(sampled, number.unwrap_or(0), &options, &mut out),
            None => write_flame(&profile, event, &options, &mut out),
        })?;
        say_left_out(drawn);
    }
    say::loss(event);
    say::stacks(&profile);
    say::unnamed(&profile);
    if is_shown(&profile) {
        say::quality(&profile);
    }
    match output {
        Some(path) if args.open => browser::open(path)?,
        Some(path) if args.output.is_none() => {
            say::line(format_args!(
                "wrote {}; open it in a browser",
                path.display()
            ));
        }
        _ => {}
    }
    // A command's recording is gone.
    if !args.command.is_given() {
        let seen = Seen::Flame(number.unwrap_or(0));
        let is_filtered = !args.input.filter().accepts_all() || args.keep.is_filter();
        next::suggest(seen, &profile, &opened.paths, is_filtered);
    }
    if args.strict.strict && !quality_faults(&profile).is_empty() {
        Ok(ending(args.strict, &profile))
    } else {
        Ok(code)
    }
}

/// What the recording is called in messages.
pub(super) fn name_of(args: &FlameArgs) -> String {
    if args.command.is_given() {
        "the command".to_owned()
    } else {
        args.input.recordings.name()
    }
}

/// The file to write; `None` is standard output, which a command has for itself.
fn output_of(args: &FlameArgs) -> Result<Option<&Path>> {
    let has_command = args.command.is_given();
    match args.output.as_deref() {
        Some(path) if path != Path::new("-") => Ok(Some(path)),
        Some(_) if has_command => Err(usage("the command uses stdout: use another file with -o")),
        Some(_) if args.open => Err(usage("--open needs a file: use -o FILE")),
        None if args.folded && has_command => {
            Err(usage("the command uses stdout: use -o FILE for the stacks"))
        }
        None if !args.folded && (has_command || args.open || io::stdout().is_terminal()) => {
            Ok(Some(Path::new(DEFAULT)))
        }
        _ => Ok(None),
    }
}

/// What is said below the title beside what is known of the recording: filters leave out what is nowhere to be seen.
fn subtitle_of(args: &FlameArgs) -> Option<String> {
    let kept = args.keep.is_filter().then(|| args.keep.words());
    let parts = [args.subtitle.clone(), args.input.filter().title(), kept];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn flame_options(args: &FlameArgs) -> FlameOptions {
    let usual = FlameOptions::default();
    let (min_width, max_frames) = match args.min_width {
        Some(asked) => (asked.of(args.width), usize::MAX),
        None => (usual.min_width, usual.max_frames),
    };
    FlameOptions {
        title: args.title.clone(),
        subtitle: subtitle_of(args),
        reverse: args.reverse,
        inverted: args.inverted,
        threads: if args.threads {
            ThreadNames::Whole
        } else {
            ThreadNames::Pooled
        },
        width: args.width.and_then(|width| usize::try_from(width).ok()),
        min_width,
        max_frames,
        palette: args.palette,
    }
}

/// Samples one by one; there is no order without times.
fn read_samples(opened: &OpenedRecordings<'_>, options: &Options) -> Result<SampledProfile> {
    let sampled: SampledProfile = opened.read(options)?;
    if sampled.has_times || sampled.samples.is_empty() {
        Ok(sampled)
    } else {
        bail!("--flamechart needs times, which not all samples have: record with -T")
    }
}

/// The same as one that was counted while it was read.
fn counted(explorer: &mut Explorer) -> Profile {
    let mut profile = explorer.profile().clone();
    for (number, event) in profile.events.iter_mut().enumerate() {
        let all = SampleSelection {
            event: number,
            ..SampleSelection::default()
        };
        if let Some(counted) = explorer.select(&all, &StackFolding::default()) {
            *event = counted;
        }
    }
    profile
}

/// Writes a picture to a file or stdout.
pub(super) fn write_picture(
    output: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> Result<Drawn, Error>,
) -> Result<Drawn> {
    let mut drawn = Drawn::default();
    target::write(output, |out| {
        drawn = write(out).map_err(|error| match error {
            Error::Draw(source) => source,
            error => io::Error::other(error),
        })?;
        Ok(())
    })?;
    Ok(drawn)
}

fn say_left_out(drawn: Drawn) {
    if drawn.left_out > 0 {
        say::line(format_args!(
            "not drawn: {} narrower than {} % (use --min-width 0 to draw all)",
            Counted::new(drawn.left_out, "frame", "frames"),
            (drawn.least_width.percent() * 1e4).round() / 1e4,
        ));
    }
}
