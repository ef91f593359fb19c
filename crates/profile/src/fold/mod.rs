//! Stacks made simpler: frames that say little become one, or go to their caller. Samples stay what they are.

mod callees;
mod cycles;
mod frames;
mod idle;
mod kept;
mod parents;
mod sampled;
mod waits;

use crate::{EventProfile, FrameId, NameList, Profile, Tree};
use cycles::repeated;

pub(crate) use cycles::{LONGEST_CYCLE, cycle_len};

pub use kept::StackFilter;
pub use parents::Others;

/// What is made simpler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// Functions that call themselves, or each other in a cycle, are there once: `a;b;a;b` is `a;b`.
    Recursion,
    /// Functions that differ in template arguments are one: names are made without them by the reader (demangling), and
    /// functions of one name are one.
    Generics,
    /// Frames of one image that follow each other are one.
    Modules,
    /// Inlined functions are their callers.
    Inlined,
    /// Stacks of threads that wait for work are one frame, `[idle]`: of waits in epoll, poll, select, io_uring and for
    /// signals, in condition variables and semaphores, and for connections. Waits for locks, for data of a pipe or socket,
    /// for files, moments and children stay. Groups must be told apart by the causes of waits.
    Idle,
}

impl Fold {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Recursion,
        Self::Generics,
        Self::Modules,
        Self::Inlined,
        Self::Idle,
    ];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Recursion => "recursion",
            Self::Generics => "generics",
            Self::Modules => "modules",
            Self::Inlined => "inlined",
            Self::Idle => "idle",
        }
    }

    /// The one with a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fold| fold.name() == name)
    }
}

impl Profile {
    /// Folds the stacks of all events. Sums stay the same, and those of rows that are not folded.
    pub fn fold(&mut self, folds: &[Fold]) {
        if folds.is_empty() {
            return;
        }
        let mut events = std::mem::take(&mut self.events);
        for event in &mut events {
            self.fold_event(event, folds);
        }
        self.events = events;
    }

    /// Folds the stacks of an event that is not among the profile's, but of its frames.
    pub fn fold_event(&mut self, event: &mut EventProfile, folds: &[Fold]) {
        if folds.contains(&Fold::Idle) {
            self.fold_idle(event);
        }
        if folds.iter().any(|&fold| fold != Fold::Idle) {
            let frames = self.folded_frames(folds);
            event.fold(&frames, longest_cycle(folds));
        }
    }

    /// Makes functions with these names their callers, in an event that is not among the profile's, but of its frames.
    pub fn hide_frames(&self, event: &mut EventProfile, hidden: &NameList) {
        if hidden.is_empty() {
            return;
        }
        let shown = self.frames.ids().map(|id| {
            let name = self.frames.of(id).filter_name(&self.strings);
            let is_hidden = name.is_some_and(|name| hidden.accepts(&[&*name]));
            (!is_hidden).then_some(id)
        });
        event.fold(&shown.collect::<Vec<_>>(), 0);
    }
}

/// How many functions a cycle has at most that is there once.
fn longest_cycle(folds: &[Fold]) -> usize {
    match (
        folds.contains(&Fold::Recursion),
        folds.contains(&Fold::Modules),
    ) {
        (true, _) => LONGEST_CYCLE,
        (false, true) => 1,
        (false, false) => 0,
    }
}

impl EventProfile {
    /// Counts its stacks again: each frame is what `frames` has for it, or nothing. Cycles of up to `longest`
    /// functions are there once.
    fn fold(&mut self, frames: &[Option<FrameId>], longest: usize) {
        let (mut tree, moved) = folded(&self.tree, frames, |_| longest);
        for (node, here) in self.tree.nodes().iter().zip(moved) {
            tree.count(here, node.own());
        }
        tree.freeze();
        self.tree = tree;
    }
}

/// The same stacks, without counts, of what `frames` has for each frame, or nothing; and where each node went. Cycles
/// of up to as many functions as `longest` has for their innermost are there once.
fn folded(
    stacks: &Tree,
    frames: &[Option<FrameId>],
    longest: impl Fn(FrameId) -> usize,
) -> (Tree, Vec<u32>) {
    let mut tree = Tree::default();
    let mut moved: Vec<u32> = Vec::with_capacity(stacks.nodes().len());
    for node in stacks.nodes() {
        let parent = node.parent.map(|parent| moved[parent as usize]);
        let here = match (frames[node.frame.number() as usize], parent) {
            (None, Some(parent)) => parent,
            // An outermost frame has no caller that it could be.
            (None, None) => tree.child(None, node.group, node.frame),
            (Some(frame), _) => repeated(&tree, parent, frame, longest(frame))
                .unwrap_or_else(|| tree.child(parent, node.group, frame)),
        };
        moved.push(here);
    }
    (tree, moved)
}

#[cfg(test)]
mod tests;
