//! The units and the DaemonSets of continuous recording: they start what they say, and their rights are enough.

use crate::common::nobody::NOBODY;
use crate::common::{
    Ran, Running, copy_of_rprof, needs, report, rprof, run, scratch, skipped, tool,
    work::{burn, worker},
};
use std::path::{Path, PathBuf};
use std::process::Command;

const UNIT: &str = include_str!("../../crates/record/continuous/rprof-record.service");
const PUSH_UNIT: &str = include_str!("../../crates/record/continuous/rprof-push.service");
const DAEMONSET: &str = include_str!("../../crates/record/continuous/daemonset.yaml");
const PUSH_DAEMONSET: &str = include_str!("../../crates/record/continuous/daemonset-push.yaml");

/// What both may do.
const CAPABILITIES: &str = "-all,+perfmon,+sys_ptrace,+syslog";

/// The value of a line of the recorder's unit.
fn value(key: &str) -> &'static str {
    value_of(UNIT, key)
}

fn value_of(unit: &'static str, key: &str) -> &'static str {
    let values = unit.lines().filter_map(|line| line.strip_prefix(key));
    let values: Vec<_> = values.filter_map(|rest| rest.strip_prefix('=')).collect();
    let [value] = values[..] else {
        panic!("{key}: {values:?}");
    };
    value
}

/// The words of a DaemonSet's command.
fn command_of(daemonset: &'static str) -> Vec<&'static str> {
    let lines = daemonset.lines().map(str::trim);
    let lines = lines.skip_while(|line| *line != "command:").skip(1);
    let words = lines.map_while(|line| line.strip_prefix("- "));
    words.map(|word| word.trim_matches('"')).collect()
}

#[test]
fn both_record_alike_and_by_the_same_rights() {
    let unit: Vec<&str> = value("ExecStart").split(' ').collect();
    let own_folder = |word: &str| word.replace("${STATE_DIRECTORY}", "/var/lib/rprof");
    let unit: Vec<String> = unit.into_iter().map(own_folder).collect();
    assert_eq!(unit, command_of(DAEMONSET));
    let all = "CAP_PERFMON CAP_SYS_PTRACE CAP_SYSLOG";
    assert_eq!(value("AmbientCapabilities"), all);
    assert_eq!(value("CapabilityBoundingSet"), all);
    let listed: Vec<String> = all
        .split(' ')
        .map(|one| format!("{:?}", &one[4..]))
        .collect();
    let added = format!("add: [{}]", listed.join(", "));
    assert!(DAEMONSET.contains(&added), "{added}");
    for word in [
        "privileged: false",
        "readOnlyRootFilesystem: true",
        "drop: [\"ALL\"]",
    ] {
        assert!(DAEMONSET.contains(word), "{word}");
    }
}

#[test]
fn the_unit_sees_the_names_of_the_kernels_functions() {
    for unit in [UNIT, PUSH_UNIT] {
        // systemd hides /proc/kallsyms from units with the first, and takes CAP_SYSLOG by the others: then all addresses
        // there are 0.
        for key in ["ProtectKernelTunables", "ProtectKernelLogs", "PrivateUsers"] {
            let is_hidden = |line: &str| line.starts_with(key);
            assert!(!unit.lines().any(is_hidden), "{key}");
        }
    }
    for key in ["AmbientCapabilities", "CapabilityBoundingSet"] {
        assert_eq!(value_of(PUSH_UNIT, key), "CAP_SYSLOG");
    }
}

/// Arguments that are wrong end with 2; here, only the directory or the token is missing.
#[test]
fn what_pushes_is_a_command_that_rprof_knows() {
    let dir = scratch();
    let missing = dir.path().join("missing");
    let unit = value_of(PUSH_UNIT, "ExecStart").split(' ');
    for (words, said) in [
        (unit.collect(), "missing"),
        (command_of(PUSH_DAEMONSET), "token"),
    ] {
        let word = |word: &&str| match *word {
            "${RPROF_PUSH_URL}" => "https://profiles.example".to_owned(),
            "${RPROF_PUSH_PROTOCOL}" => "pyroscope".to_owned(),
            "${STATE_DIRECTORY}" => missing.display().to_string(),
            word => word.replace("/run/secrets", dir.path().to_str().unwrap()),
        };
        assert_eq!(words[..2], ["rprof", "push"]);
        let words: Vec<String> = words[1..].iter().map(word).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let error = run(&mut rprof(words)).fails(1);
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn the_daemonsets_are_yaml() {
    let read = "import sys, yaml; one = yaml.safe_load(open(sys.argv[1])); \
                print(*one['spec']['template']['spec']['containers'][0]['command'], sep='\\n')";
    if !run(tool("python3").args(["-c", "import yaml"]))
        .status
        .success()
    {
        return skipped("python3-yaml");
    }
    let dir = scratch();
    for daemonset in [DAEMONSET, PUSH_DAEMONSET] {
        let file = dir.path().join("daemonset.yaml");
        std::fs::write(&file, daemonset).unwrap();
        let words = run(tool("python3").args(["-c", read]).arg(&file))
            .ok()
            .stdout;
        let words: Vec<&str> = words.lines().collect();
        assert_eq!(words, command_of(daemonset));
    }
}

/// Whether systemd-analyze is recent enough to check the units; if not, says so.
fn is_recent_systemd() -> bool {
    const OLDEST: u32 = 250;
    let said = run(tool("systemd-analyze").arg("--version")).ok().stdout;
    // Such as "systemd 252 (252.38-1~deb12u1)"; also 257~rc2 or 257.3.
    let version = said.split_whitespace().nth(1).unwrap_or_default();
    let digits = version.split(|c: char| !c.is_ascii_digit()).next();
    let is_recent = digits.and_then(|digits| digits.parse().ok()) >= Some(OLDEST);
    if !is_recent {
        skipped(&format!("systemd {OLDEST}"));
    }
    is_recent
}

#[test]
fn systemd_accepts_the_units() {
    needs!("systemd-analyze" in "systemd");
    if !is_recent_systemd() {
        return;
    }
    let dir = scratch();
    let binary = copy_of_rprof(dir.path());
    // There are no man pages here, and rprof is not in systemd's path.
    let start = format!("ExecStart={}", binary.display());
    for (name, unit) in [("rprof-record", UNIT), ("rprof-push", PUSH_UNIT)] {
        let lines = unit
            .lines()
            .filter(|line| !line.starts_with("Documentation"));
        let lines: Vec<String> = lines
            .map(|line| line.replace("ExecStart=rprof", &start))
            .collect();
        let file = dir.path().join(format!("{name}.service"));
        std::fs::write(&file, lines.join("\n")).unwrap();
        let ran = run(tool("systemd-analyze").arg("verify").arg(&file)).ok();
        assert!(!ran.stderr.contains(name), "{ran:?}");
    }
}

/// What the unit starts, with its rights and no others, as another user, and with a command to record.
fn recorder(dir: &Path) -> Command {
    let binary = copy_of_rprof(dir);
    run(tool("chmod").args(["-R", "777"]).arg(dir)).ok();
    let mut record = tool("setpriv");
    record.args([format!("--reuid={NOBODY}"), format!("--regid={NOBODY}")]);
    for set in ["inh-caps", "ambient-caps", "bounding-set"] {
        record.arg(format!("--{set}={CAPABILITIES}"));
    }
    record
        .args(["--clear-groups", "--no-new-privs"])
        .arg(binary);
    let own_folder = |word: &str| word.replace("${STATE_DIRECTORY}", dir.to_str().unwrap());
    record.args(value("ExecStart").split(' ').skip(1).map(own_folder));
    record
}

/// The finished file in a folder.
fn recording(dir: &Path, ran: &Ran) -> PathBuf {
    let files = dir.read_dir().unwrap().map(|file| file.unwrap().path());
    let mut files = files.filter(|file| file.to_str().unwrap().contains("perf.data."));
    files.next().unwrap_or_else(|| panic!("{ran:?}"))
}

#[test]
fn its_rights_are_enough_for_complete_stacks_of_other_users() {
    needs!(root, all_cpus, "setpriv" in "util-linux", alone);
    let dir = scratch();
    let mut record = recorder(dir.path());
    record.args(["-F", "199", "--", "sh", "-c", &worker(1)]);
    let mut recorder = Running::start(&mut record);
    // It records by now.
    recorder.work();
    let mut work = tool("sh").args(["-c", &burn(100)]).spawn().unwrap();
    let pid = work.id().to_string();
    work.wait().unwrap();
    recorder.close_input();
    let ran = recorder.finish().ok();
    let file = recording(dir.path(), &ran);
    let stats = report(&file, &["--pid", &pid, "--stats"]);
    let ends = stats.lines().filter(|line| line.contains("%  "));
    let ends: Vec<(u64, &str)> = ends
        .filter_map(|line| {
            let (n, how) = line.split_once('%')?.1.trim().split_once(' ')?;
            Some((n.parse().ok()?, how.trim()))
        })
        .collect();
    let n = |is_it: fn(&str) -> bool| -> u64 {
        let of = ends.iter().filter(|(_, how)| is_it(how));
        of.map(|(n, _)| n).sum()
    };
    let complete = n(|how| how == "complete: up to the start of the thread");
    // While a program is executed, there is no stack; of those that the rights are for there is.
    let absent = n(|how| how.starts_with("no stack dump: "));
    assert_eq!(complete + absent, n(|_| true), "{stats}");
    assert!(complete > absent, "{stats}");
    assert!(stats.contains("Thinned: kept "), "{stats}");
}
