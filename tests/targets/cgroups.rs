//! Control groups (`-G`, `--for-each-cgroup`).

use super::{info, sampled_processes};
use crate::common::{
    Running, am_root, has, needs, perf, record_while, rprof, run, scratch, skipped, tool,
    work::worker,
};
use std::path::{Path, PathBuf};

/// A control group of the test's own; removed at the end.
struct Group {
    path: PathBuf,
    name: String,
}

impl Group {
    /// `None` if none can be made here, which is said.
    fn make(name: &str) -> Option<Self> {
        let mounts = std::fs::read_to_string("/proc/mounts").unwrap();
        let fields = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let mounts: Vec<_> = mounts.lines().map(fields).collect();
        let old = mounts
            .iter()
            .find(|fields| fields[2] == "cgroup" && fields[3].contains("perf_event"));
        let new = || mounts.iter().find(|fields| fields[2] == "cgroup2");
        let name = format!("rprof-{}-{name}", std::process::id());
        let made = old
            .or_else(new)
            .map(|fields| Path::new(&fields[1]).join(&name));
        match made {
            Some(path) if am_root() && std::fs::create_dir(&path).is_ok() => {
                Some(Self { path, name })
            }
            _ => {
                skipped("a control group of its own");
                None
            }
        }
    }

    /// A program that works in it when it is told to.
    #[track_caller]
    fn worker(&self) -> Running {
        let shell = Running::start(tool("sh").args(["-c", &worker(10)]));
        std::fs::write(self.path.join("cgroup.procs"), shell.pid().to_string()).unwrap();
        shell
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // What ran in it may not be gone yet.
        for _ in 0..10_000 {
            if std::fs::remove_dir(&self.path).is_ok() {
                return;
            }
            std::thread::yield_now();
        }
    }
}

#[test]
fn only_what_runs_in_a_control_group_is_sampled() {
    needs!(alone, all_cpus);
    let Some(group) = Group::make("one") else {
        return;
    };
    let dir = scratch();
    let (mut inside, mut outside) = (
        group.worker(),
        Running::start(tool("sh").args(["-c", &worker(10)])),
    );
    let pids = [inside.pid()];
    let mut recorders = vec![rprof(["record", "-q"])];
    if has("perf", "linux-perf") {
        recorders.push(perf(["record", "-q", "-a"]));
    }
    for mut recorder in recorders {
        // To a pipe perf would write there.
        let args = ["-e", "cpu-clock", "-F", "999", "-o", "perf.data"];
        recorder.args(args).args(["-G", &group.name]);
        record_while(recorder.current_dir(dir.path()), || {
            outside.work();
            inside.work();
        })
        .ok();
        let sampled = sampled_processes(&dir.path().join("perf.data"));
        assert_eq!(sampled, pids.into_iter().collect(), "{recorder:?}");
    }
}

#[test]
fn each_event_is_counted_in_its_group() {
    needs!(alone, all_cpus);
    let (Some(one), Some(two)) = (Group::make("a"), Group::make("b")) else {
        return;
    };
    let dir = scratch();
    let (mut first, mut second) = (one.worker(), two.worker());
    let mut record = |words: &[&str]| {
        let mut record = rprof(["record", "-q", "-F", "999", "-e", "cpu-clock"]);
        record_while(record.args(words).current_dir(dir.path()), || {
            first.work();
            second.work();
        })
        .ok();
        let events = info(&dir.path().join("perf.data"))["events"].clone();
        let script = run(rprof(["script", "-F", "pid,event"]).current_dir(dir.path()))
            .ok()
            .stdout;
        let events = events.as_array().unwrap().iter();
        let names: Vec<String> = events
            .map(|event| event["name"].as_str().unwrap().to_owned())
            .collect();
        let mut lines: Vec<String> = script
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        lines.sort_unstable();
        lines.dedup();
        (names, lines, [first.pid(), second.pid()])
    };
    let (a, b) = (&one.name, &two.name);
    let (names, lines, pids) = record(&["--for-each-cgroup", &format!("{a},{b}")]);
    assert_eq!(
        names[..2],
        [format!("cpu-clock@{a}"), format!("cpu-clock@{b}")]
    );
    let mut expected = vec![
        format!("{} cpu-clock@{a}:", pids[0]),
        format!("{} cpu-clock@{b}:", pids[1]),
    ];
    expected.sort_unstable();
    assert_eq!(lines, expected);
    // In the order of events; an empty place is everybody.
    let (names, lines, pids) = record(&["-e", "task-clock", "-G", &format!("{a},{b}")]);
    assert_eq!(names[..2], ["cpu-clock", "task-clock"]);
    let is_first = |line: &String| line.starts_with(&pids[0].to_string());
    assert!(
        lines
            .iter()
            .all(|line| is_first(line) == line.ends_with(" cpu-clock:")),
        "{lines:?}"
    );
}

#[test]
fn a_group_that_is_not_there_is_said_with_those_that_are_near() {
    needs!(alone, all_cpus);
    let Some(group) = Group::make("near") else {
        return;
    };
    let dir = scratch();
    let record = |words: &[&str]| run(rprof(["record"]).args(words).current_dir(dir.path()));
    let error = record(&["-G", &format!("{}x", group.name), "true"]).fails(1);
    assert!(
        error.contains(&format!("did you mean '{}'", group.name)),
        "{error}"
    );
    let both = format!("{0},{0}", group.name);
    let error = record(&["-e", "cpu-clock", "-G", &both, "true"]).fails(1);
    assert!(
        error.contains("2 control groups (-G) for 1 events"),
        "{error}"
    );
}
