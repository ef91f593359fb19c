//! Stacks that a thread keeps until their locations have names.

/// Stacks that a thread keeps.
#[derive(Default)]
pub(super) struct KeptStacks {
    stacks: Vec<KeptStack>,
    /// Numbers of the locations of all stacks, innermost first.
    pub(super) locations: Vec<u32>,
}

#[derive(Clone, Copy)]
pub(super) struct KeptStack {
    /// As [`Pass::group`](crate::pass::driver::Pass::group) said.
    pub(super) group: u64,
    /// The end of its locations; they start where those of the stack before end.
    end: usize,
}

impl KeptStacks {
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.stacks) + size_of_val(&*self.locations)
    }

    /// Ends a stack, whose locations are there. Returns its number.
    pub(super) fn end_stack(&mut self, group: u64) -> u32 {
        let number = self.stacks.len();
        self.stacks.push(KeptStack {
            group,
            end: self.locations.len(),
        });
        u32::try_from(number).unwrap_or(u32::MAX)
    }

    /// A stack, and the numbers of its locations.
    #[inline]
    pub(super) fn of(&self, number: usize) -> Option<(KeptStack, &[u32])> {
        let stack = *self.stacks.get(number)?;
        let before = number.checked_sub(1).and_then(|n| self.stacks.get(n));
        let start = before.map_or(0, |before| before.end);
        Some((stack, self.locations.get(start..stack.end)?))
    }
}
