//! `rprof diff -g`: the call trees of both recordings, as one.

use super::diff::reading;
use super::reading::{open_any, read};
use super::trees::{NamedEvent, event_called, tree_of};
use crate::args::{DiffArgs, DiffFormat};
use crate::usage::usage;
use anyhow::{Context, Result, bail};
use rprof_analysis::{GroupBy, Options};
use rprof_diff::{ComparedEvent, Comparison, DiffLayout, DiffShare, write_diff_tree};
use rprof_profile::difference::{BothCounts, Side};
use rprof_profile::view::{FirstFrame, ThreadNames};
use rprof_profile::{Profile, SampleCount};
use std::path::{Path, PathBuf};

/// The recordings with their trees.
pub(super) struct DiffTrees {
    before: (String, Profile),
    after: (String, Profile),
    of: DiffShare,
}

/// A side is one recording here.
fn single(paths: &[PathBuf]) -> Result<&Path> {
    match paths {
        [one] => Ok(one),
        _ => Err(usage("-g needs exactly one recording per side")),
    }
}

impl DiffTrees {
    /// Reads the recordings, if trees are asked for.
    pub(super) fn load(
        args: &DiffArgs,
        before: &[PathBuf],
        after: &[PathBuf],
    ) -> Result<Option<Self>> {
        if !args.call_graph {
            return Ok(None);
        }
        if args.format != DiffFormat::Text {
            return Err(usage("-g prints text: leave out --format"));
        }
        let (before, after) = (single(before)?, single(after)?);
        Ok(Some(Self {
            before: load(args, before, Side::Before)?,
            after: load(args, after, Side::After)?,
            of: args.percentage,
        }))
    }

    /// The trees of events that were compared, each as text.
    pub(super) fn texts(&self, comparison: &Comparison, layout: &DiffLayout) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        for event in &comparison.events {
            self.write((comparison, event), layout, &mut out)?;
        }
        Ok(out)
    }

    fn write(
        &self,
        of: (&Comparison, &ComparedEvent),
        layout: &DiffLayout,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let name = &of.1.name;
        let (before, after) = (side(&self.before, name)?, side(&self.after, name)?);
        let all = BothCounts {
            before: all_of(&before),
            after: all_of(&after),
        };
        let kinds = (FirstFrame::Outermost, ThreadNames::Pooled);
        let tree = tree_of(before, after, kinds)?;
        let whole = match self.of {
            DiffShare::Absolute => all,
            DiffShare::Relative => tree.sum(),
        };
        write_diff_tree(of, &tree, whole, layout, out)?;
        Ok(())
    }
}

fn side<'a>((path, profile): &'a (String, Profile), event: &str) -> Result<NamedEvent<'a>> {
    let found = event_called(profile, event);
    let one = NamedEvent {
        name: path.clone(),
        profile,
        event: found.with_context(|| format!("-g: no event '{event}' in {path}"))?,
    };
    if one.has_chains() {
        Ok(one)
    } else {
        bail!("-g: {path} has no call chains for '{event}': record with rprof record -g")
    }
}

fn all_of(one: &NamedEvent<'_>) -> SampleCount {
    SampleCount {
        samples: one.event.samples,
        weight: one.event.weight,
    }
}

/// Reads a recording once more; what could not be used was said when its rows were counted.
fn load(args: &DiffArgs, path: &Path, side: Side) -> Result<(String, Profile)> {
    let reader = open_any(path, args.limits)?;
    let options = Options {
        group_by: GroupBy::default(),
        ..reading(args, &reader, side)
    };
    let name = args.with_time(path.display().to_string(), &options.filter);
    let profile = read(&reader, &options).with_context(|| format!("reading {name}"))?;
    Ok((name, profile))
}
