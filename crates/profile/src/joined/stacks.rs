//! Counted stacks of code locations of several recordings.

use super::{JoinedCode, JoinedFacts, event_number, moved};
use crate::{CountedStacks, CountedThread, FrameId, Profile, SampleCount, StackCount, StrId};
use foldhash::HashMap;

/// Counted stacks that others are added to: as large as what is distinct in them.
#[derive(Clone, Debug, Default)]
pub struct JoinedStacks {
    stacks: CountedStacks,
    code: JoinedCode,
    threads: HashMap<(i32, i32, StrId), u32>,
    counts: HashMap<CountKey, SampleCount>,
    facts: JoinedFacts,
}

/// Stack, thread, CPU, event.
type CountKey = (Option<u32>, u32, Option<u32>, u32);

impl JoinedStacks {
    /// Adds all that another recording has.
    pub fn add(&mut self, part: &CountedStacks) {
        let profile = &part.profile;
        let own = &mut self.stacks;
        let locations =
            (self.code).locations((profile, &part.code), (&mut own.profile, &mut own.code));
        let mut nodes: Vec<Option<u32>> = Vec::with_capacity(part.stacks.nodes().len());
        for node in part.stacks.nodes() {
            let parent = node.parent.and_then(|parent| nodes[parent as usize]);
            let location = locations.get(node.frame.number() as usize);
            let own = location.map(|&location| {
                let frame = FrameId::from_number(location);
                self.stacks.stacks.child(parent, node.group, frame)
            });
            nodes.push(own);
        }
        let threads: Vec<u32> = part
            .threads
            .iter()
            .map(|one| self.thread(profile, *one))
            .collect();
        let own = &mut self.stacks.profile;
        let mut events = Vec::with_capacity(profile.events.len());
        for (nth, event) in profile.events.iter().enumerate() {
            let number = event_number(&mut own.events, profile, nth);
            let sum = &mut own.events[number];
            sum.samples += event.samples;
            sum.weight = sum.weight.saturating_add(event.weight);
            sum.loss = sum.loss + event.loss;
            events.push(u32::try_from(number).unwrap_or(u32::MAX));
        }
        for one in &part.counts {
            let stack = one.stack.and_then(|node| nodes[node as usize]);
            let key = (
                stack,
                threads[one.thread as usize],
                one.cpu,
                events[one.event as usize],
            );
            self.counts.entry(key).or_default().add(one.count);
        }
        // Times of several clocks have no common span.
        self.stacks.span_ns = match self.facts.n_parts() {
            0 => part.span_ns.clone(),
            _ => None,
        };
        self.facts.add(&mut self.stacks.profile, profile);
    }

    /// All of them.
    pub fn finish(mut self) -> CountedStacks {
        if self.facts.n_parts() > 1 {
            // They are of several clocks.
            self.stacks.profile.gaps.seconds.clear();
        }
        let mut counts: Vec<(CountKey, SampleCount)> = self.counts.into_iter().collect();
        counts.sort_unstable_by_key(|(key, _)| *key);
        let counts = counts
            .into_iter()
            .map(|((stack, thread, cpu, event), count)| StackCount {
                stack,
                thread,
                cpu,
                event,
                count,
            });
        self.stacks.counts = counts.collect();
        self.stacks.stacks.freeze();
        self.stacks
    }

    fn thread(&mut self, part: &Profile, thread: CountedThread) -> u32 {
        let comm = moved(&mut self.stacks.profile.strings, part, thread.comm);
        let all = &mut self.stacks.threads;
        let key = (thread.pid, thread.tid, comm);
        *self.threads.entry(key).or_insert_with(|| {
            all.push(CountedThread { comm, ..thread });
            u32::try_from(all.len() - 1).unwrap_or(u32::MAX)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CodeFrame, CodeImage, CodeKind, CodeLocation, testing};

    /// A stack of one function, counted twice, in a program with a build id.
    fn part(build_id: &str, address: u64, inlined: bool) -> CountedStacks {
        let mut part = CountedStacks::default();
        let profile = &mut part.profile;
        profile.events.push(testing::event("cycles"));
        let names: &[&str] = if inlined {
            &["+inner", "main"]
        } else {
            &["main"]
        };
        let frames = names.iter().map(|name| CodeFrame {
            frame: testing::frame(profile, name),
            line: None,
        });
        let frames = frames.collect();
        let [name, build_id] = ["prog", build_id].map(|text| profile.strings.intern(text));
        part.code.images.push(CodeImage {
            name,
            path: name,
            build_id: Some(build_id),
            kind: CodeKind::Program,
            base: None,
        });
        part.code.locations.push(CodeLocation {
            image: 0,
            address,
            svma: None,
            function: None,
            frames,
        });
        part.threads.push(CountedThread {
            pid: 1,
            tid: 1,
            comm: name,
        });
        let stack = Some(part.stacks.child(None, 0, FrameId::from_number(0)));
        part.counts.push(StackCount {
            stack,
            thread: 0,
            cpu: Some(0),
            event: 0,
            count: SampleCount {
                samples: 2,
                weight: 20,
            },
        });
        part
    }

    /// Images, locations and counts of recordings together.
    fn joined(parts: [CountedStacks; 2]) -> (usize, usize, Vec<u64>) {
        let mut joined = JoinedStacks::default();
        parts.iter().for_each(|part| joined.add(part));
        let all = joined.finish();
        let samples = all.counts.iter().map(|one| one.count.samples);
        (
            all.code.images.len(),
            all.code.locations.len(),
            samples.collect(),
        )
    }

    #[test]
    fn builds_of_a_program_stay_apart() {
        let one = || part("aa", 16, false);
        assert_eq!(joined([one(), one()]), (1, 1, vec![4]));
        assert_eq!(joined([one(), part("bb", 16, false)]), (2, 2, vec![2, 2]));
        assert_eq!(joined([one(), part("aa", 17, false)]), (1, 2, vec![2, 2]));
        assert_eq!(joined([one(), part("aa", 16, true)]), (1, 2, vec![2, 2]));
    }
}
