//! `rprof flame --against`: the recording before, and what is written of both.

use super::reading::{open, read};
use crate::args::FlameArgs;
use crate::{say, target};
use anyhow::{Result, bail};
use rprof_analysis::Options;
use rprof_profile::difference::{DifferentialTree, SideStacks};
use rprof_profile::view::{Count, FirstFrame, ThreadNames};
use rprof_profile::{EventProfile, Profile};
use rprof_report::{DifferentialOptions, Drawn, Error, FlameOptions, write_differential};
use std::io;
use std::path::{Path, PathBuf};

/// What a recording is compared with.
pub(super) struct Before {
    path: PathBuf,
    profile: Profile,
}

impl Before {
    /// Reads it, if one was given, as the recording after is read.
    pub(super) fn load(args: &FlameArgs, options: &Options) -> Result<Option<Self>> {
        let Some(path) = &args.against.against else {
            return Ok(None);
        };
        let reader = open(path, args.input.limits())?;
        let options = Options {
            locator: args.input.locator(&reader),
            ..options.clone()
        };
        let mut profile = read(&reader, &options)?;
        args.fold.apply(&mut profile);
        let shown = path.display();
        for warning in &profile.warnings {
            say::warning(format_args!("{shown}: {warning}"));
        }
        Ok(Some(Self {
            path: path.clone(),
            profile,
        }))
    }

    /// The event of a profile that is drawn where none was asked for: the first that has samples on both sides.
    pub(super) fn first_common(&self, after: &Profile) -> Option<usize> {
        after.events.iter().position(|event| {
            let before = self.event(event.name.raw());
            event.samples > 0 && before.is_some_and(|before| before.samples > 0)
        })
    }

    /// The event that was called so: if need be, but for its modifiers.
    fn event(&self, name: &str) -> Option<&EventProfile> {
        let mut events = self.profile.events.iter();
        let exact = events.clone().find(|event| event.name.raw() == name);
        exact.or_else(|| events.find(|event| bare(event.name.raw()) == bare(name)))
    }

    /// The event to compare another with.
    fn event_for(&self, after: &Profile, event: &EventProfile) -> Result<&EventProfile> {
        let path = self.path.display();
        let Some(before) = self.event(event.name.raw()) else {
            let names = |profile: &Profile| {
                let names = profile.events.iter().map(|event| event.name.to_string());
                names.collect::<Vec<_>>().join(", ")
            };
            let common = after.events.iter();
            let common = common.filter(|event| self.event(event.name.raw()).is_some());
            let common: Vec<String> = common.map(|event| event.name.to_string()).collect();
            match common.is_empty() {
                true => bail!(
                    "no event to compare: {path} has {}, the recording after it has {}",
                    names(&self.profile),
                    names(after)
                ),
                false => bail!(
                    "no event '{}' in {path}; both recordings have {} (-e)",
                    event.name,
                    common.join(", ")
                ),
            }
        };
        if before.name.raw() != event.name.raw() {
            say::warning(format_args!(
                "{} is compared with {} of {path}",
                event.name, before.name
            ));
        }
        Ok(before)
    }

    /// Both sides as one tree.
    fn tree(&self, after: (&Profile, &EventProfile), args: &FlameArgs) -> Result<DifferentialTree> {
        let (profile, event) = after;
        let before = self.event_for(profile, event)?;
        let path = self.path.display();
        let input = args.input.recording.path().display().to_string();
        let input = match args.command.is_given() {
            true => "the command".to_owned(),
            false => input,
        };
        for (event, name) in [(before, path.to_string()), (event, input.clone())] {
            if event.tree.nodes().iter().all(|node| node.self_samples == 0) {
                bail!(
                    "nothing to compare: no samples of '{}' in {name}",
                    event.name
                );
            }
        }
        let has_chains = |event: &EventProfile| {
            let mut nodes = event.tree.nodes().iter();
            nodes.any(|node| node.parent.is_some())
        };
        match (has_chains(before), has_chains(event)) {
            (true, false) => bail!("{input} has no call chains, {path} has: record both with -g"),
            (false, true) => bail!("{path} has no call chains, {input} has: record both with -g"),
            _ => {}
        }
        let side = |profile, event| SideStacks {
            profile,
            event,
            images: &[],
        };
        let first = match args.reverse {
            true => FirstFrame::Innermost,
            false => FirstFrame::Outermost,
        };
        let threads = match args.threads || args.folded {
            true => ThreadNames::Whole,
            false => ThreadNames::Pooled,
        };
        let (before, after) = (side(&self.profile, before), side(profile, event));
        say::loss(before.event);
        Ok(DifferentialTree::of(before, after, first, threads))
    }

    /// Writes folded stacks, or the picture. Returns how many frames it has no room for.
    pub(super) fn write(
        &self,
        after: (&Profile, &EventProfile),
        (args, flame): (&FlameArgs, FlameOptions),
        output: Option<&Path>,
    ) -> Result<Drawn> {
        let tree = self.tree(after, args)?;
        let scaling = args.against.scaling();
        if args.folded {
            target::write(output, |out| {
                let mut lines = tree.lines(Count::Samples, scaling);
                lines.try_for_each(|line| writeln!(out, "{line}"))
            })?;
            return Ok(Drawn { left_out: 0 });
        }
        let options = DifferentialOptions {
            flame,
            width_by: args.against.width_by(),
            scaling,
        };
        let mut drawn = Drawn { left_out: 0 };
        target::write(output, |mut out| {
            let name = after.1.name.shown();
            drawn =
                write_differential(&tree, &name, &options, &mut out).map_err(
                    |error| match error {
                        Error::Draw(source) => source,
                        error => io::Error::other(error),
                    },
                )?;
            Ok(())
        })?;
        Ok(drawn)
    }
}

/// An event's name without its modifiers.
fn bare(name: &str) -> &str {
    match name.rsplit_once(':') {
        Some((bare, modifiers))
            if modifiers
                .bytes()
                .all(|byte| b"ukhpPHGSDIWeb".contains(&byte)) =>
        {
            bare
        }
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modifiers_are_not_of_an_events_name() {
        for (name, expected) in [
            ("cycles", "cycles"),
            ("cycles:u", "cycles"),
            ("cpu-clock:ppp", "cpu-clock"),
            ("sched:sched_switch", "sched:sched_switch"),
            ("sched:sched_switch:u", "sched:sched_switch"),
        ] {
            assert_eq!(bare(name), expected);
        }
    }
}
