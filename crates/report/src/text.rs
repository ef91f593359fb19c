//! Columns of a table and lines of a tree, as a screen has room for them.

use rprof_profile::text::Fit;

/// A line of a tree: what is drawn, and the name behind it.
pub(crate) fn split_tree_line(line: &str) -> (&str, &str) {
    let drawn = line.len() - line.trim_start_matches([' ', '|', '-']).len();
    let (mut drawing, mut name) = line.split_at(drawn);
    let is_number = |text: &str| {
        !text.is_empty()
            && text
                .bytes()
                .all(|b| b.is_ascii_digit() || b".%".contains(&b))
    };
    if let Some((number, _)) = name
        .split_once("--")
        .filter(|(number, _)| is_number(number))
    {
        (drawing, name) = line.split_at(drawn + number.len() + "--".len());
    }
    (drawing, name)
}

/// What stands between columns: narrow terminals have no room for more than one blank.
pub(crate) fn gap(fit: Option<Fit>) -> &'static str {
    match fit {
        Some(fit) if fit.columns < 50 => " ",
        _ => "  ",
    }
}

/// How a column gives way where there is no room for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gives {
    /// Not at all: numbers are never cut.
    Nothing,
    /// It is whole or not there, and stays longer than what is cut.
    Whole,
    /// Functions: all other columns leave room for them.
    Name,
    /// Its text is cut, or it is not there.
    All,
}

/// Widths of columns that leave room for functions, or the last column if there are none, which have most of a narrow
/// terminal: the widest give, and no number does. Where that is not enough, columns are hidden, texts before counts, the
/// first one first: they are 0 wide.
pub(crate) fn shrunk(widths: &mut [(usize, Gives)], fit: Fit) {
    const LEAST: usize = 8;
    let names = widths.iter().rposition(|(_, gives)| *gives == Gives::Name);
    let names = names.unwrap_or(widths.len().saturating_sub(1));
    let (before, rest) = widths.split_at_mut(names);
    let Some(((name, gives), after)) = rest.split_first_mut() else {
        return;
    };
    let room = fit.columns.saturating_sub(fit.for_names().min(*name) + 2);
    let gap = gap(Some(fit)).len();
    let mut others: Vec<_> = before.iter_mut().chain(after).collect();
    let taken = loop {
        let shown = others.iter().filter(|(width, _)| *width > 0);
        let taken: usize = shown.map(|(width, _)| width + gap).sum();
        if taken <= room {
            break taken;
        }
        let excess = taken - room;
        let giving = others.iter_mut().filter(|(_, gives)| *gives == Gives::All);
        let widest = giving.map(|(width, _)| width).max();
        if let Some(widest) = widest.filter(|width| **width > LEAST) {
            *widest = widest.saturating_sub(excess.div_ceil(2)).max(LEAST);
            continue;
        }
        let mut hide = |kind| {
            let mut shown = others.iter_mut().filter(|(width, _)| *width > 0);
            let hidden = shown.find(|(_, gives)| *gives == kind);
            hidden.map(|(width, _)| *width = 0).is_some()
        };
        if !hide(Gives::All) && !hide(Gives::Whole) {
            break taken;
        }
    };
    if matches!(gives, Gives::Name | Gives::All) {
        *name = (*name).min(fit.room(taken + 2));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_tree_is_a_drawing_and_a_name() {
        for (drawing, name) in [
            ("            |", ""),
            ("            ---", "main"),
            ("               |--70.28%--", "hot"),
            ("                --29.72%--", "operator--(int)"),
            ("               ", "helper (inlined)"),
            ("            |--12--", "[unknown] x12"),
            ("               ", "1--2"),
        ] {
            let line = format!("{drawing}{name}");
            let expected = match name {
                "1--2" => ("               1--", "2"),
                _ => (drawing, name),
            };
            assert_eq!(split_tree_line(&line), expected);
        }
    }

    #[test]
    fn the_widest_columns_give_way_to_the_last() {
        let shrunk = |widths: &[(usize, Gives)], columns| {
            let mut widths = widths.to_vec();
            let fit = Fit {
                columns,
                ellipsis: "..",
            };
            shrunk(&mut widths, fit);
            let widths: Vec<usize> = widths.into_iter().map(|(width, _)| width).collect();
            widths
        };
        let all = [
            (8, Gives::Nothing),
            (40, Gives::All),
            (300, Gives::All),
            (60, Gives::All),
        ];
        assert_eq!(shrunk(&all, 1000), [8, 40, 300, 60]);
        let narrow = shrunk(&all, 80);
        let taken: usize = narrow[..3].iter().map(|width| width + 2).sum();
        assert!(taken <= 78 - 32 && narrow[0] == 8, "{narrow:?}");
        assert_eq!(shrunk(&all, 10), [8, 0, 0, 10]);
        // Symbols stay, wherever they are.
        let first = [(40, Gives::Name), (30, Gives::All), (30, Gives::All)];
        assert_eq!(shrunk(&first, 20), [18, 0, 0]);
        // Command and source line give way to symbols before them.
        let sums = [(8, Gives::Nothing), (7, Gives::Nothing), (60, Gives::Name)];
        let texts = [(15, Gives::All), (20, Gives::All)];
        let both = [&sums[..], &texts].concat();
        for columns in [40, 60] {
            let shrunk = shrunk(&both, columns);
            assert!(shrunk[2] > 20, "{shrunk:?}");
            let shown = shrunk.iter().filter(|&&width| width > 0);
            let gap = if columns < 50 { 1 } else { 2 };
            let taken: usize = shown.map(|width| width + gap).sum();
            assert!(taken + 2 - gap <= columns, "{columns}: {shrunk:?}");
        }
        // Counts are whole or not there; shares stay.
        let counts = [(12, Gives::Whole), (12, Gives::Whole), (60, Gives::Name)];
        let both = [&sums[..2], &counts].concat();
        assert_eq!(shrunk(&both, 40), [8, 7, 0, 0, 21]);
        assert_eq!(shrunk(&both, 90)[2..4], [12, 12]);
    }

    #[test]
    fn names_have_most_of_a_narrow_terminal() {
        for columns in [40, 60] {
            let fit = Fit {
                columns,
                ellipsis: "..",
            };
            // Children, Self, Command, Shared Object, Symbol.
            let least = if columns < 50 { 7 } else { 8 };
            let mut widths = [
                (8, Gives::Nothing),
                (least, Gives::Nothing),
                (9, Gives::All),
                (30, Gives::All),
                (200, Gives::All),
            ];
            shrunk(&mut widths, fit);
            let others = widths[..4].iter().filter(|(width, _)| *width > 0);
            let taken: usize = others.map(|(width, _)| width + gap(Some(fit)).len()).sum();
            assert!(columns - taken - 2 > columns / 2, "{widths:?}");
        }
    }

    #[test]
    fn a_terminal_may_say_that_it_is_huge() {
        let fit = Fit {
            columns: usize::MAX,
            ellipsis: "..",
        };
        let mut widths = [(8, Gives::Nothing), (300, Gives::All), (200, Gives::All)];
        let before = widths;
        shrunk(&mut widths, fit);
        assert_eq!(widths, before);
    }

    #[test]
    fn a_short_name_hides_no_column() {
        let fit = Fit {
            columns: 60,
            ellipsis: "..",
        };
        let mut widths = [
            (8, Gives::Nothing),
            (8, Gives::Nothing),
            (7, Gives::All),
            (13, Gives::All),
            (10, Gives::All),
        ];
        let before = widths;
        shrunk(&mut widths, fit);
        assert_eq!(widths, before);
    }
}
