//! JSON: all that is known of each row. `crates/JSON.md` describes it.

use super::{DiffLayout, remarks};
use crate::comparison::{ComparedEvent, ComparedRow, Comparison, Judged, RowOrder};
use crate::gate::{GateOutcome, GateResult};
use rprof_profile::SampleCount;
use rprof_untrusted::{JsonLayout, JsonScalar, JsonWriter};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Version of the schema: raised when a field changes its name or meaning.
pub const DIFF_VERSION: u64 = 1;

/// Version of the schema of many recordings: raised as that of two.
pub const DIFF_EACH_VERSION: u64 = 1;

/// Writes one object.
///
/// # Errors
/// The writer's.
pub fn write_diff_json(
    comparison: &Comparison,
    layout: &DiffLayout,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut json = JsonWriter::new(out, JsonLayout::Indented);
    write_comparison(comparison, layout, &mut json);
    json.end_line();
    json.finish()
}

/// Writes all that is known of a comparison; what is not known is left out.
pub(super) fn write_comparison(
    comparison: &Comparison,
    layout: &DiffLayout,
    json: &mut JsonWriter<'_>,
) {
    json.object(|json| {
        json.field("alpha", comparison.alpha);
        json.column("conditions", &comparison.gates, write_gate);
        json.column("events", &comparison.events, |json, event| {
            json.object(|json| write_event(comparison, event, layout, json));
        });
        json.column("notes", &comparison.notes, |json, note| json.text(note));
        let order = match comparison.order {
            RowOrder::Amount => "amount",
            RowOrder::Baseline => "baseline",
            RowOrder::Computed => "computed",
        };
        json.field("order", order);
        json.field("per", comparison.per.to_string());
        json.key("runs").object(|json| {
            json.field("after", comparison.n_runs.1);
            json.field("before", comparison.n_runs.0);
        });
        json.field("schema", "rprof-diff");
        json.field("version", DIFF_VERSION);
    });
}

fn write_event(
    comparison: &Comparison,
    event: &ComparedEvent,
    layout: &DiffLayout,
    json: &mut JsonWriter<'_>,
) {
    let shown = layout.rows(event);
    write_side("after", event.all.1, json);
    write_side("before", event.all.0, json);
    json.field("event", &event.name);
    json.field("left_out", shown.n_more + shown.n_small);
    json.column("rows", shown.rows, |json, row| {
        json.object(|json| write_row(comparison, row, layout, json));
    });
    if let Some(total) = &event.total {
        write_judged("total", total, json);
    }
    json.field_if("unit", event.kind.unit());
}

fn write_side(name: &str, side: SampleCount, json: &mut JsonWriter<'_>) {
    json.key(name).object(|json| {
        json.field("samples", side.samples);
        json.field("weight", side.weight);
    });
}

/// What a row has under a name.
enum RowField<'r> {
    Value(JsonScalar<'r>),
    Side(SampleCount),
    Judged(&'r Judged),
    Remarks,
}

fn write_row(
    comparison: &Comparison,
    row: &ComparedRow,
    layout: &DiffLayout,
    json: &mut JsonWriter<'_>,
) {
    let weights = &row.weights;
    let mut fields = BTreeMap::from([
        ("before", RowField::Side(weights.before)),
        ("after", RowField::Side(weights.after)),
        ("own", RowField::Judged(&row.own)),
        ("remarks", RowField::Remarks),
    ]);
    for (key, cell) in comparison.keys.iter().zip(&row.cells) {
        fields.insert(key.name(), RowField::Value(cell.trim().into()));
    }
    let numbers = [
        ("baseline", weights.baseline()),
        ("computed", weights.computed(layout.compute)),
    ];
    for (name, number) in numbers {
        if let Some(number) = number.filter(|number| number.is_finite()) {
            fields.insert(name, RowField::Value(number.into()));
        }
    }
    if let Some(children) = &row.children {
        fields.insert("children", RowField::Judged(children));
    }
    for (name, field) in fields {
        match field {
            RowField::Value(value) => json.field(name, value),
            RowField::Side(side) => write_side(name, side, json),
            RowField::Judged(judged) => write_judged(name, judged, json),
            RowField::Remarks => json.column(name, remarks(row), JsonWriter::text),
        }
    }
}

/// Writes an estimate, whose amounts are divided by what `per` says; `change` is left out of what was not there
/// before.
fn write_judged(name: &str, judged: &Judged, json: &mut JsonWriter<'_>) {
    let estimate = &judged.estimate;
    json.key(name).object(|json| {
        write_finite("after", estimate.after, json);
        write_finite("before", estimate.before, json);
        write_finite("change", estimate.change(), json);
        if let Some((low, high)) = estimate.interval {
            json.column("interval", [low, high], JsonWriter::float);
        }
        json.field("is_sure", judged.is_sure);
        write_finite("p_value", estimate.p_value, json);
        write_finite("q_value", judged.q_value, json);
    });
}

fn write_finite(name: &str, number: f64, json: &mut JsonWriter<'_>) {
    json.field_if(name, Some(number).filter(|number| number.is_finite()));
}

fn write_gate(json: &mut JsonWriter<'_>, gate: &GateResult) {
    let outcome = match gate.outcome {
        GateOutcome::Fired => "fired",
        GateOutcome::Undecided => "undecided",
        GateOutcome::Held => "held",
        GateOutcome::NoSamples => "no-samples",
    };
    let write_known = |name: &str, number: f64, json: &mut JsonWriter<'_>| {
        if gate.outcome != GateOutcome::NoSamples {
            write_finite(name, number, json);
        }
    };
    json.object(|json| {
        write_known("change", gate.change, json);
        json.field("condition", &gate.condition);
        write_known("high", gate.bounds.1, json);
        write_known("low", gate.bounds.0, json);
        json.field("outcome", outcome);
        json.field("unit", gate.unit.trim());
    });
}
