//! `rprof flame`.

use super::reading::{ending, is_shown, open, read, warn};
use super::recorded::record_first;
use crate::args::FlameArgs;
use crate::usage::usage;
use crate::{browser, say, target};
use anyhow::{Context, Result, bail};
use rprof_analysis::Options;
use rprof_base::Counted;
use rprof_export::{Folded, Format};
use rprof_profile::view::ThreadNames;
use rprof_profile::{EventProfile, Profile};
use rprof_report::{Error, FlameOptions, quality_faults, write_flame};
use rprof_ringbuf::sys::Rights;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::ExitCode;

/// Where the picture goes if it cannot go to standard output.
const DEFAULT: &str = "flame.svg";

pub(crate) fn run(args: &FlameArgs, rights: Rights) -> Result<ExitCode> {
    let output = output_of(args)?;
    let limits = args.input.limits;
    let (reader, code) = match args.command.is_given() {
        true => {
            let recorded = record_first(&args.command, args.event.as_deref(), limits, rights)?;
            (recorded.reader, recorded.code)
        }
        false => (
            open(args.input.recording.path(), limits)?,
            ExitCode::SUCCESS,
        ),
    };
    let options = Options {
        filter: args.input.filter(),
        inlines: !args.input.no_inline,
        fde: !args.fde.no_fde,
        locator: args.input.locator(&reader),
        demangling: args.fold.demangling(args.input.demangling()),
        ..Options::default()
    };
    let mut profile = read(&reader, &options)?;
    args.fold.apply(&mut profile);
    let has_samples = profile.events.iter().any(|event| event.samples > 0);
    if args.command.is_given() && !has_samples && args.input.filter().accepts_all() {
        // Why was said at the end of the recording.
        return Err(Error::NothingToDraw.into());
    }
    warn(&profile, &reader, &args.input);
    // What a command's event is called may be more than what was asked for.
    let asked = args.event.as_deref().filter(|_| !args.command.is_given());
    let number = choose(&profile, asked)?;
    let event = number.and_then(|number| profile.events.get(number));
    let event = event.context("the recording has no events to draw")?;
    if asked.is_none() {
        say_which(&profile, event);
    }
    if args.folded {
        let folded = Folded {
            event: number.unwrap_or(0),
        };
        target::write(output, |out| folded.write(&profile, out))?;
    } else {
        draw(&profile, event, args, output)?;
    }
    say::loss(event);
    say::stacks(&profile.unwound);
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
        _ if !args.folded => say::next("open the picture in a browser"),
        _ => {}
    }
    match args.strict.strict && !quality_faults(&profile).is_empty() {
        true => Ok(ending(args.strict, &profile)),
        false => Ok(code),
    }
}

/// The file to write; `None` is standard output, which a command has for itself.
fn output_of(args: &FlameArgs) -> Result<Option<&Path>> {
    let has_command = args.command.is_given();
    match args.output.as_deref() {
        Some(path) if path != Path::new("-") => Ok(Some(path)),
        Some(_) if has_command => Err(usage(
            "standard output is the command's: give another file with -o",
        )),
        Some(_) if args.open => Err(usage("--open opens a file: give one with -o")),
        None if args.folded && has_command => Err(usage(
            "standard output is the command's: give a file for the stacks with -o",
        )),
        None if !args.folded && (has_command || args.open || io::stdout().is_terminal()) => {
            Ok(Some(Path::new(DEFAULT)))
        }
        _ => Ok(None),
    }
}

fn draw(
    profile: &Profile,
    event: &EventProfile,
    args: &FlameArgs,
    output: Option<&Path>,
) -> Result<()> {
    let options = FlameOptions {
        title: args.title.clone(),
        subtitle: args.subtitle.clone(),
        reverse: args.reverse,
        inverted: args.inverted,
        threads: match args.threads {
            true => ThreadNames::Whole,
            false => ThreadNames::Pooled,
        },
        width: args.width.and_then(|width| usize::try_from(width).ok()),
        min_width: args.min_width.of(args.width),
        palette: args.palette,
    };
    // Before a file is made.
    if event.tree.nodes().iter().all(|node| node.self_samples == 0) {
        return Err(Error::NothingToDraw.into());
    }
    let mut left_out = 0;
    target::write(output, |mut out| {
        match write_flame(profile, event, &options, &mut out) {
            Ok(drawn) => {
                left_out = drawn.left_out;
                Ok(())
            }
            Err(Error::Draw(source)) => Err(source),
            Err(error) => Err(io::Error::other(error)),
        }
    })?;
    if left_out > 0 {
        say::line(format_args!(
            "not drawn: {} narrower than {} % (--min-width 0 draws all)",
            Counted::new(left_out, "frame", "frames"),
            options.min_width.percent(),
        ));
    }
    Ok(())
}

/// Says which event is drawn, if others have samples, too.
fn say_which(profile: &Profile, drawn: &EventProfile) {
    let others = profile.events.iter().filter(|event| event.samples > 0);
    let others = others.filter(|event| event.name.raw() != drawn.name.raw());
    let others: Vec<String> = others.map(|event| event.name.to_string()).collect();
    if !others.is_empty() {
        say::line(format_args!(
            "event: {}; -e draws another: {}",
            drawn.name,
            others.join(", ")
        ));
    }
}

/// Index of the event with this name, or of the first that has samples; `None` if there are none.
pub(crate) fn choose(profile: &Profile, name: Option<&str>) -> Result<Option<usize>> {
    let Some(name) = name else {
        // An event may have counted nothing.
        let first = profile.events.iter().position(|event| event.samples > 0);
        return Ok(first.or((!profile.events.is_empty()).then_some(0)));
    };
    match profile
        .events
        .iter()
        .position(|event| event.name.raw() == name)
    {
        Some(number) => Ok(Some(number)),
        None => {
            let names = profile.events.iter().map(|event| event.name.to_string());
            let names: Vec<String> = names.collect();
            bail!(
                "no event '{name}' in the recording; it has {}",
                names.join(", ")
            )
        }
    }
}
