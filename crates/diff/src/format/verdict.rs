//! What became of an event, in a sentence: what a reader wants to know first.

use super::change;
use crate::comparison::{ComparedEvent, ComparedRow, Comparison};
use crate::each::SureRows;
use crate::per::Per;
use rprof_base::Counted;
use rprof_profile::view::SortKey;

/// The sentence, without a full stop.
pub(super) fn verdict(comparison: &Comparison, event: &ComparedEvent) -> String {
    let by_share = by_share(comparison, event).unwrap_or_default();
    format!("{}{by_share}", of_amounts(comparison, event))
}

/// What shares show, if amounts do not show the row whose share changed most.
fn by_share(comparison: &Comparison, event: &ComparedEvent) -> Option<String> {
    let shares = comparison.by_share.as_ref()?;
    let of_shares = shares.events.iter().find(|one| one.name == event.name)?;
    let (most, _) = of_shares.most_changed()?;
    let is_marked = |row: &ComparedRow| {
        let with_callees = row.children.is_some_and(|children| children.is_sure);
        row.cells == most.cells && (row.own.is_sure || with_callees)
    };
    if event.rows.iter().any(is_marked) {
        return None;
    }
    let rows = of_rows(shares, of_shares, of_shares.sure_rows());
    Some(format!("; by share of the event, {rows}"))
}

/// What became of amounts.
fn of_amounts(comparison: &Comparison, event: &ComparedEvent) -> String {
    let sure = event.sure_rows();
    let per = per_what(&comparison.per);
    let rows = of_rows(comparison, event, sure);
    match (&event.total, sure.n()) {
        (Some(total), _) if total.is_sure => {
            let change = change(total);
            format!("total {change}{per}, a significant change; {rows}")
        }
        (_, 0) if let Some(side) = empty_side(event) => {
            format!("no samples {side}; nothing can be compared")
        }
        (Some(total), 0) => {
            let change = change(total);
            format!("no significant change; total {change}{per}, within noise")
        }
        (Some(total), _) => {
            let change = change(total);
            format!("{rows}; total {change}{per}, within noise")
        }
        (None, 0) => "no significant change of any share".to_owned(),
        (None, _) => rows,
    }
}

/// The side that has no samples.
fn empty_side(event: &ComparedEvent) -> Option<&'static str> {
    match (event.all.0.samples, event.all.1.samples) {
        (0, 0) => Some("on either side"),
        (0, _) => Some("before"),
        (_, 0) => Some("after"),
        _ => None,
    }
}

/// Which rows changed.
fn of_rows(comparison: &Comparison, event: &ComparedEvent, sure: SureRows) -> String {
    let (one, many) = if comparison.keys.contains(&SortKey::Symbol) {
        ("function", "functions")
    } else {
        ("row", "rows")
    };
    if sure.n() == 0 {
        return format!("no {one} alone changed significantly");
    }
    let verb = |n: usize| if n == 1 { "takes" } else { "take" };
    let of = |n: usize, what: &str| {
        let rows = Counted::new(n as u64, one, many);
        format!("{rows} {} significantly {what}", verb(n))
    };
    let changed = match (sure.n_more, sure.n_less) {
        (more, 0) => of(more, "more"),
        (0, less) => of(less, "less"),
        (more, less) => format!("{}, {less} {} less", of(more, "more"), verb(less)),
    };
    let callees = match (sure.with_callees, sure.n()) {
        (false, _) => "",
        (true, 1) => " with its callees",
        (true, _) => " with their callees",
    };
    let largest = event.most_changed().map(|(row, judged)| {
        // The last key tells rows apart: the function, of an image and a function.
        let name = row.cells.last().map_or("", |cell| cell.trim());
        let largest = match sure {
            _ if sure.n() == 1 => "",
            SureRows { n_more: 0, .. } => "largest decrease: ",
            _ => "largest increase: ",
        };
        format!(" ({largest}{}, {})", without_level(name), change(judged))
    });
    format!("{changed}{callees}{}", largest.unwrap_or_default())
}

/// A function without `[k] ` or the like.
fn without_level(cell: &str) -> &str {
    let mut letters = cell.chars();
    let is_level = letters.next() == Some('[') && letters.next().is_some();
    match letters.as_str().strip_prefix("] ") {
        Some(name) if is_level => name,
        _ => cell,
    }
}

fn per_what(per: &Per) -> String {
    match per {
        Per::Event => String::new(),
        Per::Run => " per run".to_owned(),
        Per::Time => " per second".to_owned(),
        Per::CpuTime => " per second on a CPU".to_owned(),
        Per::Count(event) => format!(" per {event}"),
    }
}

#[cfg(test)]
mod tests {
    use super::without_level;

    #[test]
    fn levels_are_no_part_of_a_name() {
        for (cell, name) in [
            ("[.] main", "main"),
            ("[k] finish_task_switch.isra.0", "finish_task_switch.isra.0"),
            ("[.] [unknown]", "[unknown]"),
            ("[unknown]", "[unknown]"),
            ("[", "["),
            ("[] x", "[] x"),
            ("spin", "spin"),
        ] {
            assert_eq!(without_level(cell), name);
        }
    }
}
