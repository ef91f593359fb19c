//! A part of counted stacks that leads nowhere but into itself: servers take only so much at a time.

use crate::{
    CodeFrame, CodeImage, CodeKind, CodeLocation, CodeTable, CountedStacks, CountedThread, FrameId,
    FrameInfo, Profile, SampleCount, StackCount, Tree,
};
use foldhash::HashMap;

/// Stands at the outer end of a stack that was cut.
const TRUNCATED: &str = "[truncated]";

/// Samples whose stacks were cut: more frames than a server takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CutStacks {
    /// How many samples had such a stack.
    pub samples: u64,
}

/// What becomes a part of its own.
#[derive(Clone, Copy, Debug)]
pub struct PartOf<'c> {
    /// Counts of one event.
    pub counts: &'c [StackCount],
    /// Frames of a stack. Longer stacks keep their innermost frames, and a frame `[truncated]` is in place of the outer
    /// ones.
    pub max_depth: usize,
    /// The event's losses are this part's.
    pub has_losses: bool,
}

impl CountedStacks {
    /// What was counted of an event, in order.
    pub fn of_event(&self, event: u32) -> Vec<StackCount> {
        let counts = self.counts.iter();
        counts.filter(|one| one.event == event).copied().collect()
    }

    /// The same by stack and thread name alone, in order: the first thread of each name stands for all that have it,
    /// and no CPU is told.
    pub fn of_event_by_comm(&self, event: u32) -> Vec<StackCount> {
        let mut first = HashMap::default();
        let numbered = (0u32..).zip(&self.threads);
        let first_of_name: Vec<u32> = numbered
            .map(|(number, thread)| *first.entry(thread.comm).or_insert(number))
            .collect();
        let mut known: HashMap<(Option<u32>, u32), usize> = HashMap::default();
        let mut counts: Vec<StackCount> = Vec::new();
        for one in self.counts.iter().filter(|one| one.event == event) {
            let thread = first_of_name.get(one.thread as usize);
            let thread = thread.copied().unwrap_or(one.thread);
            let idx = *known.entry((one.stack, thread)).or_insert(counts.len());
            match counts.get_mut(idx) {
                Some(same) => same.count.add(one.count),
                None => counts.push(StackCount {
                    thread,
                    cpu: None,
                    ..*one
                }),
            }
        }
        counts
    }

    /// Hands over counts of one event as if nothing else had been counted: their sums, and the threads and the code
    /// that they lead to. Stacks that are equal once they are cut are counted as one.
    ///
    /// The profile's names and functions are lent to the part, not copied.
    pub fn with_part<T>(&mut self, of: PartOf<'_>, take: impl FnOnce(&Self, CutStacks) -> T) -> T {
        let PartOf {
            counts,
            max_depth,
            has_losses,
        } = of;
        let mut profile = std::mem::take(&mut self.profile);
        let events = std::mem::take(&mut profile.events);
        let mut part = Part::new(self, &mut profile, max_depth.max(2));
        let mut sum = SampleCount::default();
        let mut cut = CutStacks::default();
        for one in counts {
            sum.add(one.count);
            let is_cut = part.add(one);
            cut.samples += if is_cut { one.count.samples } else { 0 };
        }
        let mut taken = part.stacks;
        taken.stacks.freeze();
        let event = counts.first().map_or(0, |first| first.event);
        if let Some(whole) = events.get(event as usize) {
            let mut own = whole.clone();
            (own.samples, own.weight) = (sum.samples, sum.weight);
            if !has_losses {
                own.loss = crate::Loss::default();
            }
            profile.events = vec![own];
        }
        taken.profile = profile;
        let result = take(&taken, cut);
        self.profile = taken.profile;
        self.profile.events = events;
        result
    }
}

/// A part that grows.
struct Part<'w> {
    whole: &'w CountedStacks,
    profile: &'w mut Profile,
    max_depth: usize,
    stacks: CountedStacks,
    /// Own numbers of what the whole has, by its numbers.
    nodes: HashMap<u32, u32>,
    locations: HashMap<u32, FrameId>,
    images: HashMap<u32, u32>,
    threads: HashMap<u32, u32>,
    /// Index of what was counted of a cut stack, by stack, thread and CPU.
    cut: HashMap<(Option<u32>, u32, Option<u32>), usize>,
    /// The frame that stands for others.
    truncated: Option<FrameId>,
}

impl<'w> Part<'w> {
    fn new(whole: &'w CountedStacks, profile: &'w mut Profile, max_depth: usize) -> Self {
        Self {
            whole,
            profile,
            max_depth,
            stacks: CountedStacks {
                span_ns: whole.span_ns.clone(),
                code: CodeTable::default(),
                stacks: Tree::default(),
                ..CountedStacks::default()
            },
            nodes: HashMap::default(),
            locations: HashMap::default(),
            images: HashMap::default(),
            threads: HashMap::default(),
            cut: HashMap::default(),
            truncated: None,
        }
    }

    /// Adds what was counted at a stack; whether the stack was cut.
    fn add(&mut self, one: &StackCount) -> bool {
        let depth = self.whole.stacks.path(one.stack).count();
        let is_cut = depth > self.max_depth;
        let stack = if is_cut {
            self.cut_stack(one.stack)
        } else {
            one.stack.and_then(|stack| self.stack(stack))
        };
        let thread = self.thread(one.thread);
        let counts = &mut self.stacks.counts;
        // Only cut stacks can have become equal: all of them begin with the same frame, which no other has.
        if is_cut {
            let known = self.cut.entry((stack, thread, one.cpu));
            let idx = *known.or_insert(counts.len());
            if let Some(equal) = counts.get_mut(idx) {
                equal.count.add(one.count);
                return true;
            }
        }
        counts.push(StackCount {
            stack,
            thread,
            event: 0,
            ..*one
        });
        is_cut
    }

    /// Own node of a whole stack.
    fn stack(&mut self, innermost: u32) -> Option<u32> {
        let whole = self.whole;
        let mut todo = Vec::new();
        let mut at = Some(innermost);
        while let Some(number) = at
            && !self.nodes.contains_key(&number)
        {
            todo.push(number);
            at = whole.stacks.nodes().get(number as usize)?.parent;
        }
        let mut parent = at.and_then(|known| self.nodes.get(&known).copied());
        while let Some(number) = todo.pop() {
            let node = whole.stacks.nodes().get(number as usize)?;
            let location = self.location(node.frame)?;
            let own = self.stacks.stacks.child(parent, 0, location);
            self.nodes.insert(number, own);
            parent = Some(own);
        }
        parent
    }

    /// Own node of the inner end of a stack.
    fn cut_stack(&mut self, innermost: Option<u32>) -> Option<u32> {
        let whole = self.whole;
        let path = whole.stacks.path(innermost).take(self.max_depth - 1);
        let frames: Vec<FrameId> = path.map(|node| node.frame).collect();
        let truncated = self.truncated();
        let mut parent = self.stacks.stacks.child(None, 0, truncated);
        for frame in frames.into_iter().rev() {
            let location = self.location(frame)?;
            parent = self.stacks.stacks.child(Some(parent), 0, location);
        }
        Some(parent)
    }

    /// Own number of a code location.
    fn location(&mut self, theirs: FrameId) -> Option<FrameId> {
        if let Some(known) = self.locations.get(&theirs.number()) {
            return Some(*known);
        }
        let whole = self.whole;
        let location = whole.code.locations.get(theirs.number() as usize)?.clone();
        let image = self.image(location.image)?;
        let own = self.push_location(CodeLocation { image, ..location });
        self.locations.insert(theirs.number(), own);
        Some(own)
    }

    fn push_location(&mut self, location: CodeLocation) -> FrameId {
        let all = &mut self.stacks.code.locations;
        all.push(location);
        FrameId::from_number(number(all.len() - 1))
    }

    fn image(&mut self, theirs: u32) -> Option<u32> {
        if let Some(known) = self.images.get(&theirs) {
            return Some(*known);
        }
        let image = *self.whole.code.images.get(theirs as usize)?;
        let own = self.push_image(image);
        self.images.insert(theirs, own);
        Some(own)
    }

    fn push_image(&mut self, image: CodeImage) -> u32 {
        let all = &mut self.stacks.code.images;
        all.push(image);
        number(all.len() - 1)
    }

    fn thread(&mut self, theirs: u32) -> u32 {
        let (whole, all) = (self.whole, &mut self.stacks.threads);
        *self.threads.entry(theirs).or_insert_with(|| {
            let thread = whole.threads.get(theirs as usize);
            // A number without thread stays one.
            let Some(&CountedThread { pid, tid, comm }) = thread else {
                return u32::MAX;
            };
            all.push(CountedThread { pid, tid, comm });
            number(all.len() - 1)
        })
    }

    /// The location that stands for frames that were cut.
    fn truncated(&mut self) -> FrameId {
        if let Some(known) = self.truncated {
            return known;
        }
        let name = self.profile.strings.intern(TRUNCATED);
        let frame = self.profile.frames.intern(FrameInfo::named(name, name));
        let image = self.push_image(CodeImage {
            name,
            path: name,
            build_id: None,
            kind: CodeKind::Unknown,
            base: None,
        });
        let own = self.push_location(CodeLocation {
            image,
            address: 0,
            svma: None,
            function: None,
            frames: vec![CodeFrame { frame, line: None }],
        });
        self.truncated = Some(own);
        own
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
