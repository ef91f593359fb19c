//! What is beyond noise, for pictures: by what functions are called in stacks.

use crate::comparison::{
    CompareOptions, ComparedEvent, ComparedRow, Comparison, Judged, compare_marked,
};
use crate::error::DiffError;
use crate::per::Per;
use crate::recordings::Recordings;
use rprof_profile::difference::{Directions, SureChanges, SureFunction};

/// What changed beyond noise in each event that both sides have, by its name before: what `rprof diff` marks in its
/// table, by the same test over the same rows.
///
/// # Errors
/// [`DiffError`] where the recordings cannot be compared so.
pub fn sure_changes(
    recordings: &Recordings,
    per: &Per,
) -> Result<Vec<(String, SureChanges)>, DiffError> {
    let options = CompareOptions::by_function(Some(per.clone()));
    let comparison = compare_marked(recordings, &options)?;
    let events = comparison.events.iter();
    let events = events.map(|event| (event.name.clone(), changes(&comparison, event)));
    Ok(events.collect())
}

fn changes(comparison: &Comparison, event: &ComparedEvent) -> SureChanges {
    let mut changes = SureChanges {
        total: event.total.map(directions).unwrap_or_default(),
        ..SureChanges::default()
    };
    for row in &event.rows {
        if let Some(label) = stack_label(comparison, row) {
            let with_callees = row.children.map(directions);
            let sure = SureFunction {
                own: directions(row.own),
                // Without stacks, a box is what its function counts itself.
                with_callees: with_callees.unwrap_or_else(|| directions(row.own)),
            };
            changes.add(label.clone(), sure);
        }
    }
    changes
}

fn stack_label<'c>(comparison: &'c Comparison, row: &ComparedRow) -> Option<&'c String> {
    let [image, symbol] = row.cells.as_slice() else {
        return None;
    };
    let cells = (image.clone(), symbol.clone());
    comparison.stack_labels.get(&cells)
}

fn directions(judged: Judged) -> Directions {
    if judged.is_sure {
        Directions::of(judged.estimate.moved())
    } else {
        Directions::default()
    }
}
