//! Columns that a narrow terminal has room for: names need most of it.

use super::DiffColumn;
use rprof_profile::text::Fit;

/// The columns that are shown, by number, so that the last one has room.
///
/// Those that say least beside the change go first.
pub(super) fn shown_columns(columns: &[DiffColumn], widths: &[usize], fit: Fit) -> Vec<usize> {
    let last = columns.len().saturating_sub(1);
    let wanted = fit.for_names();
    let wanted = widths.last().map_or(0, |&widest| widest.min(wanted));
    let mut shown: Vec<usize> = (0..columns.len()).collect();
    let room = |shown: &[usize]| {
        let others = shown.iter().filter(|&&at| at != last);
        let taken: usize = others.map(|&at| widths[at] + 2).sum();
        fit.columns.saturating_sub(taken + 2)
    };
    let mut hidden: Vec<(u8, usize)> = shown
        .iter()
        .filter(|&&at| at != last)
        .filter_map(|&at| Some((rank(columns[at], columns)?, at)))
        .collect();
    hidden.sort_unstable();
    for (_, at) in hidden {
        if room(&shown) >= wanted {
            break;
        }
        shown.retain(|&one| one != at);
    }
    shown
}

/// Which column goes first; `None` for those that stay.
fn rank(column: DiffColumn, all: &[DiffColumn]) -> Option<u8> {
    match column {
        DiffColumn::Interval => Some(0),
        DiffColumn::Key(_) => Some(1),
        // Rows are ordered by one of the two.
        DiffColumn::Computed if all.contains(&DiffColumn::Amount) => Some(2),
        DiffColumn::Children => Some(3),
        DiffColumn::Baseline => Some(4),
        DiffColumn::Computed | DiffColumn::Amount => Some(5),
        DiffColumn::BasePeriod | DiffColumn::Formula | DiffColumn::Period => None,
        DiffColumn::Change | DiffColumn::Remark => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_most_of_a_narrow_terminal() {
        use DiffColumn::{Amount, Baseline, Change, Children, Computed, Interval, Key};
        let columns = [
            Baseline,
            Computed,
            Amount,
            Change,
            Interval,
            Children,
            Key(0),
            Key(1),
        ];
        let widths = [8, 9, 9, 9, 15, 9, 13, 60];
        let shown = |columns_wide| {
            let fit = Fit {
                columns: columns_wide,
                ellipsis: "..",
            };
            let shown = shown_columns(&columns, &widths, fit);
            let names: Vec<DiffColumn> = shown.iter().map(|&at| columns[at]).collect();
            let taken: usize = shown[..shown.len() - 1]
                .iter()
                .map(|&at| widths[at] + 2)
                .sum();
            (names, columns_wide - taken - 2)
        };
        assert_eq!(shown(200).0, columns);
        assert_eq!(shown(usize::MAX).0, columns);
        let (names, room) = shown(80);
        assert_eq!(names, [Baseline, Amount, Change, Children, Key(1)]);
        assert!(room >= 32, "{room}");
        for narrow in [40, 60] {
            let (names, room) = shown(narrow);
            assert!(names.contains(&Change), "{names:?}");
            assert!(room > narrow / 2, "{room} of {narrow}");
        }
    }
}
