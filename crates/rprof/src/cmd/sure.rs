//! The significant changes that `rprof diff` finds, for flame graphs of the same two recordings.

use super::reading::with_progress;
use crate::say;
use anyhow::{Context, Result};
use rprof_analysis::{GroupBy, Options, SortMode, load_run};
use rprof_diff::{NamedRun, Per, Recordings, sure_changes};
use rprof_perfdata::Reader;
use rprof_profile::difference::{Scaling, SideSpans, SureChanges};
use rprof_profile::{EventKind, NodeKey};

/// Reads a recording as `rprof diff` does, with the flame graph's filters.
pub(super) fn load(reader: &Reader, name: String, options: &Options) -> Result<NamedRun> {
    let options = Options {
        nodes: NodeKey::Function,
        stacks: reader.has_call_chains(),
        mode: SortMode::Normal,
        group_by: GroupBy {
            names: false,
            ..GroupBy::default()
        },
        ..options.clone()
    };
    let run = with_progress(reader, |show| {
        load_run(reader, &options, Recordings::BLOCKS, show)
    });
    let run = run.with_context(|| format!("reading {name}"))?;
    Ok(NamedRun { name, run })
}

/// Two recordings, compared in one way.
pub(super) struct SureEvents {
    /// How sides are normalized.
    pub(super) scaling: Scaling,
    /// By name of the event before.
    events: Vec<(String, SureChanges)>,
}

impl SureEvents {
    /// Compares by what is asked for; else as `rprof diff` does.
    pub(super) fn of(recordings: &Recordings, asked: Option<Per>) -> Result<Self> {
        let per = asked.unwrap_or_else(|| Per::default_of(recordings));
        let events = sure_changes(recordings, &per)?;
        let (before_ns, after_ns) = recordings.spans_ns();
        let scaling = match per {
            Per::Event => Scaling::Shares,
            Per::Time => Scaling::PerSecond(SideSpans {
                before_ns,
                after_ns,
            }),
            Per::Run | Per::CpuTime | Per::Count(_) => Scaling::Recorded,
        };
        Ok(Self { scaling, events })
    }

    /// All measures by which the recordings can be compared, the default first.
    pub(super) fn all(recordings: &Recordings) -> Result<Vec<Self>> {
        let usual = Per::default_of(recordings);
        let others = [Per::Run, Per::Time, Per::Event].into_iter();
        let others = others.filter(|per| *per != usual);
        let all = [usual.clone()].into_iter().chain(others);
        let mut all: Vec<Result<Self>> = all.map(|per| Self::of(recordings, Some(per))).collect();
        if all.iter().any(Result::is_ok) {
            Ok(all.into_iter().flatten().collect())
        } else {
            Err(all.swap_remove(0).err().context("nothing to compare")?)
        }
    }

    /// The changes of an event; empty if it cannot be compared.
    pub(super) fn changes(&self, name: &str, kind: EventKind) -> SureChanges {
        let exact = self.events.iter().find(|(known, _)| known == name);
        let bare = |name| kind.without_modifier(name);
        let found = exact.or_else(|| {
            self.events
                .iter()
                .find(|(known, _)| bare(known) == bare(name))
        });
        found
            .map(|(_, changes)| changes.clone())
            .unwrap_or_default()
    }
}

/// Explains a flame graph without colours, and how to get some.
pub(super) fn say_if_none(changes: &SureChanges) {
    if changes.functions.is_empty() && changes.total.is_none() {
        say::line(
            "no function changed significantly: nothing is coloured (use several recordings per side for more \
             certainty: rprof diff BEFORE.. -- AFTER..)",
        );
    }
}
