//! What is exported, and how.

use crate::common::{Recording, compile_c, needs, rprof, run, tracefs};
use flate2::read::GzDecoder;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

impl Recording {
    /// Exports into a folder; returns the file.
    #[track_caller]
    pub(crate) fn export(&self, dir: &Path, name: &str, args: &[&str]) -> PathBuf {
        let path = dir.join(name);
        let mut command = self.command("export", args);
        run(command.arg("-o").arg(&path)).ok();
        path
    }

    /// Exports as JSON, compressed or not.
    #[track_caller]
    pub(crate) fn export_json(&self, dir: &Path, name: &str, args: &[&str]) -> serde_json::Value {
        let path = self.export(dir, name, args);
        let file = File::open(path).unwrap();
        if name.ends_with(".gz") {
            serde_json::from_reader(GzDecoder::new(file)).unwrap()
        } else {
            serde_json::from_reader(std::io::BufReader::new(file)).unwrap()
        }
    }

    /// Samples and weight of each event, as `report` says.
    pub(crate) fn totals(&self) -> Vec<(String, u64, u64)> {
        let report = self.read("report", &["-g", "none", "--no-children"]);
        let number = |line: &str| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap();
        let mut totals = Vec::new();
        for line in report.lines() {
            if let Some(rest) = line.strip_prefix("# Samples: ") {
                let (samples, event) = rest.split_once(" of event ").unwrap();
                let event = event.trim_matches('\'').to_owned();
                totals.push((event, samples.parse().unwrap(), 0));
            } else if line.starts_with("# Event count") {
                totals.last_mut().unwrap().2 = number(line);
            }
        }
        totals
    }
}

/// A number as an index.
#[track_caller]
pub(crate) fn index(value: &serde_json::Value) -> usize {
    value.as_u64().unwrap().try_into().unwrap()
}

/// What is in a compressed file.
pub(crate) fn unpacked(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut gzip = GzDecoder::new(File::open(path).unwrap());
    gzip.read_to_end(&mut bytes).unwrap();
    bytes
}

/// Two threads, one of which calls itself what no name should be, that compute, touch new memory
/// and switch.
const BUSY: &str = r#"
    #include <pthread.h>
    #include <sched.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/mman.h>
    #include <sys/prctl.h>
    static volatile unsigned long sink;
    __attribute__((noinline)) static void compute(unsigned long ms) { WORK(ms, sink += i) }
    __attribute__((noinline)) static void touch(void) {
        char *at = mmap(0, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memset(at, 1, 1 << 16);
        munmap(at, 1 << 16);
    }
    static void *work(void *name) {
        prctl(PR_SET_NAME, name);
        for (int i = 0; i < 60; i++) { compute(5); touch(); sched_yield(); }
        return 0;
    }
    int main(void) {
        pthread_t other;
        pthread_create(&other, 0, work, "a;\"<\\\n\x01\xff 7");
        work("plain name");
        pthread_join(other, 0);
        return 0;
    }"#;

/// A recording of several events: CPU time, faults, and where that is allowed a tracepoint.
pub(crate) fn several_events(dir: &Path) -> Option<Recording> {
    needs!(cc);
    needs!(live);
    let tracefs = tracefs()?;
    let program = compile_c(dir, "busy", BUSY);
    let file = dir.join("busy.data");
    let events = "cpu-clock,page-faults,sched:sched_process_exit";
    let mut record = rprof(["record", "-F", "1999", "-e", events, "-o"]);
    record.arg(&file).arg("--").arg(&program);
    let ran = run(&mut tracefs.within(&record)).ok();
    Some(Recording::new(file, ran))
}
