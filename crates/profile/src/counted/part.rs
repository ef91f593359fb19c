//! A part of counted stacks that leads nowhere but into itself: servers take only so much at a time.

use crate::{
    CodeFrame, CodeImage, CodeKind, CodeLocation, CodeTable, CountedStacks, CountedThread, FrameId,
    FrameInfo, Level, Profile, SampleCount, StackCount, Tree,
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

impl CountedStacks {
    /// What was counted of an event, in order.
    pub fn of_event(&self, event: u32) -> Vec<StackCount> {
        let counts = self.counts.iter();
        counts.filter(|one| one.event == event).copied().collect()
    }

    /// Hands over counts of one event as if nothing else had been counted: their sums, and the threads and the code
    /// that they lead to. Longer stacks keep their innermost frames, `max_depth` in all with a frame `[truncated]` in
    /// place of the outer ones. Losses are the event's, if the counts are its first.
    ///
    /// The profile's names and functions are lent to the part, not copied.
    pub fn with_part<T>(
        &mut self,
        counts: &[StackCount],
        max_depth: usize,
        take: impl FnOnce(&Self, CutStacks) -> T,
    ) -> T {
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
            let is_first = self.counts.iter().find(|one| one.event == event) == counts.first();
            if !is_first {
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
        self.stacks.counts.push(StackCount {
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
        let frame = self.profile.frames.intern(FrameInfo {
            name: Some(name),
            image: name,
            start: None,
            level: Level::User,
            is_inlined: false,
            is_jit: false,
            is_fde: false,
            position: None,
            place: None,
        });
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
mod tests {
    use super::*;
    use crate::testing;

    /// Two events; a stack of three frames in one program, and one of another thread in a library.
    fn whole() -> CountedStacks {
        let mut whole = CountedStacks::default();
        for (number, name) in (0u32..).zip(["main", "work", "hot", "other"]) {
            let frame = testing::frame(&mut whole.profile, name);
            let image = u32::from(name == "other");
            whole.code.locations.push(CodeLocation {
                image,
                address: number.into(),
                svma: None,
                function: None,
                frames: vec![CodeFrame { frame, line: None }],
            });
        }
        for path in ["prog", "lib"] {
            let name = whole.profile.strings.intern(path);
            whole.code.images.push(CodeImage {
                name,
                path: name,
                build_id: None,
                kind: CodeKind::Program,
                base: None,
            });
        }
        let comm = whole.profile.strings.intern("prog");
        for tid in [7, 8] {
            whole.threads.push(CountedThread { pid: 7, tid, comm });
        }
        whole.profile.events = vec![testing::event("cycles"), testing::event("faults")];
        let mut parent = None;
        for number in 0..3 {
            let frame = FrameId::from_number(number);
            parent = Some(whole.stacks.child(parent, 0, frame));
        }
        let other = whole.stacks.child(None, 0, FrameId::from_number(3));
        let counts = [
            (parent, 0, 0, (2, 20)),
            (parent, 0, 1, (1, 1)),
            (Some(other), 1, 0, (3, 30)),
            (None, 1, 0, (4, 40)),
        ];
        let counts = counts.map(|(stack, thread, event, (samples, weight))| StackCount {
            stack,
            thread,
            cpu: None,
            event,
            count: SampleCount { samples, weight },
        });
        whole.counts = counts.to_vec();
        whole
    }

    /// Names of a stack's functions, innermost first.
    fn names(part: &CountedStacks, one: &StackCount) -> Vec<String> {
        let nodes = part.stacks.path(one.stack);
        let locations = nodes.map(|node| part.code.of(node).unwrap());
        let frames = locations.map(|location| location.frames[0].frame);
        let profile = &part.profile;
        frames
            .map(|frame| profile.frames.label(frame, &profile.strings).into_raw())
            .collect()
    }

    #[test]
    fn a_part_has_only_what_its_counts_lead_to() {
        let mut whole = whole();
        let counts = whole.of_event(0);
        assert_eq!(counts.len(), 3);
        whole.with_part(&counts[1..], 100, |part, cut| {
            assert_eq!(cut.samples, 0);
            assert_eq!((part.code.images.len(), part.code.locations.len()), (1, 1));
            assert_eq!(part.threads.len(), 1);
            assert_eq!(part.threads[0].tid, 8);
            let [event] = &part.profile.events[..] else {
                panic!("one event");
            };
            assert_eq!((event.samples, event.weight), (7, 70));
            assert_eq!(names(part, &part.counts[0]), ["other"]);
            assert_eq!(part.counts[1].stack, None);
        });
        assert_eq!(whole.profile.events.len(), 2);
        assert_eq!(whole.counts.len(), 4);
    }

    #[test]
    fn longer_stacks_keep_their_innermost_frames() {
        let mut whole = whole();
        let counts = whole.of_event(0);
        for (max_depth, expected, n_cut) in [
            (3, &["hot", "work", "main"][..], 0),
            (2, &["hot", TRUNCATED], 2),
        ] {
            whole.with_part(&counts, max_depth, |part, cut| {
                assert_eq!(names(part, &part.counts[0]), expected);
                assert_eq!(cut.samples, n_cut);
                let samples = part.counts.iter().map(|one| one.count.samples);
                assert_eq!(samples.sum::<u64>(), 9);
            });
        }
    }

    #[test]
    fn losses_are_of_the_first_part() {
        let mut whole = whole();
        whole.profile.events[0].loss.samples = 5;
        let counts = whole.of_event(0);
        for (range, lost) in [(0..1, 5), (1..3, 0)] {
            whole.with_part(&counts[range], 9, |part, _| {
                assert_eq!(part.profile.events[0].loss.samples, lost);
            });
        }
    }
}
