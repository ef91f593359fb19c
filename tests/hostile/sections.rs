//! What `rprof info` says of feature sections that are damaged.

use crate::common::{rprof, run, scratch};
use crate::hostile::crafted::Crafted;
use rprof_perfdata::FeatureId;

#[test]
fn a_damaged_section_of_tracepoint_formats_keeps_its_size() {
    let dir = scratch();
    let file = dir.path().join("damaged.data");
    let mut crafted = Crafted::new("cpu-clock");
    crafted.comm(b"x");
    let damaged = b"no formats of tracepoints".to_vec();
    let len_bytes = damaged.len();
    crafted.features.push((FeatureId::TRACING_DATA, damaged));
    crafted.write(&file);
    let ran = run(rprof(["info", "--json", "-i"]).arg(&file));
    let info: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(info["features"]["tracing_data"]["len_bytes"], len_bytes);
    let said = info["warnings"].to_string();
    assert!(said.contains("TRACING_DATA"), "{said}");
}
