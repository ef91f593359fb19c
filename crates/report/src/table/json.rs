//! Tables as JSON. `JSON.md` beside this crate says what is in it.

use super::{Table, TableOptions};
use crate::quality::{quality_advice, quality_line};
use crate::tree::Graph;
use rprof_profile::view::{FieldValue, LevelRow, Order, Pruning, Row};
use rprof_profile::{EventProfile, Profile, Quality};
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// Version of the schema: raised when a field changes its name or meaning.
pub const REPORT_VERSION: u64 = 1;

/// Writes one object: the tables of all events. A row is a line.
///
/// # Errors
/// The writer's.
pub fn write_json(
    profile: &Profile,
    options: &TableOptions,
    out: &mut impl Write,
) -> io::Result<()> {
    write!(
        out,
        "{{\"schema\":\"rprof-report\",\"version\":{REPORT_VERSION},\"header\":"
    )?;
    serde_json::to_writer(&mut *out, &header(profile))?;
    out.write_all(b",\"quality\":")?;
    serde_json::to_writer(&mut *out, &quality(profile))?;
    out.write_all(b",\"events\":[")?;
    for (number, set) in options.events.of(profile).into_iter().enumerate() {
        out.write_all(if number > 0 { b",\n" } else { b"\n" })?;
        write_events(&Table::of(profile, set, options), out)?;
    }
    out.write_all(b"\n]}\n")
}

fn header(profile: &Profile) -> Map<String, Value> {
    let about = &profile.about;
    let texts = about.texts();
    let mut header: Map<String, Value> = texts
        .map(|(name, text)| (name.to_owned(), text.into()))
        .collect();
    if let Some(cpus) = about.n_cpus {
        header.insert("n_cpus".to_owned(), cpus.into());
    }
    if !about.command.is_empty() {
        header.insert("command".to_owned(), about.command.clone().into());
    }
    if let Some(clock) = about.wall_clock {
        let wall_clock = json!({"wall_ns": clock.wall_ns, "clock_ns": clock.clock_ns});
        header.insert("wall_clock".to_owned(), wall_clock);
    }
    header
}

fn quality(profile: &Profile) -> Value {
    let quality = Quality::of(profile);
    let unnamed = profile.unnamed.iter();
    let unnamed: Vec<Value> = unnamed
        .map(|image| json!({"image": image.path, "weight": image.weight, "reason": image.reason}))
        .collect();
    let mut all = json!({
        "summary": quality_line(profile),
        "samples": quality.samples,
        "lost": quality.lost,
        "lost_at_least": quality.lost_at_least,
        "unnamed_percent": quality.unnamed.percent(),
        "throttles": quality.throttles,
        "throttled_ns": quality.throttled_ns,
        "unnamed": unnamed,
        "warnings": profile.warnings,
    });
    if let Some(clock) = &profile.about.clock {
        all["clock"] = clock.clone().into();
    }
    if let Some(advice) = quality_advice(profile) {
        all["advice"] = advice.into();
    }
    if quality.unwound > 0 {
        all["unwound"] = quality.unwound.into();
        all["complete"] = quality.complete.into();
        all["truncated"] = quality.truncated.into();
    }
    all
}

fn write_events(table: &Table<'_>, out: &mut impl Write) -> io::Result<()> {
    let columns = table.event_columns().map(|(field, event)| {
        let (name, heading) = (table.name(field, event), table.long_heading(field, event));
        json!({"name": name, "heading": heading})
    });
    let columns: Vec<Value> = columns.collect();
    let mut fields = event_fields(table, (0, table.set.leader)).to_vec();
    if !table.set.others.is_empty() {
        let members = table.set.events().enumerate();
        let members = members.map(|event| Map::from_iter(event_fields(table, event)));
        fields.push(("members".to_owned(), members.collect()));
    }
    let left_out = json!({"rows": table.left_out.rows, "weight": table.left_out.weight});
    fields.push(("columns".to_owned(), columns.into()));
    fields.push(("left_out".to_owned(), left_out));
    out.write_all(b"{")?;
    for (name, value) in fields {
        write!(out, "\"{name}\":{value},")?;
    }
    out.write_all(b"\"rows\":[")?;
    let mut at = 0;
    while at < table.shown.len() {
        out.write_all(if at > 0 { b",\n" } else { b"\n" })?;
        let row = nested(table, &mut at);
        serde_json::to_writer(&mut *out, &row)?;
    }
    out.write_all(b"]}")
}

/// What there is to say of one of a table's events.
fn event_fields(
    table: &Table<'_>,
    (number, event): (usize, &EventProfile),
) -> [(String, Value); 6] {
    let totals = table.totals_of(number);
    let fields = [
        ("name", event.name.raw().into()),
        ("unit", event.kind.unit().unwrap_or("events").into()),
        ("samples", totals.samples.into()),
        ("weight", totals.weight.into()),
        ("lost", event.loss.samples.into()),
        ("lost_at_least", event.loss.at_least.into()),
    ];
    fields.map(|(name, value)| (name.to_owned(), value))
}

/// The row at a place, with all that are below it; the place is then that after them. As deep as there are keys.
fn nested(table: &Table<'_>, at: &mut usize) -> Map<String, Value> {
    let Some(shown) = table.shown.get(*at) else {
        return Map::new();
    };
    *at += 1;
    let mut row = row_of(table, shown);
    if !shown.is_innermost {
        let mut rows: Vec<Value> = Vec::new();
        let is_below = |at: usize| {
            let next = table.shown.get(at);
            next.is_some_and(|next| next.depth > shown.depth)
        };
        while is_below(*at) {
            rows.push(nested(table, at).into());
        }
        row.insert("rows".to_owned(), rows.into());
    }
    row
}

/// Fields by name; what was not recorded is left out.
fn row_of(table: &Table<'_>, shown: &LevelRow) -> Map<String, Value> {
    let (mut cells, row) = (Map::new(), &shown.row);
    let columns = table.event_columns();
    for (field, event) in columns.filter(|(field, _)| table.is_of(*field, shown)) {
        let value = match table.value(field, row, event) {
            FieldValue::Share(share) => share.percent().into(),
            FieldValue::Number(number) => match (u64::try_from(number), i64::try_from(number)) {
                (Ok(number), _) => number.into(),
                (_, Ok(number)) => number.into(),
                _ => number.to_string().into(),
            },
            FieldValue::Text(text) => text.into(),
            FieldValue::None => continue,
        };
        cells.insert(table.name(field, event).into_owned(), value);
    }
    if let Some(graph) = table
        .options
        .graph
        .filter(|_| shown.is_innermost && !row.leader.is_absent())
    {
        cells.insert("tree".to_owned(), tree_of(table, &row.leader, graph));
    }
    cells
}

/// A tree as a list: nodes come after that which they hang on, so trees may be of any depth.
fn tree_of(table: &Table<'_>, row: &Row, graph: Graph) -> Value {
    let pruning = Pruning::below_percent(graph.min_percent, table.totals.weight);
    let tree = table.rows.call_tree(row, graph.order, pruning);
    let mut nodes: Vec<Value> = Vec::new();
    let mut todo: Vec<(u32, Option<usize>)> = tree
        .roots()
        .iter()
        .rev()
        .map(|&root| (root, None))
        .collect();
    while let Some((number, parent)) = todo.pop() {
        let node = tree.node(number);
        let label = table
            .profile
            .frames
            .label(node.frame, &table.profile.strings);
        let mut fields = json!({
            "name": label.to_string(),
            "weight": node.total.weight,
            "samples": node.total.samples,
        });
        if let Some(parent) = parent {
            fields["parent"] = parent.into();
        }
        let children = node.children.iter().rev();
        todo.extend(children.map(|&child| (child, Some(nodes.len()))));
        nodes.push(fields);
    }
    let order = match graph.order {
        Order::Caller => "caller",
        Order::Callee => "callee",
    };
    json!({"order": order, "nodes": nodes})
}
