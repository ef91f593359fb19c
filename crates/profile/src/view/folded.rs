//! FoldedStacks stacks: one line each, `comm;outer;inner 42`, what FlameGraph tools read.

use crate::Thread;
use crate::{
    EventKind, EventProfile, FrameId, Level, Node, Profile, Sampling, StrId, without_digits,
};
use foldhash::{HashMap, HashSet};
use rprof_base::Share;
use rprof_untrusted::{Untrusted, printable};
use std::borrow::Cow;
use std::ops::Range;

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

impl Count {
    /// What other tools count: samples, unless those of a clock stand for different times, as samples by
    /// ptrace do: then it is nanoseconds. Where every single count is wanted, it is counts.
    pub fn for_tools(event: &EventProfile) -> Self {
        let period_ns = match event.sampling {
            Sampling::PerSecond(hz) => 1_000_000_000 / hz.max(1),
            Sampling::Every(ns) => ns,
            Sampling::Mixed => return Self::Weight,
        };
        let is_even = |node: &Node| {
            let expected_ns = node.self_samples.saturating_mul(period_ns);
            node.self_weight.abs_diff(expected_ns) <= node.self_samples
        };
        match event.kind {
            EventKind::OffCpuTime | EventKind::WallTime => Self::Weight,
            EventKind::CpuTime if !event.tree.nodes().iter().all(is_even) => Self::Weight,
            // A folded stack is one sample, whatever it counted.
            EventKind::Counter if event.sampling == Sampling::Every(1) => Self::Weight,
            _ => Self::Samples,
        }
    }
}

/// What threads are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ThreadNames {
    /// As they are.
    #[default]
    Whole,
    /// Those that differ in digits only have one name, with `<N>`: the threads of a pool are one.
    Pooled,
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
    /// What threads are called.
    pub threads: ThreadNames,
}

/// Stacks by name, in the order of their frames: equal frames stand next to each other.
#[derive(Debug, Default)]
pub struct FoldedStacks {
    /// Names, sorted, so that their numbers are in the names' order.
    labels: Vec<String>,
    /// Those of causes of waits.
    causes: Vec<String>,
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

    /// What causes of waits are called, which are innermost in pictures of profiles that tell them apart.
    pub fn causes(&self) -> &[String] {
        &self.causes
    }

    /// What all count.
    pub fn sum(&self) -> u64 {
        let counts = self.stacks.iter().map(|(_, count)| *count);
        counts.fold(0, u64::saturating_add)
    }

    /// What each frame and thread counts in its place, in no order.
    pub fn frame_counts(&self) -> Vec<u64> {
        let mut counts = Vec::new();
        self.for_each_frame(|_, _, count| counts.push(count));
        counts
    }

    /// Leaves out frames that count less than `share` of all: what they count stays with their callers. Returns
    /// how many these were.
    pub fn leave_out_narrow(&mut self, share: Share) -> u64 {
        let all = self.sum();
        let mut narrow = 0;
        let mut kept: Vec<usize> = self.stacks.iter().map(|(stack, _)| stack.len()).collect();
        self.for_each_frame(|depth, stacks, count| {
            if Share::of(count, all) < share {
                narrow += 1;
                for kept in &mut kept[stacks] {
                    // Threads stay: what they count has no other place.
                    *kept = depth.max(1).min(*kept);
                }
            }
        });
        for ((stack, _), kept) in self.stacks.iter_mut().zip(kept) {
            if kept < stack.len() {
                *stack = stack[..kept].into();
            }
        }
        self.merge();
        narrow
    }

    /// Calls `visit` for each frame and thread, callees first, with how many are below it, which stacks it is in, and
    /// what these count.
    fn for_each_frame(&self, mut visit: impl FnMut(usize, Range<usize>, u64)) {
        // Of each frame that is open: its first stack.
        let mut open: Vec<usize> = Vec::new();
        let mut before: &[u32] = &[];
        // What the stacks up to each count.
        let mut sums = vec![0_u64];
        for end in 0..=self.stacks.len() {
            let stack = self.stacks.get(end).map_or(&[][..], |(stack, _)| stack);
            let pairs = before.iter().zip(stack);
            let shared = pairs.take_while(|(one, other)| one == other).count();
            while open.len() > shared {
                let start = open.pop().unwrap_or(end);
                let count = sums[end].saturating_sub(sums[start]);
                visit(open.len(), start..end, count);
            }
            open.resize(stack.len(), end);
            before = stack;
            let count = self.stacks.get(end).map_or(0, |(_, count)| *count);
            sums.push(sums[end].saturating_add(count));
        }
    }

    /// Counts equal stacks that stand next to each other as one.
    fn merge(&mut self) {
        self.stacks.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1 = kept.1.saturating_add(later.1);
            }
            same
        });
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
        threads,
    } = options;
    let nodes = event.tree.nodes();
    let comms = thread_labels(&thread_names(profile, event), threads);
    let causes = match audience {
        Audience::Picture => cause_labels(profile, event),
        Audience::Tools => Vec::new(),
    };
    let numbers = LabelNumbers::of(profile, nodes, (comms, &causes, audience));
    let mut stacks: Vec<(Box<[u32]>, u64)> = Vec::new();
    let mut stack = Vec::new();
    for node in nodes.iter().filter(|node| node.self_samples > 0) {
        numbers.stack(nodes, node, &mut stack);
        let cause = numbers.causes.get(node.group as usize).copied().flatten();
        if let Some(cause) = cause {
            stack.insert(0, cause);
        }
        stack.extend(numbers.comms.get(node.group as usize));
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
    let mut causes: Vec<String> = causes.into_iter().flatten().collect();
    causes.sort_unstable();
    causes.dedup();
    let mut folded = FoldedStacks {
        labels: numbers.labels,
        causes,
        stacks,
    };
    folded.merge();
    folded
}

/// Labels of frames and threads by number, in the labels' order.
#[derive(Debug)]
struct LabelNumbers {
    labels: Vec<String>,
    comms: Vec<u32>,
    /// By group, if it is of waits.
    causes: Vec<Option<u32>>,
    frames: HashMap<FrameId, u32>,
    nameless: HashSet<u32>,
    audience: Audience,
}

impl LabelNumbers {
    /// Of the frames of a tree, and of threads.
    fn of(
        profile: &Profile,
        nodes: &[Node],
        (comms, causes, audience): (Vec<String>, &[Option<String>], Audience),
    ) -> Self {
        let mut frames: HashMap<FrameId, String> = HashMap::default();
        for node in nodes {
            frames
                .entry(node.frame)
                .or_insert_with(|| label(profile, node.frame, audience));
        }
        let mut labels: Vec<String> = frames.values().cloned().collect();
        labels.extend(comms.iter().cloned());
        labels.extend(causes.iter().flatten().cloned());
        labels.sort_unstable();
        labels.dedup();
        // Every label looked up is in the list.
        let rank = |label: &String| labels.binary_search(label).map_or(u32::MAX, number);
        let frames: HashMap<FrameId, u32> = frames
            .iter()
            .map(|(&id, label)| (id, rank(label)))
            .collect();
        let comms: Vec<u32> = comms.iter().map(rank).collect();
        let causes = causes.iter().map(|cause| cause.as_ref().map(rank));
        let nameless = frames
            .iter()
            .filter(|&(&id, _)| !profile.frames.of(id).is_function())
            .map(|(_, &label)| label)
            .collect();
        Self {
            causes: causes.collect(),
            labels,
            comms,
            frames,
            nameless,
            audience,
        }
    }

    /// The frames of a node's stack, innermost first, without its thread.
    fn stack(&self, nodes: &[Node], node: &Node, stack: &mut Vec<u32>) {
        stack.clear();
        let mut at = Some(node);
        while let Some(here) = at {
            stack.extend(self.frames.get(&here.frame));
            at = here.parent.map(|parent| &nodes[parent as usize]);
        }
        if self.audience == Audience::Picture {
            stack.dedup_by(|outer, inner| outer == inner && self.nameless.contains(outer));
        }
    }
}

/// The names of the threads of each group.
pub(crate) fn thread_names<'p>(profile: &'p Profile, event: &EventProfile) -> Vec<&'p str> {
    let groups = event.groups.iter();
    let names = groups.map(|group| profile.strings.of(group.comm));
    names.map(Untrusted::into_raw).collect()
}

/// Why the threads of each group wait, if groups are told apart by that.
fn cause_labels(profile: &Profile, event: &EventProfile) -> Vec<Option<String>> {
    let causes = profile.causes_of(event).into_iter();
    let label = |cause| wait_label(profile, cause);
    causes.map(|cause| cause.map(label)).collect()
}

/// What threads are called in folded stacks.
pub(crate) fn thread_labels(names: &[&str], threads: ThreadNames) -> Vec<String> {
    // Who is alone with the name keeps it: python3.11 is no pool.
    let mut pools: HashMap<Cow<'_, str>, (&str, bool)> = HashMap::default();
    if threads == ThreadNames::Pooled {
        for &name in names {
            let (first, is_pool) = pools.entry(without_digits(name)).or_insert((name, false));
            *is_pool |= *first != name;
        }
    }
    let label = |name: &&str| -> String {
        let pool = without_digits(name);
        match pools.get(&pool) {
            Some((_, true)) => safe(&pool),
            _ => safe(name),
        }
    };
    names.iter().map(label).collect()
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// What a frame is called in pictures.
pub fn picture_label(profile: &Profile, id: FrameId) -> String {
    label(profile, id, Audience::Picture)
}

/// What a cause of waits is called in pictures: `[futex]`.
pub fn wait_label(profile: &Profile, cause: StrId) -> String {
    safe(&profile.wait_label(cause))
}

/// What a thread is called where each is drawn by itself.
pub fn thread_label(profile: &Profile, thread: &Thread) -> String {
    let comm = profile.strings.of(thread.comm).into_raw();
    safe(&format!("{comm} [{}]", thread.tid))
}

fn label(profile: &Profile, id: FrameId, audience: Audience) -> String {
    let frame = profile.frames.of(id);
    let image = profile.strings.of(frame.image).into_raw();
    let name = match frame.name {
        Some(name) => safe(profile.strings.of(name).into_raw()),
        None if frame.is_fde => safe(profile.frames.label(id, &profile.strings).raw()),
        None => nameless_label(image),
    };
    let place = frame
        .place
        .map(|place| profile.strings.of(place.text).into_raw());
    let name = match place {
        Some(place) if !place.is_empty() && frame.name.is_some() => {
            safe(&format!("{name} {place}"))
        }
        _ => name,
    };
    let suffix = match audience {
        Audience::Picture if frame.level == Level::Kernel => "_[k]",
        Audience::Picture if frame.is_inlined => "_[i]",
        Audience::Picture if frame.is_jit => "_[j]",
        _ => "",
    };
    name + suffix
}

/// What code without a name is called: by its image.
pub(crate) fn nameless_label(image: &str) -> String {
    if image.starts_with('[') {
        safe(image)
    } else {
        format!("[{}]", safe(image))
    }
}

/// A name that cannot be taken for anything else in a folded line: no separator, no control
/// characters, no number at its end.
pub(crate) fn safe(name: &str) -> String {
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
    use crate::testing;

    fn folded(stacks: &[(&str, u64)]) -> FoldedStacks {
        let profile = testing::profile(stacks);
        let options = FoldOptions {
            first: FirstFrame::Outermost,
            audience: Audience::Tools,
            count: Count::Weight,
            threads: ThreadNames::Whole,
        };
        fold(&profile, &profile.events[0], options)
    }

    #[test]
    fn what_is_too_narrow_counts_for_its_callers() {
        let stacks = [
            ("a;b", 1),
            ("a;b;c", 4),
            ("a;b;d", 5),
            ("a;e;f", 3),
            ("g", 7),
            ("h;i", 80),
        ];
        for (percent, expected, n_narrow) in [
            (0.0, "a;b 1|a;b;c 4|a;b;d 5|a;e;f 3|g 7|h;i 80", 0),
            (5.0, "a;b 5|a;b;d 5|a 3|g 7|h;i 80", 3),
            (10.5, "a 13|prog 7|h;i 80", 6),
            (80.5, "prog 100", 9),
        ] {
            let mut folded = folded(&stacks);
            let narrow = folded.leave_out_narrow(Share::from_percent(percent));
            let lines: Vec<String> = folded.lines().collect();
            let lines = lines.join("|").replace("prog;", "");
            assert_eq!((lines.as_str(), narrow), (expected, n_narrow));
        }
    }

    #[test]
    fn the_threads_of_a_pool_have_one_name_if_asked() {
        let threads = ["cgu.1", "cgu.15", "python3.11", "main"];
        let names = |form| thread_labels(&threads, form).join(" ");
        let pooled = "cgu.<N> cgu.<N> python3.11 main";
        assert_eq!(names(ThreadNames::Pooled), pooled);
        let whole = "cgu.1 cgu.15 python3.11 main";
        assert_eq!(names(ThreadNames::Whole), whole);
    }

    #[test]
    fn names_are_made_safe() {
        assert_eq!(safe("a;b"), "a:b");
        assert_eq!(safe("worker 12"), "worker_12");
        assert_eq!(safe("worker 12 "), "worker 12 ");
        assert_eq!(safe("a\nb\x1b"), "a\\x0ab\\x1b");
        assert_eq!(safe("12"), "12");
    }
}
