//! Machines that files make up.

use rprof_targets::rights::Facts;
use std::fs;

/// Facts of a made-up machine: a user without rights, unless files say otherwise.
pub(crate) fn facts(files: &[(&str, &str)]) -> (tempfile::TempDir, Facts) {
    let dir = tempfile::tempdir().unwrap();
    let usual = [
        ("proc/sys/kernel/perf_event_paranoid", "2"),
        (
            "proc/self/status",
            "Name:\trprof\nCapPrm:\t0\nCapEff:\t0\nSeccomp:\t0\n",
        ),
        ("proc/self/uid_map", "         0          0 4294967295\n"),
        ("sys/devices/system/cpu/online", "0-1"),
    ];
    for (path, text) in usual.iter().chain(files) {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let facts = Facts::below(dir.path());
    (dir, facts)
}
