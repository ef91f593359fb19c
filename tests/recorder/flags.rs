//! Flags that are known, taken from perf, or mistyped.

use crate::common::{needs, rprof, run, samples, scratch, work::burn};
use serde_json::Value;

#[test]
fn an_unknown_flag_is_an_error_with_the_nearest_one() {
    let dir = scratch();
    for (words, said) in [
        (["--al-cpus", "true"], "--all-cpus"),
        (["--call-grph=fp", "true"], "--call-graph"),
        (["-y", "true"], "'-y'"),
    ] {
        let ran = run(rprof(["record"]).args(words).current_dir(dir.path()));
        let error = ran.fails(2);
        assert!(error.contains(said), "{error}");
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn values_are_attached_to_flags_as_in_perf() {
    needs!(live);
    let dir = scratch();
    let words = ["-g", "-F99", "-e", "cpu-clock", "-oout", "sh", "-c"];
    let mut record = rprof(["record"]);
    record.args(words).arg(burn(30)).current_dir(dir.path());
    let ran = run(&mut record).ok();
    assert!(samples(&ran.stderr) > 0, "{}", ran.stderr);
    let info = run(rprof(["info", "--json", "-i", "out"]).current_dir(dir.path())).ok();
    let info: Value = serde_json::from_str(&info.stdout).unwrap();
    assert_eq!(info["events"][0]["attr"]["sample_freq"], 99);
}

#[test]
fn pages_that_are_rounded_up_are_said() {
    needs!(alone);
    let dir = scratch();
    let said = |pages: &str| {
        let mut record = rprof(["record", "-m", pages, "true"]);
        run(record.current_dir(dir.path())).ok().stderr
    };
    assert!(said("100").contains("-m 100: rounded up to 128 pages"));
    for whole in ["128", "512K"] {
        assert!(!said(whole).contains("rounded"), "{whole}");
    }
}

#[test]
fn perfs_flags_do_what_perf_does() {
    needs!(alone);
    let dir = scratch();
    let record = |words: &[&str]| {
        let mut record = rprof(["record", "-q", "-e", "cpu-clock"]);
        run(record.args(words).arg("true").current_dir(dir.path()))
    };
    let always = "-T -P --sample-cpu --timestamp-boundary -k mono --buildid-mmap --buildid-all -N";
    record(&always.split(' ').collect::<Vec<_>>()).ok();
    let sideband = || {
        let info = run(rprof(["info", "--json"]).current_dir(dir.path())).ok();
        let info: Value = serde_json::from_str(&info.stdout).unwrap();
        info["events"][1]["attr"]["flags"].to_string()
    };
    assert!(sideband().contains("bpf_event"));
    record(&["--no-bpf-event"]).ok();
    assert!(!sideband().contains("bpf_event") && sideband().contains("ksymbol"));
    let error = record(&["-F", "99999999", "--strict-freq"]).fails(1);
    assert!(error.contains("perf_event_max_sample_rate"), "{error}");
    record(&["-F", "99999999"]).ok();
    let error = record(&["-k", "cpu"]).fails(2);
    assert!(error.contains("mono"), "{error}");
}
