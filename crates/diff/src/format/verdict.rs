//! What became of an event, in a sentence: what a reader wants to know first.

use super::change;
use crate::comparison::{ComparedEvent, Comparison};
use crate::per::Per;
use rprof_base::Counted;
use rprof_profile::view::SortKey;

/// The sentence, without a full stop.
pub(super) fn verdict(comparison: &Comparison, event: &ComparedEvent) -> String {
    let (n_more, n_less) = event.n_sure();
    let per = per_what(&comparison.per);
    let rows = of_rows(comparison, event);
    match (&event.total, n_more + n_less) {
        (Some(total), _) if total.is_sure => {
            let change = change(total);
            format!("total {change}{per}, a significant change; {rows}")
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

/// Which rows changed.
fn of_rows(comparison: &Comparison, event: &ComparedEvent) -> String {
    let (n_more, n_less) = event.n_sure();
    let (one, many) = if comparison.keys.contains(&SortKey::Symbol) {
        ("function", "functions")
    } else {
        ("row", "rows")
    };
    if n_more + n_less == 0 {
        return format!("no {one} alone changed significantly");
    }
    let verb = |n: usize| if n == 1 { "takes" } else { "take" };
    let of = |n: usize, what: &str| {
        let rows = Counted::new(n as u64, one, many);
        format!("{rows} {} significantly {what}", verb(n))
    };
    let changed = match (n_more, n_less) {
        (more, 0) => of(more, "more"),
        (0, less) => of(less, "less"),
        (more, less) => format!("{}, {less} {} less", of(more, "more"), verb(less)),
    };
    let most = event.most_changed().map(|(row, judged)| {
        // The last key tells rows apart: the function, of an image and a function.
        let name = row.cells.last().map_or("", |cell| cell.trim());
        let name = name.strip_prefix("[.] ").unwrap_or(name);
        let most = if n_more + n_less > 1 { "most: " } else { "" };
        format!(" ({most}{name}, {})", change(judged))
    });
    changed + &most.unwrap_or_default()
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
