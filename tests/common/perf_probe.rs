//! Probes that perf defines.

use super::{perf, run};
use std::path::Path;

/// A probe of a function, removed at the end.
pub struct PerfProbe(pub String);

impl PerfProbe {
    /// In a file, by `perf probe`; tracefs must be mounted.
    pub fn new(path: &Path, function: &str) -> Self {
        let name = format!("probe_rprof_test:{function}");
        let defined = format!("{name}={function}");
        run(perf(["probe", "-q", "-f", "-x"])
            .arg(path)
            .args(["-a", &defined]))
        .ok();
        Self(name)
    }
}

impl Drop for PerfProbe {
    fn drop(&mut self) {
        run(&mut perf(["probe", "-q", "-d", &self.0]));
    }
}
