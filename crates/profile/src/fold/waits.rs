//! Waits by what they are for: instead of the kernel's functions that lead to the scheduler.

use crate::{EventProfile, FrameId, FrameInfo, Level, Node, Profile, SampleCount, StrId, Tree};
use foldhash::HashMap;

impl Profile {
    /// Makes one frame, named as the cause of the wait (`[futex]`), of the kernel's part of each stack in which a thread
    /// waits; where there is none, it is put in its place. Groups must be told apart by the causes of waits.
    ///
    /// Returns the causes by their frames.
    pub fn fold_kernel_waits(&mut self) -> HashMap<FrameId, StrId> {
        let mut causes = HashMap::default();
        let mut events = std::mem::take(&mut self.events);
        for event in &mut events {
            self.fold_kernel_waits_of(event, &mut causes);
        }
        self.events = events;
        causes
    }

    fn fold_kernel_waits_of(
        &mut self,
        event: &mut EventProfile,
        causes: &mut HashMap<FrameId, StrId>,
    ) {
        let of_groups = self.causes_of(event);
        let mut frame_of = |cause: StrId| {
            let name = self.wait_label(cause);
            let name = self.strings.intern(&name);
            let frame = self.frames.intern(FrameInfo::named(name, name));
            causes.insert(frame, cause);
            frame
        };
        let of_groups = of_groups.into_iter().map(|cause| cause.map(&mut frame_of));
        let of_groups: Vec<Option<FrameId>> = of_groups.collect();
        let mut tree = Tree::default();
        let mut moved: Vec<Option<u32>> = Vec::with_capacity(event.tree.nodes().len());
        for node in event.tree.nodes() {
            let outer = node.parent.and_then(|parent| moved[parent as usize]);
            let wait = of_groups.get(node.group as usize).copied().flatten();
            let is_folded = wait.is_some() && self.frames.of(node.frame).level == Level::Kernel;
            let here = if is_folded {
                outer
            } else {
                Some(tree.child(outer, node.group, node.frame))
            };
            moved.push(here);
            if node.self_samples == 0 {
                continue;
            }
            let end = match (wait, here) {
                (None, Some(here)) => here,
                (wait, _) => tree.child(here, node.group, wait.unwrap_or(node.frame)),
            };
            tree.count(end, node.own());
        }
        let counts: Vec<SampleCount> = tree.nodes().iter().map(Node::own).collect();
        // What is left of stacks that were folded is without samples.
        event.tree = tree.counted(&counts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fold::tests::lines;
    use crate::{Group, Tally, ValuesId, testing};

    /// Frames of the kernel begin with `k:`.
    fn profile(stacks: &[(Option<&str>, &str, u64)]) -> Profile {
        let mut profile = Profile::default();
        let mut tally = Tally::default();
        let mut groups = Vec::new();
        for (number, &(cause, stack, weight)) in (0..).zip(stacks) {
            let cause = cause.map(|cause| profile.strings.intern(cause));
            let values = cause.map_or(ValuesId::NONE, |cause| profile.values_of_cause(cause));
            let comm = profile.strings.intern("prog");
            groups.push(Group { comm, values });
            let frames = stack.split(';').map(|name| {
                let (level, name) = match name.strip_prefix("k:") {
                    Some(name) => (Level::Kernel, name),
                    None => (Level::User, name),
                };
                let function = testing::function(&mut profile, name, "prog");
                profile.frames.intern(FrameInfo { level, ..function })
            });
            let frames: Vec<_> = frames.collect();
            tally.add_samples(1, weight);
            let group = tally.group(number);
            tally.add_stack(group, frames.into_iter(), SampleCount::one(weight));
        }
        let event = EventProfile {
            groups,
            ..testing::counted(&mut profile, tally)
        };
        profile.events.push(event);
        profile
    }

    #[test]
    fn the_kernel_of_a_wait_is_its_cause_and_running_stays() {
        let mut profile = profile(&[
            (Some("running"), "main;read;k:entry;k:pipe_read", 3),
            (Some("pipe"), "main;read;k:entry;k:pipe_read;k:schedule", 40),
            (Some("pipe"), "main;read;k:entry;k:pipe_read", 2),
            // Of nobody's rights, or of a thread of the kernel.
            (Some("sleep"), "main;usleep", 7),
            (Some("unknown"), "k:kthread;k:schedule", 5),
            (Some("runnable"), "main;work;k:irq;k:schedule", 6),
        ]);
        let n_nodes = profile.events[0].tree.nodes().len();
        let causes = profile.fold_kernel_waits();
        assert!(n_nodes > profile.events[0].tree.nodes().len());
        let expected = [
            "prog;[unknown] 5",
            "prog;main;read;[pipe] 42",
            "prog;main;read;entry;pipe_read 3",
            "prog;main;usleep;[sleep] 7",
            "prog;main;work;[runnable] 6",
        ];
        assert_eq!(lines(&profile), expected);
        let names = causes
            .values()
            .map(|&cause| profile.strings.of(cause).into_raw());
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        assert_eq!(names, ["pipe", "runnable", "sleep", "unknown"]);
    }
}
