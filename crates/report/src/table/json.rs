//! Tables as JSON. `crates/JSON.md` says what is in it.

use super::{Table, TableOptions, slots, spans};
use crate::quality::{quality_advice, quality_line};
use crate::tree::Graph;
use rprof_profile::view::{FieldValue, LevelRow, Order, Pruning, Row};
use rprof_profile::{EventProfile, FieldOrder, Profile, Quality};
use rprof_untrusted::{JsonLayout, JsonScalar, JsonWriter};
use std::borrow::Cow;
use std::collections::BTreeMap;
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
    let mut json = JsonWriter::new(out, JsonLayout::Compact);
    json.object(|json| {
        json.field("schema", "rprof-report");
        json.field("version", REPORT_VERSION);
        profile.about.write_header(FieldOrder::ByName, json);
        json.key("quality").object(|json| quality(profile, json));
        json.key("events").list(|json| {
            for set in options.events.of(profile) {
                let table = Table::of(profile, set, options);
                json.begin_line();
                json.object(|json| write_table(&table, json));
            }
            json.end_line();
        });
        if options.spans {
            spans::write_json(&profile.spans, json);
        }
    });
    json.end_line();
    json.finish()
}

fn quality(profile: &Profile, json: &mut JsonWriter<'_>) {
    let quality = Quality::of(profile);
    let of_unwound = |number: u64| Some(number).filter(|_| quality.unwound > 0);
    json.field_if("advice", quality_advice(profile));
    json.field_if("clock", profile.about.clock.as_ref());
    json.field_if("complete", of_unwound(quality.complete));
    json.field("lost", quality.lost);
    json.field("lost_at_least", quality.lost_at_least);
    json.field("samples", quality.samples);
    json.field_if(
        "samples_taken",
        profile.about.thinning.map(|thinning| thinning.taken),
    );
    json.field("summary", quality_line(profile));
    json.field("throttled_ns", quality.throttled_ns);
    json.field("throttles", quality.throttles);
    json.field_if("truncated", of_unwound(quality.truncated));
    json.column("unnamed", &profile.unnamed, |json, image| {
        json.object(|json| {
            json.field("image", &image.path);
            json.field("reason", &image.reason);
            json.field("weight", image.weight);
        });
    });
    json.field("unnamed_percent", quality.unnamed.percent());
    json.field_if("unwound", of_unwound(quality.unwound));
    json.column("warnings", &profile.warnings, |json, warning| {
        json.text(warning);
    });
}

fn write_table(table: &Table<'_>, json: &mut JsonWriter<'_>) {
    for (name, value) in event_fields(table, 0, table.set.leader) {
        json.field(name, value);
    }
    if !table.set.others.is_empty() {
        json.column(
            "members",
            table.set.events().enumerate(),
            |json, (number, event)| {
                let fields = BTreeMap::from(event_fields(table, number, event));
                json.object(|json| {
                    for (name, value) in fields {
                        json.field(name, value);
                    }
                });
            },
        );
    }
    json.column("columns", table.event_columns(), |json, (field, event)| {
        json.object(|json| {
            json.field("heading", table.long_heading(field, event));
            json.field("name", table.name(field, event));
        });
    });
    json.key("left_out").object(|json| {
        json.field("rows", table.left_out.rows);
        json.field("weight", table.left_out.weight);
    });
    slots::write_json(table, json);
    json.key("rows").list(|json| {
        let mut rest = table.shown.as_slice();
        while !rest.is_empty() {
            json.begin_line();
            rest = write_row(table, rest, json);
        }
    });
}

/// What there is to say of one of a table's events.
fn event_fields<'e>(
    table: &Table<'_>,
    number: usize,
    event: &'e EventProfile,
) -> [(&'static str, JsonScalar<'e>); 6] {
    let totals = table.totals_of(number);
    [
        ("name", event.name.raw().into()),
        ("unit", event.kind.unit().unwrap_or("events").into()),
        ("samples", totals.samples.into()),
        ("weight", totals.weight.into()),
        ("lost", event.loss.samples.into()),
        ("lost_at_least", event.loss.at_least.into()),
    ]
}

/// What a row has under a name.
enum Cell<'r> {
    Value(JsonScalar<'r>),
    /// The rows below it.
    Rows,
    Tree(Graph),
}

/// Writes the first row, with all that are below it, and returns those after them. As deep as there are keys.
fn write_row<'r>(
    table: &Table<'_>,
    rows: &'r [LevelRow],
    json: &mut JsonWriter<'_>,
) -> &'r [LevelRow] {
    let Some((row, after)) = rows.split_first() else {
        return rows;
    };
    let n_below = after.iter().take_while(|below| below.depth > row.depth);
    let (mut below, rest) = if row.is_innermost {
        after.split_at(0)
    } else {
        after.split_at(n_below.count())
    };
    json.object(|json| {
        for (name, cell) in cells(table, row) {
            json.key(&name);
            match cell {
                Cell::Value(value) => json.value(value),
                Cell::Tree(graph) => {
                    json.object(|json| write_tree(table, &row.row.leader, graph, json))
                }
                Cell::Rows => json.list(|json| {
                    while !below.is_empty() {
                        below = write_row(table, below, json);
                    }
                }),
            }
        }
    });
    rest
}

/// Cells by name; what was not recorded is left out.
fn cells<'p>(table: &Table<'p>, shown: &LevelRow) -> BTreeMap<Cow<'p, str>, Cell<'p>> {
    let mut cells = BTreeMap::new();
    let columns = table.event_columns();
    for (field, event) in columns.filter(|(field, _)| table.is_of(*field, shown)) {
        let value = match table.value(field, &shown.row, event) {
            FieldValue::Share(share) => share.percent().into(),
            FieldValue::Number(number) => match (u64::try_from(number), i64::try_from(number)) {
                (Ok(number), _) => number.into(),
                (_, Ok(number)) => number.into(),
                _ => number.to_string().into(),
            },
            FieldValue::Text(text) => text.into(),
            FieldValue::None => continue,
        };
        cells.insert(table.name(field, event), Cell::Value(value));
    }
    let has_tree = shown.is_innermost && !shown.row.leader.is_absent();
    if let Some(graph) = table.options.graph.filter(|_| has_tree) {
        cells.insert("tree".into(), Cell::Tree(graph));
    }
    if !shown.is_innermost {
        cells.insert("rows".into(), Cell::Rows);
    }
    cells
}

/// Writes a tree as a list: nodes come after that which they hang on, so trees may be of any depth.
fn write_tree(table: &Table<'_>, row: &Row, graph: Graph, json: &mut JsonWriter<'_>) {
    let pruning = Pruning::below_percent(graph.min_percent, table.totals.weight);
    let tree = table.rows.call_tree(row, graph.order, pruning);
    let roots = tree.roots().iter().rev();
    let mut todo: Vec<(u32, Option<usize>)> = roots.map(|&root| (root, None)).collect();
    let profile = table.profile;
    json.key("nodes").list(|json| {
        for written in 0.. {
            let Some((number, parent)) = todo.pop() else {
                break;
            };
            let node = tree.node(number);
            let label = profile.frames.label(node.frame, &profile.strings);
            json.object(|json| {
                json.field("name", label.to_string());
                json.field_if("parent", parent);
                json.field("samples", node.total.samples);
                json.field("weight", node.total.weight);
            });
            let children = node.children.iter().rev();
            todo.extend(children.map(|&child| (child, Some(written))));
        }
    });
    let order = match graph.order {
        Order::Caller => "caller",
        Order::Callee => "callee",
    };
    json.field("order", order);
}
