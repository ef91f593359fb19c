//! Which function a sample is the self time of, where it was taken in inlined code.

use super::Tree;
use crate::Frames;

/// Which function a sample is the self time of, where it was taken in inlined code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SelfTime {
    /// The innermost inlined function: what the stack ends with.
    #[default]
    Innermost,
    /// The symbol whose code it is, as perf has it: the innermost function that was not inlined.
    Symbol,
}

impl SelfTime {
    /// Of the frames at one address, innermost first, the one whose self time a sample there is.
    pub fn of<T>(self, frames: &[T]) -> Option<&T> {
        match self {
            Self::Innermost => frames.first(),
            Self::Symbol => frames.last(),
        }
    }
}

impl Tree {
    /// For each node, the one whose self time its samples are.
    pub fn self_nodes(&self, frames: &Frames, self_time: SelfTime) -> Vec<u32> {
        let mut own: Vec<u32> = Vec::with_capacity(self.nodes.len());
        for (number, node) in (0u32..).zip(&self.nodes) {
            let is_callers = match self_time {
                SelfTime::Innermost => false,
                SelfTime::Symbol => frames.of(node.frame).is_inlined,
            };
            let caller = node.parent.filter(|_| is_callers);
            own.push(caller.map_or(number, |caller| own[caller as usize]));
        }
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::{Rows, SortKey, Weighing};
    use crate::{Profile, testing};

    /// Self weights by name.
    fn own(profile: &Profile) -> Vec<(String, u64)> {
        let event = &profile.events[0];
        let rows = Rows::new(profile, event, &[SortKey::Symbol], Weighing::Own);
        let cell = |row: &crate::view::Row| SortKey::Symbol.cell(&row.key, profile);
        rows.iter()
            .map(|row| (cell(row), row.self_weight))
            .collect()
    }

    #[test]
    fn self_time_is_of_the_innermost_function_unless_symbols_are_asked_for() {
        let stacks = [("main;+small;+tiny", 3), ("main;+small", 5), ("main", 1)];
        let mut profile = testing::profile(&stacks);
        let row = |name: &str, weight| (format!("[.] {name}"), weight);
        assert_eq!(
            own(&profile),
            [
                row("small (inlined)", 5),
                row("tiny (inlined)", 3),
                row("main", 1)
            ]
        );
        profile.self_time = SelfTime::Symbol;
        assert_eq!(own(&profile), [row("main", 9)]);
    }
}
