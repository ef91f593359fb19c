//! Messages, decoded by the packages that others publish.

use super::collector::Collector;
use super::{copied, pushed};
use crate::common::{Recording, not_run, run, scratch, tool};
use crate::push::protocols::unpacked;
use serde_json::Value;

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
    let mut python = tool("python3");
    python.args([
        "-c",
        "import opentelemetry.proto.profiles.v1development.profiles_pb2",
    ]);
    if !run(&mut python).status.success() {
        not_run(
            "opentelemetry-proto is not installed (pip install -r tests/export/requirements.txt)",
        );
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
