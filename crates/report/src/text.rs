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

/// Widths of columns that leave room for the last one: the widest give, and no number does.
pub(crate) fn shrunk(widths: &mut [(usize, bool)], columns: usize) {
    const LEAST: usize = 8;
    let Some(((last, _), others)) = widths.split_last_mut() else {
        return;
    };
    let room = columns.saturating_sub(Fit::MIN_NAME.min(*last) + 2);
    loop {
        let taken: usize = others.iter().map(|(width, _)| width + 2).sum();
        let gives = others.iter_mut().filter(|(_, gives)| *gives);
        let widest = gives.max_by_key(|(width, _)| *width);
        match widest {
            Some((width, _)) if taken > room && *width > LEAST => {
                let excess = taken - room;
                *width = width.saturating_sub(excess.div_ceil(2)).max(LEAST);
            }
            _ => return,
        }
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
        let shrunk = |widths: &[(usize, bool)], columns| {
            let mut widths = widths.to_vec();
            shrunk(&mut widths, columns);
            let widths: Vec<usize> = widths.into_iter().map(|(width, _)| width).collect();
            widths
        };
        let all = [(8, false), (40, true), (300, true), (60, true)];
        assert_eq!(shrunk(&all, 1000), [8, 40, 300, 60]);
        let narrow = shrunk(&all, 80);
        let taken: usize = narrow[..3].iter().map(|width| width + 2).sum();
        assert!(taken <= 78 - Fit::MIN_NAME && narrow[0] == 8, "{narrow:?}");
        assert_eq!(shrunk(&all, 10), [8, 8, 8, 60]);
    }
}
