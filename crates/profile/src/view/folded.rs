//! FoldedStacks stacks: one line each, `comm;outer;inner 42`, what FlameGraph tools read.

use crate::{EventProfile, FrameId, Group, Level, Profile};
use foldhash::{HashMap, HashSet};
use rprof_untrusted::printable;

/// Which end of a stack a line starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstFrame {
    /// The thread's start: a flame graph grows from it.
    Outermost,
    /// Where the sample was taken: callers come after it.
    Innermost,
}

/// For whom stacks are folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Other tools: every frame by its name.
    Tools,
    /// A picture: frames say what they are by FlameGraph's suffixes, `_[k]` for the kernel, `_[i]`
    /// for inlined code and `_[j]` for JIT code, by which they are coloured; a run of
    /// nameless frames, as broken frame pointers make it, is one.
    Picture,
}

/// What a line's number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// Samples.
    Samples,
    /// What the event counts.
    Weight,
}

/// How stacks are folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoldOptions {
    /// Which end comes first.
    pub first: FirstFrame,
    /// For whom.
    pub audience: Audience,
    /// What the numbers are.
    pub count: Count,
}

/// Stacks by name, in the order of their frames: equal frames stand next to each other.
#[derive(Debug, Default)]
pub struct FoldedStacks {
    /// Names, sorted, so that their numbers are in the names' order.
    labels: Vec<String>,
    /// Sorted, each once.
    stacks: Vec<(Box<[u32]>, u64)>,
}

impl FoldedStacks {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.stacks.is_empty()
    }

    /// What frames and threads are called in lines, each once.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// A line for each stack.
    pub fn lines(&self) -> impl DoubleEndedIterator<Item = String> {
        self.stacks.iter().map(|(stack, count)| {
            let mut line = String::new();
            for &label in stack {
                line.push_str(if line.is_empty() { "" } else { ";" });
                line.push_str(self.labels.get(label as usize).map_or("", String::as_str));
            }
            line + " " + &count.to_string()
        })
    }
}

/// Counts an event's stacks by the names of their frames.
pub fn fold(profile: &Profile, event: &EventProfile, options: FoldOptions) -> FoldedStacks {
    let FoldOptions {
        first,
        audience,
        count,
    } = options;
    let nodes = event.tree.nodes();
    let mut frames: HashMap<FrameId, String> = HashMap::default();
    for node in nodes {
        frames
            .entry(node.frame)
            .or_insert_with(|| label(profile, node.frame, audience));
    }
    let comm = |group: &Group| safe(profile.strings.of(group.comm).into_raw());
    let mut labels: Vec<String> = frames.values().cloned().collect();
    labels.extend(event.groups.iter().map(comm));
    labels.sort_unstable();
    labels.dedup();
    // Every label looked up is in the list.
    let rank = |label: &String| labels.binary_search(label).map_or(u32::MAX, number);
    let frames: HashMap<FrameId, u32> = frames
        .iter()
        .map(|(&id, label)| (id, rank(label)))
        .collect();
    let comms: Vec<u32> = event
        .groups
        .iter()
        .map(|group| rank(&comm(group)))
        .collect();

    let nameless: HashSet<u32> = frames
        .iter()
        .filter(|&(&id, _)| !profile.frames.of(id).is_function())
        .map(|(_, &label)| label)
        .collect();
    let is_nameless = |label: u32| nameless.contains(&label);

    let mut stacks: Vec<(Box<[u32]>, u64)> = Vec::new();
    let mut stack = Vec::new();
    for node in nodes.iter().filter(|node| node.self_samples > 0) {
        stack.clear();
        let mut at = Some(node);
        while let Some(here) = at {
            stack.extend(frames.get(&here.frame));
            at = here.parent.map(|parent| &nodes[parent as usize]);
        }
        if audience == Audience::Picture {
            stack.dedup_by(|outer, inner| outer == inner && is_nameless(*outer));
        }
        stack.extend(comms.get(node.group as usize));
        if first == FirstFrame::Outermost {
            stack.reverse();
        }
        let count = match count {
            Count::Samples => node.self_samples,
            Count::Weight => node.self_weight,
        };
        stacks.push((stack.as_slice().into(), count));
    }
    stacks.sort_unstable();
    stacks.dedup_by(|later, kept| {
        let same = later.0 == kept.0;
        if same {
            kept.1 = kept.1.saturating_add(later.1);
        }
        same
    });
    FoldedStacks { labels, stacks }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

fn label(profile: &Profile, id: FrameId, audience: Audience) -> String {
    let frame = profile.frames.of(id);
    let image = profile.strings.of(frame.image).into_raw();
    let name = match frame.name {
        Some(name) => safe(profile.strings.of(name).into_raw()),
        None if frame.is_fde => safe(profile.frames.label(id, &profile.strings).raw()),
        None if image.starts_with('[') => safe(image),
        None => format!("[{}]", safe(image)),
    };
    let suffix = match audience {
        Audience::Picture if frame.level == Level::Kernel => "_[k]",
        Audience::Picture if frame.is_inlined => "_[i]",
        Audience::Picture if frame.is_jit => "_[j]",
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
