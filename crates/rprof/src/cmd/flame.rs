//! `rprof flame`.

use super::report::{open, read, warn};
use crate::args::FlameArgs;
use crate::say;
use anyhow::{Context, Result, bail};
use rprof_profile::{EventProfile, Profile};
use rprof_report::Options;
use rprof_report::format::{FlameOptions, write_flame, write_folded};
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

pub(crate) fn run(args: &FlameArgs) -> Result<ExitCode> {
    if !args.folded && std::io::stdout().is_terminal() {
        bail!("the picture goes to stdout: rprof flame > flame.svg");
    }
    let reader = open(&args.input.input)?;
    let options = Options {
        filter: args.input.filter(),
        inlines: !args.input.no_inline,
        locator: args.input.locator(),
        demangling: args.input.demangling(),
        ..Options::default()
    };
    let profile = read(&reader, &options)?;
    warn(&profile, &args.input);
    let event = choose(&profile, args.event.as_deref())?;
    let mut out = std::io::BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    if args.folded {
        write_folded(&profile, event, &mut out).context("writing folded stacks")?;
    } else {
        let options = FlameOptions {
            title: args.title.clone(),
            reverse: args.reverse,
            inverted: args.inverted,
        };
        write_flame(&profile, event, &options, &mut out)?;
    }
    out.flush().context("writing the picture")?;
    if event.loss.samples > 0 {
        let at_least = if event.loss.at_least { "at least " } else { "" };
        say::warning(format_args!(
            "{at_least}{} samples were lost",
            event.loss.samples
        ));
    }
    say::stacks(&profile.unwound);
    say::unnamed(&profile);
    if !args.folded {
        say::next("open the picture in a browser");
    }
    Ok(ExitCode::SUCCESS)
}

fn choose<'p>(profile: &'p Profile, name: Option<&str>) -> Result<&'p EventProfile> {
    let mut events = profile.events.iter();
    let Some(name) = name else {
        // The first that has any: an event may have counted nothing.
        let first = events.clone().next();
        return events
            .find(|event| event.samples > 0)
            .or(first)
            .context("the recording has no events to draw");
    };
    match events.find(|event| event.name == name) {
        Some(event) => Ok(event),
        None => {
            let names: Vec<&str> = profile.events.iter().map(|event| &event.name[..]).collect();
            bail!(
                "no event '{name}' in the recording; it has {}",
                names.join(", ")
            )
        }
    }
}
