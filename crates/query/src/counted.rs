//! Samples that are selected, counted by stack.

use crate::{Focus, SampleSelection};
use rprof_profile::{
    EventProfile, FrameId, NameList, Profile, SampleCount, SampleRow, SampledProfile, Tree,
};
use std::ops::Range;

/// Counts the samples of an event that are selected.
pub(crate) fn count(sampled: &SampledProfile, selection: &SampleSelection) -> Option<EventProfile> {
    let of = sampled.profile.events.get(selection.event)?;
    let chosen = Chosen::of(sampled, selection);
    let mut counts = vec![SampleCount::default(); sampled.stacks.nodes().len()];
    let mut all = SampleCount::default();
    for sample in sampled.samples.rows(chosen.range.clone()) {
        if !chosen.is_in_totals(&sample) {
            continue;
        }
        let one = SampleCount::one(sample.weight);
        all.add(one);
        if let Some(stack) = sample.stack
            && chosen.is_shown(&sample, stack)
        {
            counts[stack as usize].add(one);
        }
    }
    Some(EventProfile {
        name: of.name.clone(),
        kind: of.kind,
        sampling: of.sampling,
        loss: of.loss,
        samples: all.samples,
        weight: all.weight,
        tree: tree_of(sampled, &counts, selection.focus),
        groups: sampled.groups.clone(),
    })
}

/// A selection, looked up once for each thread and each stack.
#[derive(Debug)]
pub(crate) struct Chosen<'s> {
    selection: &'s SampleSelection,
    /// Indices of samples.
    pub(crate) range: Range<usize>,
    event: u16,
    /// By index of the thread.
    threads: Vec<bool>,
    /// By node; `None` if all are.
    stacks: Option<Vec<bool>>,
}

impl<'s> Chosen<'s> {
    pub(crate) fn of(sampled: &SampledProfile, selection: &'s SampleSelection) -> Self {
        let samples = &sampled.samples;
        let range = match &selection.times_ns {
            Some(times) => samples.within(times),
            None => 0..samples.len(),
        };
        Self {
            selection,
            range,
            event: u16::try_from(selection.event).unwrap_or(u16::MAX),
            threads: threads(sampled, selection),
            stacks: stacks(sampled, selection),
        }
    }

    /// Whether percentages are of it, among others.
    #[inline]
    pub(crate) fn is_in_totals(&self, sample: &SampleRow) -> bool {
        let cpus = &self.selection.cpus;
        sample.event == self.event
            && (cpus.is_empty() || sample.cpu.is_some_and(|cpu| cpus.contains(&cpu)))
    }

    /// Whether a sample of the totals counts, which has this stack.
    #[inline]
    pub(crate) fn is_shown(&self, sample: &SampleRow, stack: u32) -> bool {
        let stacks = self.stacks.as_ref();
        self.threads[sample.thread as usize] && stacks.is_none_or(|stacks| stacks[stack as usize])
    }
}

fn threads(sampled: &SampledProfile, selection: &SampleSelection) -> Vec<bool> {
    fn has<T: PartialEq>(list: &[T], one: &T) -> bool {
        list.is_empty() || list.contains(one)
    }
    let strings = &sampled.profile.strings;
    let threads = (0u32..).zip(&sampled.threads).map(|(idx, thread)| {
        has(&selection.threads, &idx)
            && has(&selection.pids, &thread.pid)
            && has(&selection.tids, &thread.tid)
            && selection
                .comms
                .accepts(&[strings.of(thread.comm).into_raw()])
    });
    threads.collect()
}

/// Stacks by node of their innermost frame.
fn stacks(sampled: &SampledProfile, selection: &SampleSelection) -> Option<Vec<bool>> {
    let SampleSelection {
        dsos,
        symbols,
        frames,
        focus,
        ..
    } = selection;
    let has_own = !dsos.is_empty() || !symbols.is_empty();
    if !has_own && frames.is_empty() && focus.is_none() {
        return None;
    }
    let (profile, nodes) = (&sampled.profile, sampled.stacks.nodes());
    let mut shown = vec![true; nodes.len()];
    if has_own {
        let own = by_frame(profile, |frame| {
            accepts_own(profile, (dsos, symbols), frame)
        });
        let hosts = sampled.stacks.hosts(&profile.frames);
        for (shown, host) in shown.iter_mut().zip(hosts) {
            *shown &= own[nodes[host as usize].frame.number() as usize];
        }
    }
    if !frames.is_empty() {
        let of = by_frame(profile, |frame| {
            let name = profile.frames.of(frame).filter_name(&profile.strings);
            match name.as_deref() {
                Some(name) => frames.of_any(name),
                None => (false, false),
            }
        });
        let has = |pick: fn(&(bool, bool)) -> bool| {
            on_path(&sampled.stacks, |frame| pick(&of[frame.number() as usize]))
        };
        let (wanted, unwanted) = (has(|of| of.0), has(|of| of.1));
        let needs_one = frames.has_wanted();
        for (node, shown) in shown.iter_mut().enumerate() {
            *shown &= (wanted[node] || !needs_one) && !unwanted[node];
        }
    }
    if let Some(Focus::Below(focus) | Focus::Above(focus)) = *focus {
        let has = on_path(&sampled.stacks, |frame| frame == focus);
        shown
            .iter_mut()
            .zip(has)
            .for_each(|(shown, has)| *shown &= has);
    }
    Some(shown)
}

fn accepts_own(profile: &Profile, (dsos, symbols): (&NameList, &NameList), frame: FrameId) -> bool {
    let frame = profile.frames.of(frame);
    let name = frame.filter_name(&profile.strings);
    let image = profile.strings.of(frame.image).into_raw();
    dsos.accepts(&[image]) && symbols.accepts(name.as_deref().as_slice())
}

fn by_frame<T>(profile: &Profile, of: impl Fn(FrameId) -> T) -> Vec<T> {
    profile.frames.ids().map(of).collect()
}

/// By node, whether its frame or one further out is such.
fn on_path(tree: &Tree, is_such: impl Fn(FrameId) -> bool) -> Vec<bool> {
    let mut on_path: Vec<bool> = Vec::with_capacity(tree.nodes().len());
    for node in tree.nodes() {
        let outer = node.parent.is_some_and(|parent| on_path[parent as usize]);
        on_path.push(outer || is_such(node.frame));
    }
    on_path
}

/// A tree of the stacks that count anything, or of the part of them that is asked for.
fn tree_of(sampled: &SampledProfile, counts: &[SampleCount], focus: Option<Focus>) -> Tree {
    match focus {
        None => sampled.stacks.counted(counts),
        Some(Focus::Below(focus)) => below(&sampled.stacks, counts, focus),
        Some(Focus::Above(focus)) => above(&sampled.stacks, counts, focus),
    }
}

/// Stacks from the outermost frame that is such on inwards.
fn below(stacks: &Tree, counts: &[SampleCount], focus: FrameId) -> Tree {
    let counted = stacks.counted(counts);
    let mut tree = Tree::default();
    let mut moved: Vec<Option<u32>> = Vec::with_capacity(counted.nodes().len());
    for node in counted.nodes() {
        let parent = node.parent.and_then(|parent| moved[parent as usize]);
        let is_in = parent.is_some() || node.frame == focus;
        let here = is_in.then(|| tree.child(parent, node.group, node.frame));
        if let Some(here) = here {
            tree.count(here, node.self_weight, node.self_samples);
        }
        moved.push(here);
    }
    tree.freeze();
    tree
}

/// Stacks up to the outermost frame that is such.
fn above(stacks: &Tree, counts: &[SampleCount], focus: FrameId) -> Tree {
    let nodes = stacks.nodes();
    let mut moved: Vec<(u32, bool)> = Vec::with_capacity(nodes.len());
    let mut ends = vec![SampleCount::default(); nodes.len()];
    for (number, (node, &count)) in (0u32..).zip(nodes.iter().zip(counts)) {
        let outer = node.parent.map(|parent| moved[parent as usize]);
        let here = match outer {
            Some((end, true)) => (end, true),
            _ => (number, node.frame == focus),
        };
        ends[here.0 as usize].add(count);
        moved.push(here);
    }
    stacks.counted(&ends)
}
