//! Any bytes as a recording: opened, walked, and written as `dump`, `info` and `--header` do.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rprof_fuzz::check_json;
use rprof_perfdata::Reader;
use rprof_inspect::{DumpForm, JsonFields, OutlineFields, header_text, visit_info, write_dump};
use std::path::Path;

fuzz_target!(|bytes: &[u8]| {
    let Ok(reader) = Reader::from_bytes(Path::new("perf.data"), bytes.to_vec()) else {
        return;
    };
    reader.build_ids();
    // Errors are answers, too.
    let _ = write_dump(&reader, DumpForm::Text, &mut std::io::sink());
    let mut lines = Vec::new();
    if write_dump(&reader, DumpForm::Json, &mut lines).is_ok() {
        let lines = lines.split(|&byte| byte == b'\n');
        lines.filter(|line| !line.is_empty()).for_each(check_json);
    }
    let _ = visit_info(&reader, &mut OutlineFields::default());
    header_text(&reader, true);
    let mut json = JsonFields::new();
    if visit_info(&reader, &mut json).is_ok() {
        check_json(&json.finish());
    }
});
