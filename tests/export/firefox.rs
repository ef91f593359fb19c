//! Firefox Profiler's format: a validator of what its documentation says.
//!
//! Source: docs-developer/processed-profile-format.md, docs-developer/CHANGELOG-formats.md and
//! src/types/profile.ts of github.com/firefox-devtools/profiler.

use crate::common::{Recording, scratch};
use crate::export::recordings::index;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const TABLES: &[(&str, &[&str])] = &[
    ("stackTable", &["frame", "prefixOffset"]),
    (
        "frameTable",
        &[
            "address",
            "inlineDepth",
            "category",
            "subcategory",
            "func",
            "nativeSymbol",
            "innerWindowID",
            "line",
            "column",
            "originalLocation",
        ],
    ),
    (
        "funcTable",
        &[
            "name",
            "isJS",
            "relevantForJS",
            "resource",
            "source",
            "lineNumber",
            "columnNumber",
            "originalLocation",
        ],
    ),
    ("resourceTable", &["lib", "name", "host", "type"]),
    (
        "nativeSymbols",
        &["libIndex", "address", "name", "functionSize"],
    ),
    (
        "sources",
        &[
            "id",
            "filename",
            "startLine",
            "startColumn",
            "sourceMapURL",
            "content",
        ],
    ),
    ("sourceLocationTable", &["source", "line", "column"]),
];

/// Which column leads to which table.
const LINKS: &[(&str, &str, &str)] = &[
    ("stackTable", "frame", "frameTable"),
    ("frameTable", "func", "funcTable"),
    ("frameTable", "nativeSymbol", "nativeSymbols"),
    ("funcTable", "resource", "resourceTable"),
    ("funcTable", "source", "sources"),
];

/// Which column leads to strings.
const STRINGS: &[(&str, &str)] = &[
    ("funcTable", "name"),
    ("resourceTable", "name"),
    ("nativeSymbols", "name"),
    ("sources", "filename"),
];

#[track_caller]
fn column<'v>(table: &'v Value, name: &str) -> &'v [Value] {
    let column = table[name].as_array();
    column.unwrap_or_else(|| panic!("no column {name}"))
}

/// Whether all are below a limit; null is no index.
#[track_caller]
fn in_range(indices: &[Value], len: u64, what: &str) {
    for index in indices.iter().filter(|index| !index.is_null()) {
        assert!(index.as_u64().unwrap() < len, "{what}: {index} of {len}");
    }
}

#[track_caller]
fn len(table: &Value) -> u64 {
    table["length"].as_u64().unwrap()
}

/// Milliseconds as nanoseconds.
fn nanos(millis: &Value) -> u64 {
    let nanos = millis.as_f64().unwrap() * 1e6;
    assert!(nanos >= 0.0, "{millis}");
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is a whole number"
    )]
    let nanos = nanos.round() as u64;
    nanos
}

fn check_shared(profile: &Value) {
    let shared = &profile["shared"];
    let n_strings = column(shared, "stringArray").len() as u64;
    assert!(column(shared, "stringArray").iter().all(Value::is_string));
    for (table, columns) in TABLES {
        let table = &shared[*table];
        for name in *columns {
            assert_eq!(column(table, name).len() as u64, len(table), "{name}");
        }
        assert_eq!(table.as_object().unwrap().len(), columns.len() + 1);
    }
    for &(table, name, to) in LINKS {
        in_range(column(&shared[table], name), len(&shared[to]), name);
    }
    for &(table, name) in STRINGS {
        in_range(column(&shared[table], name), n_strings, name);
    }
    let n_libs = column(profile, "libs").len() as u64;
    in_range(column(&shared["resourceTable"], "lib"), n_libs, "lib");
    in_range(
        column(&shared["nativeSymbols"], "libIndex"),
        n_libs,
        "libIndex",
    );
    for (idx, offset) in column(&shared["stackTable"], "prefixOffset")
        .iter()
        .enumerate()
    {
        assert!(offset.as_u64().unwrap() <= idx as u64);
    }
    let categories = column(&profile["meta"], "categories");
    let frames = &shared["frameTable"];
    in_range(
        column(frames, "category"),
        categories.len() as u64,
        "category",
    );
    assert!(column(frames, "subcategory").iter().all(|one| *one == 0));
    // Inlined frames have the address and the symbol of what they are inlined into.
    let depths = column(frames, "inlineDepth");
    for idx in 1..depths.len() {
        let (depth, before) = (
            depths[idx].as_u64().unwrap(),
            depths[idx - 1].as_u64().unwrap(),
        );
        if depth > 0 {
            assert_eq!(depth, before + 1);
            for name in ["address", "nativeSymbol"] {
                assert_eq!(column(frames, name)[idx], column(frames, name)[idx - 1]);
            }
        }
    }
    for lib in column(profile, "libs") {
        for name in [
            "arch",
            "name",
            "path",
            "debugName",
            "debugPath",
            "breakpadId",
        ] {
            assert!(lib[name].is_string(), "{name}");
        }
        let id = lib["breakpadId"].as_str().unwrap();
        assert!(id.is_empty() || id.len() == 33, "{id}");
    }
}

fn check_meta(meta: &Value) {
    assert_eq!(meta["preprocessedProfileVersion"], 69);
    assert_eq!(meta["symbolicated"], true);
    let colors = [
        "transparent",
        "purple",
        "green",
        "orange",
        "yellow",
        "lightblue",
        "blue",
        "brown",
        "magenta",
        "red",
        "lightred",
        "darkgrey",
        "grey",
    ];
    let categories = column(meta, "categories");
    assert!(categories.iter().any(|one| one["color"] == "grey"));
    for category in categories {
        assert!(colors.contains(&category["color"].as_str().unwrap()));
        assert_eq!(category["subcategories"][0], "Other");
    }
    assert!(nanos(&meta["interval"]) > 0);
    assert!(meta["product"].is_string());
    let units = &meta["sampleUnits"];
    assert_eq!(
        (&units["time"], &units["eventDelay"]),
        (&"ms".into(), &"ms".into())
    );
    for schema in column(meta, "markerSchema") {
        assert!(!column(schema, "display").is_empty());
        let keys: Vec<&str> = column(schema, "fields")
            .iter()
            .map(|field| field["key"].as_str().unwrap())
            .collect();
        let set: BTreeSet<&str> = keys.iter().copied().collect();
        assert_eq!(keys.len(), set.len(), "{keys:?}");
        assert!(!set.contains("type") && !set.contains("cause"));
    }
}

/// Checks a thread's markers; adds up what they count.
fn check_markers(profile: &Value, thread: &Value, sums: &mut BTreeMap<String, (u64, u64)>) {
    let markers = &thread["markers"];
    for name in ["data", "name", "startTime", "endTime", "phase", "category"] {
        assert_eq!(column(markers, name).len() as u64, len(markers), "{name}");
    }
    let n_strings = column(&profile["shared"], "stringArray").len() as u64;
    in_range(column(markers, "name"), n_strings, "name of a marker");
    let starts: Vec<u64> = column(markers, "startTime").iter().map(nanos).collect();
    assert!(starts.is_sorted());
    let schemas = column(&profile["meta"], "markerSchema");
    for data in column(markers, "data") {
        let kind = data["type"].as_str().unwrap();
        let schema = schemas
            .iter()
            .find(|schema| schema["name"] == kind)
            .unwrap();
        for field in column(schema, "fields") {
            let value = &data[field["key"].as_str().unwrap()];
            match field["format"].as_str().unwrap() {
                "integer" => assert!(value.is_null() || value.is_number(), "{field}: {value}"),
                "unique-string" => in_range(std::slice::from_ref(value), n_strings, "a string"),
                _ => assert!(value.is_null() || value.is_string(), "{field}: {value}"),
            }
        }
        if let Some(cause) = data.get("cause") {
            let n_stacks = len(&profile["shared"]["stackTable"]);
            assert!(cause["stack"].as_u64().unwrap() < n_stacks);
        }
        if let Some(weight) = data["weight"].as_u64() {
            let sum = sums.entry(kind.to_owned()).or_default();
            *sum = (sum.0 + 1, sum.1 + weight);
        }
    }
}

/// Checks a profile; returns the events that it lists with their samples and weights.
#[track_caller]
pub(crate) fn checked(profile: &Value) -> Vec<(String, u64, u64)> {
    check_meta(&profile["meta"]);
    check_shared(profile);
    // Events by name, as the page's panel has them.
    let entries = column(&profile["meta"]["extra"][0], "entries");
    let events = entries
        .iter()
        .filter(|one| one["value"].as_str().unwrap().contains(" samples, "));
    let names: Vec<String> = events
        .map(|one| one["label"].as_str().unwrap().to_owned())
        .collect();
    let mut sums: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let mut tids = BTreeSet::new();
    assert!(!column(profile, "threads").is_empty());
    for thread in column(profile, "threads") {
        assert!(tids.insert(thread["tid"].as_str().unwrap()), "{thread}");
        assert!(thread["pid"].is_string() && thread["name"].is_string());
        let samples = &thread["samples"];
        let n_stacks = len(&profile["shared"]["stackTable"]);
        in_range(column(samples, "stack"), n_stacks, "a sample's stack");
        for name in ["stack", "timeDeltas", "weight"] {
            assert_eq!(column(samples, name).len() as u64, len(samples), "{name}");
        }
        if let Some(deltas) = samples.get("threadCPUDelta") {
            assert_eq!(deltas.as_array().unwrap().len() as u64, len(samples));
        }
        let times = column(samples, "timeDeltas").iter().map(nanos);
        let times: Vec<u64> = times
            .scan(0, |time, delta| {
                *time += delta;
                Some(*time)
            })
            .collect();
        if let (Some(&first), Some(&last)) = (times.first(), times.last()) {
            assert!(nanos(&thread["registerTime"]) <= first);
            assert!(last <= nanos(&thread["unregisterTime"]));
            assert!(last <= nanos(&profile["meta"]["profilingEndTime"]));
        }
        let weights = column(samples, "weight").iter();
        let weight: u64 = match samples["weightType"].as_str().unwrap() {
            "tracing-ms" => weights.map(nanos).sum(),
            "samples" => weights.map(|one| one.as_u64().unwrap()).sum(),
            other => panic!("{other}"),
        };
        // The event of a track is in its name if there are several.
        let name = thread["name"].as_str().unwrap();
        let named = names
            .iter()
            .find(|event| name.ends_with(&format!(" ({event})")));
        let event = named.or(names.first());
        if let Some(event) = event.filter(|_| len(samples) > 0) {
            let sum = sums.entry(event.clone()).or_default();
            *sum = (sum.0 + len(samples), sum.1 + weight);
        }
        check_markers(profile, thread, &mut sums);
    }
    let sum = |name: String| {
        let (samples, weight) = sums.get(&name).copied().unwrap_or_default();
        (name, samples, weight)
    };
    names.into_iter().map(sum).collect()
}

#[test]
fn inlined_functions_lines_and_symbols_are_where_they_belong() {
    let dir = scratch();
    let profile = Recording::fixture("spin").export_json(dir.path(), "spin.json.gz", &[]);
    let shared = &profile["shared"];
    let string = |idx: &Value| shared["stringArray"][index(idx)].as_str().unwrap();
    let (frames, funcs) = (&shared["frameTable"], &shared["funcTable"]);
    let name = |frame: usize| {
        let func = index(&column(frames, "func")[frame]);
        string(&column(funcs, "name")[func])
    };
    let all = 0..column(frames, "func").len();
    let inlined: Vec<usize> = all
        .filter(|&frame| column(frames, "inlineDepth")[frame] == 1)
        .collect();
    assert!(!inlined.is_empty());
    for frame in inlined {
        assert_eq!((name(frame), name(frame - 1)), ("helper", "hot"));
        assert!(column(frames, "line")[frame].is_u64());
        // The program is not relocated: addresses are those of the file.
        assert!(column(frames, "address")[frame].as_u64().unwrap() > 0x40_0000);
        let symbol = index(&column(frames, "nativeSymbol")[frame]);
        assert_eq!(
            string(&column(&shared["nativeSymbols"], "name")[symbol]),
            "hot"
        );
    }
    let file = column(&shared["sources"], "filename").first().map(string);
    assert!(
        file.is_some_and(|file| file.ends_with("spin.c")),
        "{file:?}"
    );
    let lib = &profile["libs"]
        .as_array()
        .unwrap()
        .iter()
        .find(|lib| lib["name"] == "spin");
    assert!(lib.unwrap()["codeId"].as_str().unwrap().len() >= 16);
}
