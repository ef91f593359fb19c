//! Messages, decoded by the packages that others publish, and compared with those of published clients.

use super::collector::{Collector, Received};
use super::protocols::{Pprof, PushRequest, unpacked};
use super::{copied, pushed};
use crate::common::{Recording, Running, in_path, needs, not_run, run, scratch, tool};
use prost::Message;
use serde_json::{Value, json};
use std::path::Path;

/// Decodes a request by OpenTelemetry's stubs, and prints sums by type of values, and what breaks the rules of tables.
const DECODE: &str = r#"
import json, pathlib, sys
from opentelemetry.proto.collector.profiles.v1development.profiles_service_pb2 import ExportProfilesServiceRequest
request = ExportProfilesServiceRequest.FromString(pathlib.Path(sys.argv[1]).read_bytes())
tables = request.dictionary
broken = []
for name in ["mapping", "location", "function", "link", "attribute", "stack"]:
    table = getattr(tables, name + "_table")
    if len(table) == 0 or table[0].ByteSize() != 0:
        broken.append(name)
    texts = [entry.SerializeToString(deterministic=True) for entry in table]
    if name in ["function", "attribute", "stack"] and len(set(texts)) != len(texts):
        broken.append(name + " twice")
if tables.string_table[0] != "" or len(set(tables.string_table)) != len(tables.string_table):
    broken.append("string")
sums, names = {}, set()
for resource in request.resource_profiles:
    for scope in resource.scope_profiles:
        for profile in scope.profiles:
            kind = tables.string_table[profile.sample_type.type_strindex]
            assert len(profile.profile_id) == 16
            for sample in profile.samples:
                sums[kind] = sums.get(kind, 0) + sum(sample.values)
                keys = [tables.string_table[tables.attribute_table[i].key_strindex] for i in sample.attribute_indices]
                assert "process.pid" in keys, keys
                for location in tables.stack_table[sample.stack_index].location_indices:
                    mapping = tables.mapping_table[tables.location_table[location].mapping_index]
                    assert mapping.memory_limit > 0
                    for line in tables.location_table[location].lines:
                        function = tables.function_table[line.function_index]
                        names.add(tables.string_table[function.name_strindex])
print(json.dumps({"sums": sums, "broken": broken, "names": sorted(names)}))
"#;

#[test]
fn opentelemetrys_own_stubs_read_what_collectors_get() {
    if !has_module("opentelemetry.proto.profiles.v1development.profiles_pb2") {
        return;
    }
    for fixture in ["spin", "dwarf"] {
        let dir = scratch();
        let file = copied(fixture, dir.path(), "perf.data");
        let server = Collector::good();
        pushed(&server.url, "otlp", &file);
        let message = dir.path().join("message");
        let received = server.received();
        assert_eq!(received.len(), 1);
        std::fs::write(&message, unpacked(&received[0].body)).unwrap();
        let mut python = tool("python3");
        let decoded = run(python.args(["-c", DECODE]).arg(&message)).ok().stdout;
        let decoded: Value = serde_json::from_str(&decoded).unwrap();
        assert_eq!(decoded["broken"], serde_json::json!([]), "{fixture}");
        let totals = Recording::fixture(fixture).totals();
        let [(event, samples, weight)] = &totals[..] else {
            panic!("{totals:?}");
        };
        assert_eq!(decoded["sums"]["samples"], *samples);
        assert_eq!(decoded["sums"][event], *weight);
    }
}

/// Whether Python has a module; if not, says so.
fn has_module(name: &str) -> bool {
    let import = format!("import {name}");
    let is_here = run(tool("python3").args(["-c", &import])).status.success();
    if !is_here {
        let how = "pip install -r tests/export/requirements.txt";
        not_run(&format!("{name} is not installed ({how})"));
    }
    is_here
}

/// Whether Node.js has the packages; if not, says so.
fn has_packages() -> bool {
    let ask = "require.resolve('@parca/client/package.json'); require.resolve('pprof-format')";
    let is_here = in_path("node").is_some() && run(tool("node").args(["-e", ask])).status.success();
    if !is_here {
        let how = "npm install --ignore-scripts --no-package-lock in tests/push, and NODE_PATH";
        not_run(&format!(
            "@parca/client and pprof-format are not installed ({how})"
        ));
    }
    is_here
}

/// What a package says of a message.
#[track_caller]
fn decoded(kind: &str, bytes: &[u8], dir: &Path) -> Value {
    let message = dir.join("message");
    std::fs::write(&message, bytes).unwrap();
    let mut node = tool("node");
    node.arg(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/push/decode.cjs"
    ));
    let text = run(node.arg(kind).arg(&message)).ok().stdout;
    serde_json::from_str(&text).unwrap()
}

/// The only request when a fixture is pushed.
#[track_caller]
fn received(fixture: &str, protocol: &str) -> Received {
    let dir = scratch();
    let file = copied(fixture, dir.path(), "perf.data");
    let server = Collector::good();
    pushed(&server.url, protocol, &file);
    let mut received = server.received();
    assert_eq!(received.len(), 1);
    received.remove(0)
}

#[track_caller]
fn check_profile(profile: &Value, fixture: &str, labels: &[&str]) {
    let (_, samples, weight) = Recording::fixture(fixture).totals().remove(0);
    assert_eq!(
        profile["types"],
        json!(["samples/count", "cpu/nanoseconds"])
    );
    assert_eq!(profile["sums"], json!([samples, weight]));
    assert_eq!(profile["labels"], json!(labels));
    let names = profile["names"].as_array().unwrap();
    // The program of the other one is not there.
    let is_named = names.contains(&json!("hot")) || fixture != "spin";
    assert!(is_named, "{names:?}");
}

#[test]
fn parcas_own_client_reads_what_parca_gets() {
    if !has_packages() {
        return;
    }
    let dir = scratch();
    for (fixture, labels) in [
        ("spin", &["comm", "cpu", "pid", "tid"][..]),
        ("dwarf", &["comm", "pid", "tid"]),
    ] {
        let message = decoded("parca", &received(fixture, "parca").body, dir.path());
        assert_eq!(message["n_series"], 1);
        assert_eq!(message["normalized"], true);
        let series = message["labels"].as_array().unwrap();
        let name = json!(["__name__", "process_cpu"]);
        assert!(series.contains(&name), "{series:?}");
        let [profile] = &message["profiles"].as_array().unwrap()[..] else {
            panic!("{message}");
        };
        check_profile(profile, fixture, labels);
    }
}

#[test]
fn the_package_of_pyroscopes_client_reads_what_pyroscope_gets() {
    if !has_packages() {
        return;
    }
    let dir = scratch();
    for fixture in ["spin", "dwarf"] {
        let pushed = received(fixture, "pyroscope");
        let push = PushRequest::decode(&*pushed.body).unwrap();
        let profile = &push.series[0].samples[0].raw_profile;
        check_profile(&decoded("pprof", profile, dir.path()), fixture, &["comm"]);
        let ingested = received(fixture, "pyroscope-ingest").body;
        check_profile(&decoded("pprof", &ingested, dir.path()), fixture, &["comm"]);
    }
}

/// Has Pyroscope's client for Python profile itself, until it is killed.
const PYROSCOPE: &str = r#"
import sys
import pyroscope
pyroscope.configure(application_name="shop", server_address=sys.argv[1], tags={"zone": "a b"})
while True:
    sum(range(10000))
"#;

#[test]
fn pyroscope_gets_of_us_what_it_gets_of_its_own_client() {
    needs!(wide);
    if !has_module("pyroscope") {
        return;
    }
    let server = Collector::good();
    let mut python = tool("python3");
    let client = Running::start(python.args(["-c", PYROSCOPE, &server.url]));
    // It uploads every ten seconds.
    let theirs = server.wait_for(1).remove(0);
    drop(client);
    let ours = received("spin", "pyroscope");
    assert_eq!(ours.path, theirs.path);
    assert_eq!(ours.headers["content-type"], theirs.headers["content-type"]);
    // They compress the message, we the profile in it.
    assert_eq!(theirs.headers["content-encoding"], "gzip");
    let theirs = PushRequest::decode(&*unpacked(&theirs.body)).unwrap();
    let ours = PushRequest::decode(&*ours.body).unwrap();
    for (request, service) in [(&theirs, "shop"), (&ours, "spin")] {
        let [series] = &request.series[..] else {
            panic!("{request:?}");
        };
        let label = |name: &str| {
            let label = series.labels.iter().find(|one| one.name == name);
            label.map(|label| label.value.as_str())
        };
        assert_eq!(label("__name__"), Some("process_cpu"));
        assert_eq!(label("service_name"), Some(service));
        let [sample] = &series.samples[..] else {
            panic!("{request:?}");
        };
        let bytes = &sample.raw_profile;
        let is_packed = bytes.starts_with(b"\x1f\x8b");
        let bytes = if is_packed {
            unpacked(bytes)
        } else {
            bytes.clone()
        };
        let profile = Pprof::decode(&*bytes).unwrap();
        let types = profile.types();
        assert!(
            types.iter().any(|one| one == "cpu/nanoseconds"),
            "{types:?}"
        );
        assert!(profile.time_ns > 0 && sample.id.len() == 36);
    }
}
