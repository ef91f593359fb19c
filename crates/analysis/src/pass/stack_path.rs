//! Where a stack is in a tree, found from where the one before was.

/// The stack added last, outermost first: the next one mostly begins with the same frames.
#[derive(Default)]
pub(super) struct StackPath {
    group: u64,
    /// Locations, each with the node of its innermost frame.
    steps: Vec<(u32, Option<u32>)>,
}

impl StackPath {
    /// Makes it the path of another stack; `step` says the node of a location below another.
    #[inline]
    pub(super) fn turn_to(
        &mut self,
        group: u64,
        locations: impl Iterator<Item = u32>,
        mut step: impl FnMut(Option<u32>, u32) -> Option<u32>,
    ) {
        if self.group != group {
            self.steps.clear();
            self.group = group;
        }
        let mut n_same = 0;
        for location in locations {
            let known = self.steps.get(n_same).map(|&(known, _)| known);
            if known != Some(location) {
                self.steps.truncate(n_same);
                let node = step(self.innermost(), location);
                self.steps.push((location, node));
            }
            n_same += 1;
        }
        self.steps.truncate(n_same);
    }

    /// The node of the whole stack; `None` of an empty one.
    pub(super) fn innermost(&self) -> Option<u32> {
        self.steps.last().and_then(|&(_, node)| node)
    }
}
