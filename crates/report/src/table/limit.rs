//! The limit of text with trees that nobody has limited: of thousands of lines, most are of a few samples.

use super::{LeftOut, Table, TableOptions};
use crate::tree::{Graph, TreeLines, write_tree};
use rprof_base::{Share, grouped};
use rprof_profile::Profile;
use rprof_profile::view::EventSet;
use std::io;

/// Lines that need no limit.
const MAX_LINES: usize = 1000;

/// Limits in percent: the first one with few enough lines is taken, else the last.
const LIMITS: [f64; 5] = [0.5, 1.0, 2.0, 5.0, 10.0];

/// The options with which the rows and trees of events are readable; `None` if they are with those that there are.
pub(super) fn limited(
    profile: &Profile,
    set: &EventSet<'_>,
    options: &TableOptions,
) -> io::Result<Option<TableOptions>> {
    let Some(graph) = options.graph.filter(|_| options.limits_trees) else {
        return Ok(None);
    };
    let table = Table::of(profile, set.clone(), options);
    if is_short(&table, graph, 0.0)? {
        return Ok(None);
    }
    let mut last = options.percent_limit;
    for percent in LIMITS {
        last = percent;
        if is_short(&table, of_percent(graph, percent), percent)? {
            break;
        }
    }
    Ok(Some(TableOptions {
        percent_limit: last,
        graph: Some(of_percent(graph, last)),
        ..options.clone()
    }))
}

fn of_percent(graph: Graph, percent: f64) -> Graph {
    Graph {
        min_percent: graph.min_percent.max(percent),
        ..graph
    }
}

/// Whether rows from a percentage on have few lines, with their trees.
fn is_short(table: &Table<'_>, graph: Graph, percent: f64) -> io::Result<bool> {
    let rows = table.shown.iter().filter(|shown| {
        let weight = table.options.weight(&shown.row.leader);
        Share::of(weight, table.totals.weight).percent() >= percent
    });
    let mut n_lines = rows.clone().count();
    let mut text = Vec::new();
    for shown in rows.filter(|shown| shown.is_innermost) {
        if n_lines > MAX_LINES {
            break;
        }
        text.clear();
        let row = &shown.row.leader;
        write_tree(table, row, graph, &TreeLines::default(), &mut text)?;
        n_lines += text.iter().filter(|&&byte| byte == b'\n').count();
    }
    Ok(n_lines <= MAX_LINES)
}

/// What the limit of a table hides, and how to see it.
pub(super) fn hidden(table: &Table<'_>) -> String {
    let LeftOut { rows, weight } = table.left_out;
    let share = Share::of(weight, table.totals.weight);
    let percent = table.options.percent_limit;
    let noun = if rows == 1 { "row" } else { "rows" };
    let rows = match rows {
        0 => String::new(),
        rows => format!(", and {} {noun} (self {share} %)", grouped(rows as u64)),
    };
    format!("Not shown: branches below {percent} %{rows}: --percent-limit 0 shows all")
}

#[cfg(test)]
mod tests {
    use super::super::{EventTables, Layout, write_table};
    use super::*;
    use crate::totals::Percentage;
    use rprof_profile::testing;
    use rprof_profile::view::{Columns, SortKey, Weighing};

    /// Stacks of ten functions each, which have nothing in common but the first.
    fn written(n_stacks: usize, options: impl FnOnce(&mut TableOptions)) -> String {
        let stacks: Vec<String> = (0..n_stacks)
            .map(|n| {
                let names: Vec<String> = (0..10).map(|depth| format!("f{n}_{depth}")).collect();
                format!("main;{}", names.join(";"))
            })
            .collect();
        // One stack has half of the samples.
        let stacks: Vec<(&str, u64)> = stacks
            .iter()
            .enumerate()
            .map(|(n, stack)| (stack.as_str(), if n == 0 { n_stacks as u64 } else { 1 }))
            .collect();
        let profile = testing::profile(&stacks);
        let mut table = TableOptions {
            columns: Columns::of(&[SortKey::Symbol], Weighing::WithChildren),
            hierarchy: false,
            spans: false,
            events: EventTables::default(),
            graph: Some(Graph::DEFAULT),
            percent_limit: 0.0,
            limits_trees: true,
            is_filtered: false,
            percentage: Percentage::Absolute,
            time_slices: None,
            colors: false,
            layout: Layout::default(),
        };
        options(&mut table);
        let mut out = Vec::new();
        write_table(&profile, &table, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_table_that_is_short_is_whole() {
        let text = written(3, |_| {});
        assert!(!text.contains("Not shown"), "{text}");
        assert!(text.contains(" f2_9\n"), "{text}");
    }

    #[test]
    fn of_a_long_one_the_last_line_says_what_it_hides_and_how_to_see_it() {
        let text = written(90, |_| {});
        assert!(text.lines().count() < MAX_LINES, "{text}");
        let last = text.lines().last().unwrap();
        // 89 stacks of 179 samples, of ten functions each; 1 % would be one sample.
        let expected = "# Not shown: branches below 2 %, and 890 rows (self 49.72 %): \
                        --percent-limit 0 shows all";
        assert_eq!(last, expected);
        assert!(
            !text.contains(" f1_9\n") && text.contains(" f0_9\n"),
            "{text}"
        );
    }

    #[test]
    fn what_users_limit_and_what_has_no_trees_is_not_limited_more() {
        let own = written(90, |options| options.limits_trees = false);
        let flat = written(90, |options| options.graph = None);
        for text in [own, flat] {
            assert!(!text.contains("Not shown"), "{text}");
            assert!(text.contains(" f89_9\n"), "{text}");
        }
    }
}
