//! `--against`: the recording before, and what `rprof flame` writes of both.

use super::flame::{name_of, write_picture};
use super::reading::{open_any, read};
use super::sure::{self, SureEvents};
use super::trees::{NamedEvent, event_called, tree_of};
use crate::args::{FlameArgs, FoldArgs, InputArgs};
use crate::{say, target};
use anyhow::{Result, bail};
use rprof_analysis::Options;
use rprof_diff::{NamedRun, Recordings};
use rprof_profile::difference::DifferentialTree;
use rprof_profile::view::{Count, FirstFrame, ThreadNames};
use rprof_profile::{EventProfile, Fold, Profile};
use rprof_report::{DifferentialOptions, Drawn, FlameOptions, write_differential};
use std::path::{Path, PathBuf};

/// The recording before.
pub(super) struct Before {
    path: PathBuf,
    profile: Profile,
    run: NamedRun,
}

/// The recording after.
pub(super) struct After<'a> {
    /// The counted stacks, folded.
    pub(super) profile: &'a Profile,
    /// The event that is drawn.
    pub(super) event: &'a EventProfile,
    /// The recording as read by `rprof diff`.
    pub(super) run: NamedRun,
}

impl Before {
    /// Reads it in the same way as the recording after.
    pub(super) fn load(
        path: &Path,
        input: &InputArgs,
        fold: &FoldArgs,
        options: &Options,
    ) -> Result<Self> {
        let reader = open_any(path, input.limits())?;
        let options = Options {
            locator: input.samples.locator(&reader),
            ..options.clone()
        };
        let mut profile = read(&reader, &options)?;
        let run = sure::load(&reader, path.display().to_string(), &options)?;
        fold.apply(&mut profile);
        let shown = path.display();
        for warning in &profile.warnings {
            say::warning(format_args!("{shown}: {warning}"));
        }
        Ok(Self {
            path: path.to_owned(),
            profile,
            run,
        })
    }

    /// Its name in messages.
    pub(super) fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Its profile.
    pub(super) fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Both recordings, to test which changes are significant.
    pub(super) fn with(&self, after: NamedRun) -> Recordings {
        Recordings {
            before: vec![self.run.clone()],
            after: vec![after],
        }
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
            if common.is_empty() {
                bail!(
                    "no common event to compare: {path} has {}, the recording after it has {}",
                    names(&self.profile),
                    names(after)
                )
            } else {
                bail!(
                    "no event '{}' in {path}; both recordings have {} (-e)",
                    event.name,
                    common.join(", ")
                )
            }
        };
        if before.name.raw() != event.name.raw() {
            say::warning(format_args!(
                "comparing {} with {} of {path}",
                event.name, before.name
            ));
        }
        Ok(before)
    }

    /// Both sides of an event as one tree.
    pub(super) fn tree(
        &self,
        after: NamedEvent<'_>,
        order: (FirstFrame, ThreadNames),
    ) -> Result<DifferentialTree> {
        let before = self.event_for(after.profile, after.event)?;
        let side_before = NamedEvent {
            name: self.name(),
            profile: &self.profile,
            event: before,
        };
        let tree = tree_of(side_before, after, order)?;
        say::loss(before);
        if let Some((before, after)) = tree.renamed_program() {
            say::line(format_args!(
                "comparing {before} with {after}, the recorded programs"
            ));
        }
        Ok(tree)
    }

    /// The tree that a picture is of.
    fn drawn_tree(
        &self,
        profile: &Profile,
        event: &EventProfile,
        args: &FlameArgs,
    ) -> Result<DifferentialTree> {
        let first = if args.reverse {
            FirstFrame::Innermost
        } else {
            FirstFrame::Outermost
        };
        let threads = if args.threads || args.folded {
            ThreadNames::Whole
        } else {
            ThreadNames::Pooled
        };
        let after = NamedEvent {
            name: name_of(args),
            profile,
            event,
        };
        self.tree(after, (first, threads))
    }

    /// Writes folded stacks, or the picture. Returns how many frames it has no room for.
    pub(super) fn write(
        &self,
        after: After<'_>,
        args: &FlameArgs,
        flame: FlameOptions,
        output: Option<&Path>,
    ) -> Result<Drawn> {
        let After {
            profile,
            event,
            run,
        } = after;
        let tree = self.drawn_tree(profile, event, args)?;
        let compared = SureEvents::of(&self.with(run), args.against.per.clone())?;
        let scaling = compared.scaling;
        if args.folded {
            // Both sides count the same.
            let before = event_called(&self.profile, event.name.raw());
            let mut counts = before.into_iter().chain([event]).map(Count::for_tools);
            let count = if counts.any(|count| matches!(count, Count::Weight)) {
                Count::Weight
            } else {
                Count::Samples
            };
            target::write(output, |out| {
                tree.lines(count, scaling)
                    .try_for_each(|line| writeln!(out, "{line}"))
            })?;
            return Ok(Drawn::default());
        }
        let options = DifferentialOptions {
            flame,
            profiles: Some([&self.profile, profile]),
            width_by: args.against.width_by,
            scaling,
            sure: compared.changes(event.name.raw(), event.kind),
        };
        if args.fold.has(Fold::Modules) {
            say::line(
                "grey: frames of whole binaries are not tested for significance (--fold modules)",
            )
        } else {
            sure::say_if_none(&options.sure)
        }
        write_picture(output, |mut out| {
            write_differential(&tree, &event.name.shown(), &options, &mut out)
        })
    }
}
