//! Stacks that are kept by the names of their functions.

use crate::{EventProfile, FrameId, Frames, NameList, Profile, SampleCount, Strings, Tree};

/// Which stacks are kept, by the names of the functions in them; each function is looked up once.
#[derive(Clone, Debug)]
pub struct StackFilter {
    /// By number of the frame: whether its name is wanted, and whether it is unwanted.
    found: Vec<NameMatch>,
    needs_one: bool,
}

/// Whether a name is among the wanted ones, and whether it is among the unwanted.
type NameMatch = (bool, bool);

impl StackFilter {
    /// Of names: a stack has a wanted one, if there are wanted ones, and no unwanted one.
    pub fn new(names: &NameList, frames: &Frames, strings: &Strings) -> Self {
        let found = frames.ids().map(|id| {
            let name = frames.of(id).filter_name(strings);
            name.map_or((false, false), |name| names.of_any(&name))
        });
        Self {
            found: found.collect(),
            needs_one: names.has_wanted(),
        }
    }

    /// Whether a stack of these frames is kept.
    pub fn keeps(&self, frames: impl IntoIterator<Item = FrameId>) -> bool {
        let frames = frames.into_iter();
        self.is_kept(frames.fold((false, false), |found, frame| self.with(found, frame)))
    }

    /// By node, whether stacks that end there are kept.
    pub fn of_tree(&self, tree: &Tree) -> Vec<bool> {
        let mut stacks: Vec<NameMatch> = Vec::with_capacity(tree.nodes().len());
        for node in tree.nodes() {
            let outer = node.parent.and_then(|outer| stacks.get(outer as usize));
            stacks.push(self.with(outer.copied().unwrap_or_default(), node.frame));
        }
        stacks
            .into_iter()
            .map(|found| self.is_kept(found))
            .collect()
    }

    fn with(&self, found: NameMatch, frame: FrameId) -> NameMatch {
        let own = self.found.get(frame.number() as usize);
        let own = own.copied().unwrap_or_default();
        (found.0 || own.0, found.1 || own.1)
    }

    fn is_kept(&self, (is_wanted, is_unwanted): NameMatch) -> bool {
        !is_unwanted && (is_wanted || !self.needs_one)
    }
}

impl Profile {
    /// Keeps samples whose stack has a function with a wanted name, if there are wanted ones, and none with an unwanted
    /// one. Totals stay those of all samples.
    pub fn keep_stacks(&mut self, names: &NameList) {
        if names.is_empty() {
            return;
        }
        let mut checked = self.checked_names();
        let filter = StackFilter::new(names, &self.frames, &self.strings);
        for event in &mut self.events {
            checked.are_stacks_left_out |= event.keep_stacks(&filter);
        }
        self.checked = Some(checked);
    }
}

impl EventProfile {
    /// Drops samples by their stacks. Returns whether there were such.
    fn keep_stacks(&mut self, filter: &StackFilter) -> bool {
        let mut is_any_dropped = false;
        let kept = filter.of_tree(&self.tree).into_iter();
        let counts = kept.zip(self.tree.nodes()).map(|(is_kept, node)| {
            if is_kept {
                node.own()
            } else {
                is_any_dropped |= node.self_samples > 0;
                SampleCount::default()
            }
        });
        let counts = counts.collect::<Vec<_>>();
        self.tree = self.tree.counted(&counts);
        is_any_dropped
    }
}
