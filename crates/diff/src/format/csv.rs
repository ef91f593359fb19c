//! Comma-separated values: a line for each row of each event, numbers without units.

use super::{DiffLayout, remarks};
use crate::comparison::{Comparison, Judged};
use crate::per::Per;
use rprof_untrusted::printable;
use std::io::{self, Write};

/// Writes a line of names, then the rows of all events. What is not known is empty; a change from nothing is `inf`.
/// `amount` is by how much the amount changed, as JSON has amounts; of shares it is empty.
///
/// # Errors
/// The writer's.
pub fn write_diff_csv(
    comparison: &Comparison,
    layout: &DiffLayout,
    out: &mut dyn Write,
) -> io::Result<()> {
    let names = ["event", "baseline", "computed", "base_period", "period"];
    let judged = ["change", "low", "high", "p_value", "q_value", "is_sure"];
    let mut heading: Vec<String> = names.map(str::to_owned).to_vec();
    for kind in ["own", "children"] {
        heading.push(format!("{kind}_amount"));
        heading.extend(judged.map(|name| format!("{kind}_{name}")));
    }
    heading.extend(comparison.keys.iter().map(|key| key.name().to_owned()));
    heading.push("remark".to_owned());
    writeln!(out, "{}", heading.join(","))?;
    for event in &comparison.events {
        for row in layout.rows(event).rows {
            let number = |value: Option<f64>| value.map_or_else(String::new, |one| one.to_string());
            let weights = &row.weights;
            let mut cells = vec![
                quoted(&event.name),
                number(weights.baseline()),
                number(weights.computed(layout.compute)),
                weights.before.weight.to_string(),
                weights.after.weight.to_string(),
            ];
            for judged in [Some(&row.own), row.children.as_ref()] {
                let amount = judged.filter(|_| comparison.per != Per::Event);
                cells.push(number(amount.map(|judged| judged.estimate.moved())));
                cells.extend(numbers(judged));
            }
            cells.extend(row.cells.iter().map(|cell| quoted(cell)));
            cells.push(remarks(row).join(" "));
            writeln!(out, "{}", cells.join(","))?;
        }
    }
    Ok(())
}

pub(super) fn numbers(judged: Option<&Judged>) -> [String; 6] {
    let Some(judged) = judged else {
        return Default::default();
    };
    let estimate = &judged.estimate;
    let (low, high) = match estimate.interval {
        Some((low, high)) => (low.to_string(), high.to_string()),
        None => (String::new(), String::new()),
    };
    [
        estimate.change().to_string(),
        low,
        high,
        estimate.p_value.to_string(),
        judged.q_value.to_string(),
        judged.is_sure.to_string(),
    ]
}

/// As RFC 4180 has it.
pub(super) fn quoted(text: &str) -> String {
    let text = printable(text);
    if text.contains([',', '"']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into_owned()
    }
}
