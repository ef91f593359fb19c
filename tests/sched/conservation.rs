//! Each nanosecond of a thread counts once, and what is counted is what the kernel has counted.

use super::record_events;
use super::waiting::of_sched;
use crate::common::{compile, needs, rprof, run, scratch, tracefs};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a thread has read of itself, between two moments.
#[derive(Clone, Copy, Debug)]
struct Told {
    before_ns: u64,
    after_ns: u64,
    run_ns: u64,
    voluntary: u64,
    forced: u64,
}

/// By thread.
fn told(stdout: &str) -> BTreeMap<i64, Told> {
    let lines = stdout.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let tid = words.next()?.parse().ok()?;
        let mut number = || words.next()?.parse::<u64>().ok();
        let told = Told {
            before_ns: number()?,
            after_ns: number()?,
            run_ns: number()?,
            voluntary: number()?,
            forced: number()?,
        };
        Some((tid, told))
    });
    lines.collect()
}

fn program(dir: &Path) -> PathBuf {
    let program = dir.join("conservation");
    let source = include_str!("conservation.c");
    compile(&program, source, &["-O1", "-pthread"]);
    program
}

/// Nanoseconds that a hypervisor has taken from all CPUs since the start: they are in no thread's `schedstat`, and in
/// its recorded time. They are of all threads, so a test allows half of a thread's time at most. 0 where there is none, or it does not say.
fn stolen_ns() -> u64 {
    let stat = std::fs::read_to_string("/proc/stat").unwrap();
    // cpu user nice system idle iowait irq softirq steal
    let ticks = stat.lines().next().unwrap().split_whitespace().nth(8);
    // A hundredth of a second each.
    ticks.map_or(0, |ticks| ticks.parse::<u64>().unwrap()) * 10_000_000
}

/// Nanoseconds of `12.345678901:`.
fn moment(word: &str) -> Option<u64> {
    let (seconds, nanos) = word.trim_end_matches(':').split_once('.')?;
    Some(seconds.parse::<u64>().ok()? * 1_000_000_000 + nanos.parse::<u64>().ok()?)
}

/// When a thread left a CPU, and whether it could have gone on.
type Switches = BTreeMap<i64, Vec<(u64, bool)>>;

/// All lines of `script`, with their moments.
fn script(file: &Path, options: &[&str]) -> Vec<(u64, String)> {
    let mut script = rprof(["script", "-G", "--ns"]);
    let lines = run(script.args(options).arg("-i").arg(file)).ok().stdout;
    let with_moment =
        |line: &str| Some((line.split_whitespace().find_map(moment)?, line.to_owned()));
    lines.lines().filter_map(with_moment).collect()
}

/// A number behind a name.
fn after(line: &str, name: &str) -> Option<i64> {
    let (_, rest) = line.split_once(name)?;
    rest.split(|c: char| !c.is_ascii_digit())
        .next()?
        .parse()
        .ok()
}

fn switches(lines: &[(u64, String)]) -> Switches {
    let mut all = Switches::new();
    for (time_ns, line) in lines {
        if let Some(tid) = after(line, " prev_pid=") {
            let is_forced = line.contains(" prev_state=R");
            all.entry(tid).or_default().push((*time_ns, is_forced));
        }
    }
    all
}

/// Checks that as many switches are recorded of a thread as the kernel has counted, up to some moment between two.
#[track_caller]
fn check_switches(of_thread: &[(u64, bool)], told: &Told) {
    let count = |until_ns: u64, forced: bool| {
        let own = of_thread
            .iter()
            .filter(|&&(at, is_forced)| at <= until_ns && is_forced == forced);
        own.count() as u64
    };
    for (forced, counted) in [(false, told.voluntary), (true, told.forced)] {
        let (least, most) = (count(told.before_ns, forced), count(told.after_ns, forced));
        assert!(
            (least..=most).contains(&counted),
            "{forced} {least} {most} {told:?}"
        );
    }
}

#[test]
fn the_time_of_a_commands_threads_is_what_the_kernel_has_counted() {
    needs!(cc);
    let Some(tracefs) = tracefs() else {
        return;
    };
    needs!(alone);
    let dir = scratch();
    let (program, file) = (program(dir.path()), dir.path().join("perf.data"));
    let mut record = rprof(["record", "--off-cpu", "-m", "2048", "-o"]);
    let record = record.arg(&file).arg("--").arg(&program);
    let stolen_before = stolen_ns();
    let told = told(&run(&mut tracefs.within(record)).ok().stdout);
    let stolen = stolen_ns().saturating_sub(stolen_before);
    assert_eq!(told.len(), 3);
    let lines = script(&file, &["--show-task-events"]);
    let all_switches = switches(&lines);
    let of_task = |tid: i64, kind: &str| {
        let ids = format!(":{tid}):(");
        let mut of_kind = lines.iter().filter(|(_, line)| line.contains(kind));
        of_kind
            .find(|(_, line)| line.contains(&ids))
            .map(|&(time_ns, _)| time_ns)
    };
    let mut wall = rprof(["script", "--wall", "-G", "--json", "-i"]);
    let samples = run(wall.arg(&file)).ok().stdout;
    let mut times: BTreeMap<(i64, bool), u64> = BTreeMap::new();
    for line in samples.lines() {
        let sample: Value = serde_json::from_str(line).unwrap();
        if let (Some(tid), Some(ns)) = (sample["tid"].as_i64(), sample["period"].as_u64()) {
            *times
                .entry((tid, sample["state"] == "running"))
                .or_default() += ns;
        }
    }
    for (tid, told) in told {
        check_switches(&all_switches[&tid], &told);
        // From when it was made to when it ended.
        let lived = of_task(tid, "RECORD_EXIT(").unwrap() - of_task(tid, "RECORD_FORK(").unwrap();
        let [waited, ran] = [false, true].map(|is_running| times[&(tid, is_running)]);
        let all = waited + ran;
        assert!(all.abs_diff(lived) <= lived / 1000, "{all} of {lived}");
        // What the kernel does to record a switch is not the thread's; a little comes after it has asked.
        let n_switches = told.voluntary + told.forced;
        let (least, most) = (
            told.run_ns - told.run_ns / 200,
            told.run_ns + told.run_ns / 200,
        );
        let stolen = stolen.min(told.run_ns / 2);
        let is_right = ran + 20_000 * n_switches >= least && ran <= most + stolen + 2_000_000;
        assert!(is_right, "{ran} {stolen} {told:?}");
    }
}

#[test]
fn the_time_of_all_threads_is_what_the_kernel_has_counted() {
    needs!(cc);
    let Some(tracefs) = tracefs() else {
        return;
    };
    needs!(alone);
    let dir = scratch();
    let program = program(dir.path());
    let out = dir.path().join("told");
    let words = format!("{} > {}", program.display(), out.display());
    let events = "sched:sched_switch,sched:sched_waking,sched:sched_wakeup_new";
    let stolen_before = stolen_ns();
    let file = record_events(tracefs, dir.path(), (events, "none"), &words);
    let stolen = stolen_ns().saturating_sub(stolen_before);
    let told = told(&std::fs::read_to_string(&out).unwrap());
    assert_eq!(told.len(), 3);
    let lines = script(&file, &["-F", "comm,tid,time,event,trace"]);
    let all_switches = switches(&lines);
    let table = of_sched(&file);
    for (tid, told) in told {
        let own = &all_switches[&tid];
        check_switches(own, &told);
        let new = format!(" pid={tid} ");
        let mut births = lines
            .iter()
            .filter(|(_, line)| line.contains("sched_wakeup_new:"));
        let birth = births.find(|(_, line)| line.contains(&new)).unwrap().0;
        let lived = own.last().unwrap().0 - birth;
        // All columns of its row; digits are cut.
        let row = &table[&tid];
        let ns = |ms: f64| (ms * 1e6).round();
        let lived_ns = f64::from(u32::try_from(lived / 1000).unwrap()) * 1e3;
        let all = ns(row.iter().sum());
        assert!(
            (all - lived_ns).abs() <= lived_ns / 1000.0 + 7000.0,
            "{row:?} {lived}"
        );
        // Where switches are missing, it may have run.
        let [ran, unknown] = [row[0], row[5]].map(ns);
        let micros = |ns: u64| f64::from(u32::try_from(ns / 1000).unwrap()) * 1e3;
        let counted = micros(told.run_ns);
        let stolen = stolen.min(told.run_ns / 2);
        let most = counted * 1.005 + micros(stolen) + 2e6;
        assert!(ran <= most, "{row:?} {stolen} {told:?}");
        assert!(ran + unknown >= counted * 0.995, "{row:?} {told:?}");
    }
}
