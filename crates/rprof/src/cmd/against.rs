//! `rprof flame --against`: the recording before, and what is written of both.

use super::reading::{open, read};
use super::trees::{NamedEvent, event_called, tree_of};
use crate::args::FlameArgs;
use crate::{say, target};
use anyhow::{Result, bail};
use rprof_analysis::Options;
use rprof_profile::difference::DifferentialTree;
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
            let before = event_called(&self.profile, event.name.raw());
            event.samples > 0 && before.is_some_and(|before| before.samples > 0)
        })
    }

    /// The event to compare another with.
    fn event_for(&self, after: &Profile, event: &EventProfile) -> Result<&EventProfile> {
        let path = self.path.display();
        let Some(before) = event_called(&self.profile, event.name.raw()) else {
            let names = |profile: &Profile| {
                let names = profile.events.iter().map(|event| event.name.to_string());
                names.collect::<Vec<_>>().join(", ")
            };
            let common = after.events.iter();
            let common =
                common.filter(|event| event_called(&self.profile, event.name.raw()).is_some());
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
        let first = match args.reverse {
            true => FirstFrame::Innermost,
            false => FirstFrame::Outermost,
        };
        let threads = match args.threads || args.folded {
            true => ThreadNames::Whole,
            false => ThreadNames::Pooled,
        };
        let side_before = NamedEvent {
            name: path.to_string(),
            profile: &self.profile,
            event: before,
        };
        let after = NamedEvent {
            name: input,
            profile,
            event,
        };
        let tree = tree_of(side_before, after, (first, threads))?;
        say::loss(before);
        if let Some((before, after)) = tree.renamed_program() {
            say::line(format_args!(
                "{before} is taken for {after}: the recorded program"
            ));
        }
        Ok(tree)
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
