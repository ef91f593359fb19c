//! Waits for work: threads of a pool that have none, and loops that wait for events.

use crate::waits::IDLE as IDLE_CAUSE;
use crate::{
    Dimension, DimensionValue, EventProfile, FrameId, FrameInfo, Group, Node, Profile, SampleCount,
    Tree,
};
use foldhash::fast::RandomState;
use rprof_base::{Interner, Share};

/// Causes of waits that are for work wherever they are, as `rprof_scheduling` names them.
const IDLE: &[&str] = &["epoll", "poll", "select", "io_uring", "signal"];

/// Functions that wait for work, by how their names begin after underscores, and the cause of such waits. A futex that is
/// waited for in anything else may be a lock.
const IN_FUNCTIONS: &[(&str, &[&str])] = &[
    (
        "futex",
        &[
            "pthread_cond_",
            "cnd_wait",
            "cnd_timedwait",
            "sem_wait",
            "sem_timedwait",
            "sem_clockwait",
            "new_sem_wait",
            "std::condition_variable",
            "std::thread::park",
            "std::sync::condvar::Condvar::wait",
            "std::sync::poison::condvar::Condvar::wait",
            "parking_lot::condvar::Condvar::wait",
            "runtime.mPark",
            "runtime.stopm",
            "runtime.notesleep",
            "runtime.notetsleep",
            "Unsafe_Park",
            "Parker::park",
            "ObjectMonitor::wait",
        ],
    ),
    (
        "socket",
        &["accept", "inet_csk_accept", "unix_accept", "sys_accept"],
    ),
];

/// What stands for them.
const NAME: &str = "[idle]";

impl Profile {
    /// Makes one frame, `[idle]`, of each stack in which a thread waits for work. Groups must be told apart by the causes
    /// of waits.
    pub(super) fn fold_idle(&mut self, event: &mut EventProfile) {
        let idle = self.idle_frame();
        let cause = self.strings.intern(IDLE_CAUSE);
        let waits: Vec<Wait> = event
            .groups
            .iter()
            .map(|group| self.wait_of(group))
            .collect();
        if waits.iter().all(|wait| matches!(wait, Wait::Busy)) {
            return;
        }
        let mut groups: Interner<u32, Group, RandomState> = Interner::default();
        let own = event.groups.iter();
        let own: Vec<u32> = own.map(|&group| groups.intern(group)).collect();
        let idle_groups = event.groups.iter().map(|&group| {
            let mut values = *self.values.of(group.values);
            values.set(Dimension::Cause, Some(DimensionValue::Text(cause)));
            let values = self.values.intern(values);
            groups.intern(Group { values, ..group })
        });
        let idle_groups: Vec<u32> = idle_groups.collect();
        let mut tree = Tree::default();
        let mut moved: Vec<u32> = Vec::with_capacity(event.tree.nodes().len());
        // Whether a function that waits for work is in the stack.
        let mut is_in: Vec<bool> = Vec::with_capacity(event.tree.nodes().len());
        for node in event.tree.nodes() {
            let at = node.group as usize;
            let wait = waits.get(at).copied().unwrap_or(Wait::Busy);
            let outer = node.parent.map(|parent| moved[parent as usize]);
            let was_in = node.parent.is_some_and(|parent| is_in[parent as usize]);
            let has_function = was_in || self.waits_for_work(wait, node.frame);
            is_in.push(has_function);
            let group = own.get(at).copied().unwrap_or(0);
            let here = tree.child(outer, group, node.frame);
            moved.push(here);
            if node.self_samples == 0 {
                continue;
            }
            let end = match wait {
                Wait::Idle => None,
                Wait::IdleIn(_) if has_function => None,
                Wait::Busy | Wait::IdleIn(_) => Some(here),
            };
            let end = end.unwrap_or_else(|| {
                let group = idle_groups.get(at).copied().unwrap_or(0);
                tree.child(None, group, idle)
            });
            tree.count(end, node.own());
        }
        let counts: Vec<SampleCount> = tree.nodes().iter().map(Node::own).collect();
        // What is left of stacks that were folded is without samples.
        event.tree = tree.counted(&counts);
        event.groups = groups.into_values();
        self.idle = Some(idle);
    }

    /// Does not tell groups apart by the causes of waits any longer: only folding needed these.
    pub fn forget_causes(&mut self) {
        for event in &mut self.events {
            let mut groups: Interner<u32, Group, RandomState> = Interner::default();
            let moved = event.groups.iter().map(|&group| {
                let values = self.values.of(group.values).without(Dimension::Cause);
                let values = self.values.intern(values);
                groups.intern(Group { values, ..group })
            });
            let moved: Vec<u32> = moved.collect();
            let mut tree = Tree::default();
            let mut nodes: Vec<u32> = Vec::with_capacity(event.tree.nodes().len());
            for node in event.tree.nodes() {
                let outer = node.parent.map(|parent| nodes[parent as usize]);
                let group = moved.get(node.group as usize).copied().unwrap_or(0);
                let here = tree.child(outer, group, node.frame);
                tree.count(here, node.own());
                nodes.push(here);
            }
            tree.freeze();
            event.tree = tree;
            event.groups = groups.into_values();
        }
    }

    /// How much of an event is folded into `[idle]`; `None` if that was not asked for.
    pub fn idle_share(&self, event: &EventProfile) -> Option<Share> {
        let idle = self.idle?;
        let nodes = event.tree.nodes().iter();
        let weights = nodes.filter(|node| node.frame == idle);
        let weight = weights.fold(0u64, |sum, node| sum.saturating_add(node.self_weight));
        Some(Share::of(weight, event.weight))
    }

    fn idle_frame(&mut self) -> FrameId {
        let name = self.strings.intern(NAME);
        self.frames.intern(FrameInfo::named(name, name))
    }

    /// Whether the threads of a group wait for work.
    fn wait_of(&self, group: &Group) -> Wait {
        let Some(cause) = self.cause_of(group) else {
            return Wait::Busy;
        };
        let cause = self.strings.of(cause).into_raw();
        let functions = IN_FUNCTIONS.iter().find(|(of, _)| *of == cause);
        match functions {
            _ if IDLE.contains(&cause) => Wait::Idle,
            Some((_, functions)) => Wait::IdleIn(functions),
            None => Wait::Busy,
        }
    }

    /// Whether a frame is of a function that waits for work.
    fn waits_for_work(&self, wait: Wait, frame: FrameId) -> bool {
        let (Wait::IdleIn(functions), Some(name)) = (wait, self.frames.of(frame).name) else {
            return false;
        };
        let name = self.strings.of(name).into_raw().trim_start_matches('_');
        functions.iter().any(|start| name.starts_with(start))
    }
}

/// Whether threads wait for work.
#[derive(Clone, Copy, Debug)]
enum Wait {
    /// They run, or wait for something else.
    Busy,
    /// They do.
    Idle,
    /// They do in one of these functions.
    IdleIn(&'static [&'static str]),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fold::tests::lines;
    use crate::{Fold, testing};

    #[test]
    fn waits_for_work_are_one_frame_and_waits_for_locks_stay() {
        let sampled = testing::sampled(&[
            (0, "pool", "run;pthread_cond_wait;[futex]", 10),
            (1, "pool", "run;pthread_cond_wait;[runnable]", 1),
            (
                2,
                "pool",
                "run;___pthread_cond_timedwait64;futex_wait;[futex]",
                5,
            ),
            (3, "pool", "run;pthread_mutex_lock;[futex]", 3),
            (4, "pool", "run;work", 2),
            (5, "loop", "main;epoll_wait;[epoll]", 7),
            (6, "loop", "main;read;[pipe]", 4),
            (7, "loop", "main;read;[socket]", 6),
            (8, "loop", "main;accept4;[socket]", 8),
        ]);
        let mut profile = sampled.profile.clone();
        let mut event = EventProfile {
            groups: sampled.groups.clone(),
            ..testing::event("wall-time")
        };
        let mut counts = vec![SampleCount::default(); sampled.stacks.nodes().len()];
        for sample in sampled.samples.iter() {
            counts[sample.stack.unwrap() as usize].add(SampleCount::one(sample.weight));
            event.weight += sample.weight;
        }
        event.tree = sampled.stacks.counted(&counts);
        profile.events = vec![event];
        assert_eq!(profile.idle_share(&profile.events[0]), None);
        profile.fold(&[Fold::Idle]);
        let expected = [
            "loop;[idle] 15",
            "loop;main;read 10",
            "pool;[idle] 15",
            "pool;run;pthread_cond_wait 1",
            "pool;run;pthread_mutex_lock 3",
            "pool;run;work 2",
        ];
        assert_eq!(lines(&profile), expected);
        let share = profile.idle_share(&profile.events[0]).unwrap();
        assert_eq!(share, Share::of(30, 46));
        // Without causes, who is called the same is one group.
        profile.forget_causes();
        let event = &profile.events[0];
        assert_eq!(event.groups.len(), 2);
        assert_eq!(lines(&profile), expected);
    }
}
