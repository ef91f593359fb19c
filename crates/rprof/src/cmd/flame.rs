//! `rprof flame`.

use super::reading::{open, read, warn};
use crate::args::FlameArgs;
use crate::say;
use crate::usage::usage;
use anyhow::{Context, Result, bail};
use rprof_analysis::Options;
use rprof_export::{Folded, Format};
use rprof_profile::{EventProfile, Profile};
use rprof_report::{FlameOptions, write_flame};
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

pub(crate) fn run(args: &FlameArgs) -> Result<ExitCode> {
    if !args.folded && std::io::stdout().is_terminal() {
        let why = "the picture goes to stdout: rprof flame > flame.svg";
        return Err(usage(why));
    }
    let reader = open(args.input.recording.path(), args.input.limits)?;
    let options = Options {
        filter: args.input.filter(),
        inlines: !args.input.no_inline,
        locator: args.input.locator(&reader),
        demangling: args.input.demangling(),
        ..Options::default()
    };
    let profile = read(&reader, &options)?;
    warn(&profile, &reader, &args.input);
    let number = choose(&profile, args.event.as_deref())?;
    let event = number.and_then(|number| profile.events.get(number));
    let event = event.context("the recording has no events to draw")?;
    if args.event.is_none() {
        say_which(&profile, event);
    }
    let mut out = std::io::BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    if args.folded {
        let folded = Folded {
            event: number.unwrap_or(0),
        };
        let written = folded.write(&profile, &mut out);
        written.context("writing folded stacks")?;
    } else {
        let options = FlameOptions {
            title: args.title.clone(),
            reverse: args.reverse,
            inverted: args.inverted,
        };
        write_flame(&profile, event, &options, &mut out)?;
    }
    out.flush().context("writing the picture")?;
    say::loss(event);
    say::stacks(&profile.unwound);
    say::unnamed(&profile);
    if !args.folded {
        say::next("open the picture in a browser");
    }
    Ok(ExitCode::SUCCESS)
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
