//! A selection, looked up once for each thread and each stack.

use crate::{Focus, SampleSelection};
use rprof_profile::{
    FrameId, NameList, Profile, SampleColumns, SampleRow, SampledProfile, StackFilter, Tree,
};
use std::ops::Range;

/// A selection, looked up once for each thread and each stack.
#[derive(Debug)]
pub(crate) struct Chosen {
    /// Indices of samples.
    pub(crate) range: Range<usize>,
    /// Number of the event.
    pub(crate) event: u16,
    /// Whether there are no others.
    is_only_event: bool,
    /// By number; `None` if all are.
    cpus: Option<Vec<bool>>,
    /// By index of the thread; `None` if all are.
    threads: Option<Vec<bool>>,
    /// By node; `None` if all are.
    stacks: Option<Vec<bool>>,
}

impl Chosen {
    pub(crate) fn new(sampled: &SampledProfile, selection: &SampleSelection) -> Self {
        let samples = &sampled.samples;
        let range = match &selection.times_ns {
            Some(times) => samples.within(times),
            None => 0..samples.len(),
        };
        Self {
            range,
            event: u16::try_from(selection.event).unwrap_or(u16::MAX),
            is_only_event: sampled.profile.events.len() == 1,
            cpus: cpus(&selection.cpus),
            threads: threads(sampled, selection),
            stacks: stacks(sampled, selection),
        }
    }

    /// Whether percentages are of it, among others.
    #[inline]
    pub(crate) fn is_in_totals(&self, sample: &SampleRow) -> bool {
        sample.event == self.event && self.has_cpu(sample.cpu.unwrap_or(SampleColumns::NO_CPU))
    }

    /// Whether a sample of the totals counts, which has this stack.
    #[inline]
    pub(crate) fn is_shown(&self, sample: &SampleRow, stack: u32) -> bool {
        self.has_thread(sample.thread) && self.has_stack(stack)
    }

    /// Whether stacks that end at a node count.
    #[inline]
    pub(crate) fn has_stack(&self, stack: u32) -> bool {
        let stacks = self.stacks.as_ref();
        stacks.is_none_or(|stacks| stacks[stack as usize])
    }

    #[inline]
    fn has_cpu(&self, cpu: u16) -> bool {
        let has = |cpus: &Vec<bool>| cpus.get(usize::from(cpu)).copied().unwrap_or(false);
        self.cpus.as_ref().is_none_or(has)
    }

    #[inline]
    fn has_thread(&self, thread: u32) -> bool {
        let threads = self.threads.as_ref();
        threads.is_none_or(|threads| threads[thread as usize])
    }

    /// Calls `take` for each sample of the totals, with its place in the columns and whether its thread is chosen.
    /// What need not be asked of each sample is not.
    #[inline]
    pub(crate) fn for_each(&self, columns: SampleColumns<'_>, mut take: impl FnMut(usize, bool)) {
        let SampleColumns {
            events,
            threads,
            cpus,
            ..
        } = columns;
        let n = events.len();
        match (self.is_only_event && self.cpus.is_none(), &self.threads) {
            (true, None) => (0..n).for_each(|at| take(at, true)),
            (true, Some(chosen)) => {
                (0..n).for_each(|at| take(at, chosen[threads[at] as usize]));
            }
            (false, _) => {
                let is_in = |&at: &usize| events[at] == self.event && self.has_cpu(cpus[at]);
                let all = (0..n).filter(is_in);
                all.for_each(|at| take(at, self.has_thread(threads[at])));
            }
        }
    }
}

/// By number; `None` if all are asked for.
fn cpus(asked: &[u16]) -> Option<Vec<bool>> {
    let last = asked.iter().max()?;
    let mut cpus = vec![false; usize::from(*last) + 1];
    asked.iter().for_each(|&cpu| cpus[usize::from(cpu)] = true);
    // No sample is on it.
    if let Some(none) = cpus.get_mut(usize::from(SampleColumns::NO_CPU)) {
        *none = false;
    }
    Some(cpus)
}

fn threads(sampled: &SampledProfile, selection: &SampleSelection) -> Option<Vec<bool>> {
    fn has<T: PartialEq>(list: &[T], one: &T) -> bool {
        list.is_empty() || list.contains(one)
    }
    let SampleSelection {
        threads,
        pids,
        tids,
        comms,
        ..
    } = selection;
    if threads.is_empty() && pids.is_empty() && tids.is_empty() && comms.is_empty() {
        return None;
    }
    let strings = &sampled.profile.strings;
    let chosen = (0u32..).zip(&sampled.threads).map(|(idx, thread)| {
        has(threads, &idx)
            && has(pids, &thread.pid)
            && has(tids, &thread.tid)
            && comms.accepts(&[strings.of(thread.comm).into_raw()])
    });
    Some(chosen.collect())
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
        let self_nodes = sampled
            .stacks
            .self_nodes(&profile.frames, profile.self_time);
        for (shown, node) in shown.iter_mut().zip(self_nodes) {
            *shown &= own[nodes[node as usize].frame.number() as usize];
        }
    }
    if !frames.is_empty() {
        let filter = StackFilter::new(frames, &profile.frames, &profile.strings);
        let kept = filter.of_tree(&sampled.stacks);
        shown
            .iter_mut()
            .zip(kept)
            .for_each(|(shown, is_kept)| *shown &= is_kept);
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
