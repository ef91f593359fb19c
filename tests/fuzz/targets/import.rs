//! Any bytes as a file of another tool: a recording is made of it, which is whole, or it is refused.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rprof_perfdata::{RecordingInput, Step};
use rprof_untrusted::Allowed;
use std::path::Path;

fuzz_target!(|bytes: &[u8]| {
    let allowed = Allowed {
        memory: Some(64 << 20),
        spool: Some(64 << 20),
    };
    let input = RecordingInput::from_bytes(Path::new("fuzz"), bytes.to_vec());
    // Errors are answers, too.
    if let Ok(Some(imported)) = rprof_import::open(&input, allowed) {
        let reader = imported.reader;
        assert!(reader.warnings().is_empty());
        let warnings = reader.walk(reader.data(), |_, _| Step::On);
        assert!(warnings.is_ok_and(|warnings| warnings.is_empty()));
    }
});
