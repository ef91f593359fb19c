//! Folded stacks: one line each, `comm;outer;inner 42`, what FlameGraph tools read.

use super::text::printable;
use rprof_profile::{EventProfile, FrameId, Level, Profile};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Which end of a stack a line starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    Outermost,
    Innermost,
}

/// Whether frames say what they are: FlameGraph's suffixes `_[k]` for the kernel and `_[i]` for
/// inlined code, by which they are coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Suffixes {
    Yes,
    No,
}

/// What a line's number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    Samples,
    Weight,
}

/// Writes an event's stacks, sorted, with their numbers of samples.
///
/// # Errors
/// The writer's.
pub fn write_folded(
    profile: &Profile,
    event: &EventProfile,
    out: &mut impl Write,
) -> io::Result<()> {
    for (stack, count) in fold(
        profile,
        event,
        From::Outermost,
        Suffixes::No,
        Count::Samples,
    ) {
        writeln!(out, "{} {count}", stack.join(";"))?;
    }
    Ok(())
}

/// Stacks by name, in the order of their frames: equal frames next to each other.
pub(crate) fn fold(
    profile: &Profile,
    event: &EventProfile,
    from: From,
    suffixes: Suffixes,
    count: Count,
) -> BTreeMap<Vec<String>, u64> {
    let mut labels: FxHashMap<FrameId, String> = FxHashMap::default();
    let nodes = event.tree.nodes();
    let mut folded: BTreeMap<Vec<String>, u64> = BTreeMap::new();
    for node in nodes.iter().filter(|node| node.self_samples > 0) {
        let mut stack = Vec::new();
        let mut at = Some(node);
        while let Some(here) = at {
            let label = labels
                .entry(here.frame)
                .or_insert_with(|| label(profile, here.frame, suffixes));
            stack.push(label.clone());
            at = here.parent.map(|parent| &nodes[parent as usize]);
        }
        let group = event.groups.get(node.group as usize);
        let comm = group.map_or("", |group| profile.strings.of(group.comm));
        match from {
            From::Outermost => {
                stack.push(safe(comm));
                stack.reverse();
            }
            From::Innermost => stack.push(safe(comm)),
        }
        *folded.entry(stack).or_default() += match count {
            Count::Samples => node.self_samples,
            Count::Weight => node.self_weight,
        };
    }
    folded
}

fn label(profile: &Profile, id: FrameId, suffixes: Suffixes) -> String {
    let frame = profile.frames.of(id);
    let image = profile.strings.of(frame.image);
    let name = match frame.name {
        Some(name) => safe(profile.strings.of(name)),
        None if image.starts_with('[') => safe(image),
        None => format!("[{}]", safe(image)),
    };
    let suffix = match suffixes {
        Suffixes::Yes if frame.level == Level::Kernel => "_[k]",
        Suffixes::Yes if frame.is_inlined => "_[i]",
        _ => "",
    };
    name + suffix
}

/// A name that cannot be taken for anything else in a folded line: no separator, no control
/// characters, no number at its end.
fn safe(name: &str) -> String {
    let mut name = printable(name).replace(';', ":");
    let last = name.rsplit(' ').next().unwrap_or("");
    let is_number = !last.is_empty()
        && last
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
    if is_number && let Some(at) = name.rfind(' ') {
        name.replace_range(at..=at, "_");
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_safe() {
        assert_eq!(safe("a;b"), "a:b");
        assert_eq!(safe("worker 12"), "worker_12");
        assert_eq!(safe("worker 12 "), "worker 12 ");
        assert_eq!(safe("a\nb\x1b"), "a\\x0ab\\x1b");
        assert_eq!(safe("12"), "12");
    }
}
