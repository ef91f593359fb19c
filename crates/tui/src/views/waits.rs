//! Causes of waits as views show them: each with its colour and its letter, and a line that says which is which.

use crate::draw::pen::Pen;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;
use rprof_profile::{Profile, StrId};
use rprof_scheduling::Cause;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The cause with a name.
pub(crate) fn cause_named(profile: &Profile, name: StrId) -> Cause {
    Cause::named(profile.strings.of(name).into_raw()).unwrap_or_default()
}

/// Causes of what weighs more than 0.00 % of all, the heaviest first.
pub(crate) fn heaviest_first(weights: impl Iterator<Item = (Cause, u64)>) -> Vec<Cause> {
    let mut sums: BTreeMap<Cause, u64> = BTreeMap::new();
    for (cause, weight) in weights {
        let sum = sums.entry(cause).or_default();
        *sum = sum.saturating_add(weight);
    }
    let all = sums
        .values()
        .fold(0, |sum: u64, one| sum.saturating_add(*one));
    let is_shown = |weight: u64| u128::from(weight) * 20_000 >= u128::from(all).max(1);
    let shown = sums.into_iter().filter(|&(_, weight)| is_shown(weight));
    let mut causes: Vec<(Cause, u64)> = shown.collect();
    causes.sort_by_key(|&(_, weight)| Reverse(weight));
    causes.into_iter().map(|(cause, _)| cause).collect()
}

/// Draws the names of causes in their colours, with their letters if these are used, as far as there is room.
pub(crate) fn legend(pen: &mut Pen<'_>, at: Rect, causes: &[Cause], has_letters: bool) {
    let mut rest = at;
    for cause in causes {
        let name = match (has_letters, cause.name()) {
            (true, name) => format!(" {} {name} ", cause.letter()),
            (false, name) => format!(" {name} "),
        };
        if usize::from(rest.width) < name.len() {
            pen.text(rest, pen.look.ellipsis(), pen.look.quiet());
            return;
        }
        let end = pen.text(rest, &name, pen.look.wait(*cause));
        let end = pen.text(Rect { x: end, ..rest }, " ", Style::new());
        rest = Rect::new(end, at.y, at.right().saturating_sub(end), 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_of_next_to_nothing_are_left_out() {
        let weights = [
            (Cause::Pipe, 9_999),
            (Cause::Sleep, 20_000),
            (Cause::Futex, 1),
        ];
        let all = heaviest_first(weights.into_iter());
        assert_eq!(all, [Cause::Sleep, Cause::Pipe]);
        assert!(heaviest_first([(Cause::Pipe, 0)].into_iter()).is_empty());
    }
}
