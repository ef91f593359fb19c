//! Two recordings as one tree: what `flame --against` draws and `diff -g` prints.

use anyhow::{Result, bail};
use rprof_profile::difference::{DifferentialTree, SideStacks};
use rprof_profile::view::{FirstFrame, ThreadNames};
use rprof_profile::{EventProfile, Profile};

/// An event of a recording.
pub(super) struct NamedEvent<'a> {
    /// What the recording is called.
    pub(super) name: String,
    pub(super) profile: &'a Profile,
    pub(super) event: &'a EventProfile,
}

impl NamedEvent<'_> {
    /// Whether samples have callers.
    pub(super) fn has_chains(&self) -> bool {
        let nodes = self.event.tree.nodes();
        nodes.iter().any(|node| node.parent.is_some())
    }
}

/// The event that is called so: if need be, but for its modifiers.
pub(super) fn event_called<'a>(profile: &'a Profile, name: &str) -> Option<&'a EventProfile> {
    let mut events = profile.events.iter();
    let exact = events.clone().find(|event| event.name.raw() == name);
    exact.or_else(|| {
        events.find(|event| {
            let kind = event.kind;
            kind.without_modifier(event.name.raw()) == kind.without_modifier(name)
        })
    })
}

/// Both sides as one tree; a side without samples, or the only one without callers, is refused.
pub(super) fn tree_of(
    before: NamedEvent<'_>,
    after: NamedEvent<'_>,
    (first, threads): (FirstFrame, ThreadNames),
) -> Result<DifferentialTree> {
    for one in [&before, &after] {
        let nodes = one.event.tree.nodes();
        if nodes.iter().all(|node| node.self_samples == 0) {
            bail!(
                "nothing to compare: no samples of '{}' in {}",
                one.event.name,
                one.name
            );
        }
    }
    let lacking = match (before.has_chains(), after.has_chains()) {
        (true, false) => Some((&after, &before)),
        (false, true) => Some((&before, &after)),
        _ => None,
    };
    if let Some((one, other)) = lacking {
        bail!(
            "{} has no call chains, but {} does: record both with -g",
            one.name,
            other.name
        );
    }
    Ok(DifferentialTree::of(
        SideStacks {
            profile: before.profile,
            event: before.event,
        },
        SideStacks {
            profile: after.profile,
            event: after.event,
        },
        first,
        threads,
    ))
}
