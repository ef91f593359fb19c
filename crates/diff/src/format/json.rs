//! JSON: all that is known of each row. JSON.md describes it.

use super::{DiffLayout, remarks};
use crate::comparison::{ComparedEvent, ComparedRow, Comparison, Judged};
use crate::gate::{GateOutcome, GateResult};
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// Writes one object.
///
/// # Errors
/// The writer's.
pub fn write_diff_json(
    comparison: &Comparison,
    layout: &DiffLayout,
    out: &mut dyn Write,
) -> io::Result<()> {
    let whole = comparison_json(comparison, layout);
    serde_json::to_writer_pretty(&mut *out, &whole)?;
    writeln!(out)
}

/// All that is known of a comparison.
pub(super) fn comparison_json(comparison: &Comparison, layout: &DiffLayout) -> Value {
    let events = comparison.events.iter();
    let events: Vec<Value> = events.map(|one| event(comparison, one, layout)).collect();
    let gates: Vec<Value> = comparison.gates.iter().map(gate).collect();
    let mut whole = json!({
        "schema": "rprof-diff",
        "version": 1,
        "per": comparison.per.to_string(),
        "alpha": comparison.alpha,
        "runs": { "before": comparison.n_runs.0, "after": comparison.n_runs.1 },
        "events": events,
        "conditions": gates,
        "notes": comparison.notes,
    });
    leave_out_nulls(&mut whole);
    whole
}

/// What is not known is left out.
fn leave_out_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, field| !field.is_null());
            fields.values_mut().for_each(leave_out_nulls);
        }
        Value::Array(values) => values.iter_mut().for_each(leave_out_nulls),
        _ => {}
    }
}

fn event(comparison: &Comparison, event: &ComparedEvent, layout: &DiffLayout) -> Value {
    let side =
        |all: rprof_profile::SampleCount| json!({ "samples": all.samples, "weight": all.weight });
    let shown = layout.rows(event);
    let rows = shown.rows.iter();
    let rows: Vec<Value> = rows.map(|one| row(comparison, one, layout)).collect();
    json!({
        "event": event.name,
        "unit": event.kind.unit(),
        "before": side(event.all.0),
        "after": side(event.all.1),
        "total": event.total.as_ref().map(judged),
        "rows": rows,
        "left_out": shown.n_more + shown.n_small,
    })
}

fn row(comparison: &Comparison, row: &ComparedRow, layout: &DiffLayout) -> Value {
    let mut object = Map::new();
    for (key, cell) in comparison.keys.iter().zip(&row.cells) {
        object.insert(key.name().to_owned(), cell.trim().into());
    }
    let weights = &row.weights;
    let others = [
        ("baseline", json!(weights.baseline())),
        ("computed", json!(weights.computed(layout.compute))),
        (
            "before",
            json!({ "samples": weights.before.samples, "weight": weights.before.weight }),
        ),
        (
            "after",
            json!({ "samples": weights.after.samples, "weight": weights.after.weight }),
        ),
        ("own", judged(&row.own)),
        ("children", json!(row.children.as_ref().map(judged))),
        ("remarks", json!(remarks(row))),
    ];
    for (name, value) in others {
        object.insert(name.to_owned(), value);
    }
    Value::Object(object)
}

/// Amounts are divided by what `per` says; `change` is left out of what was not there before.
fn judged(judged: &Judged) -> Value {
    let estimate = &judged.estimate;
    let change = Some(estimate.change()).filter(|change| change.is_finite());
    json!({
        "before": estimate.before,
        "after": estimate.after,
        "change": change,
        "interval": estimate.interval.map(|(low, high)| [low, high]),
        "p_value": estimate.p_value,
        "q_value": judged.q_value,
        "is_sure": judged.is_sure,
    })
}

fn gate(gate: &GateResult) -> Value {
    let outcome = match gate.outcome {
        GateOutcome::Fired => "fired",
        GateOutcome::Undecided => "undecided",
        GateOutcome::Held => "held",
        GateOutcome::NoSamples => "no-samples",
    };
    let is_known = gate.outcome != GateOutcome::NoSamples;
    let known = |number: f64| is_known.then_some(number);
    json!({
        "condition": gate.condition,
        "outcome": outcome,
        "change": known(gate.change),
        "low": known(gate.bounds.0),
        "high": known(gate.bounds.1),
        "unit": gate.unit.trim(),
    })
}
