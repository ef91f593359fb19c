//! `rprof record`, for real: what it records, how it ends, what it says when it cannot.

use crate::common;
use crate::common::work::{burn, worker};
use crate::common::{
    FRAME_POINTERS, Program, Recording, Running, compile_c, has, needs, number_after,
    number_before, record_while, report, rprof, run, samples, scratch, tool, tracefs,
};

/// A shell's work: some 300 samples at 999 Hz.
const HUNDREDTHS: u32 = 30;

#[test]
fn a_command_is_recorded_and_its_samples_are_in_the_file() {
    needs!(alone);
    let dir = scratch();
    let out = dir.path().join("perf.data");
    let ran = run(rprof(["record", "-F", "999", "-o"]).arg(&out).args([
        "--",
        "sh",
        "-c",
        &burn(HUNDREDTHS),
    ]))
    .ok();
    let n = samples(&ran.stderr);
    assert!(n > 50, "{}", ran.stderr);
    let table = report(&out, &["--no-children", "-g", "none"]);
    assert_eq!(number_after(&table, "# Samples: "), Some(n));
    // None, unless the machine has other things to do; in any case as many as are said.
    Recording::new(out, ran).lost();
    assert!(table.lines().any(|line| line.contains("%  sh ")), "{table}");
}

#[test]
fn an_older_recording_is_kept_beside_the_new_one() {
    needs!(live);
    let dir = scratch();
    let out = dir.path().join("perf.data");
    common::write(&out, b"older");
    run(rprof(["record", "-q", "-o"]).arg(&out).arg("true")).ok();
    assert_eq!(
        std::fs::read(dir.path().join("perf.data.old")).unwrap(),
        b"older"
    );
    assert_ne!(std::fs::read(&out).unwrap(), b"older");
}

#[test]
fn children_and_threads_are_followed() {
    needs!(live, cc);
    let dir = scratch();
    let source = r#"
        #include <pthread.h>
        static volatile unsigned long sink;
        static void *busy(void *name) {
            pthread_setname_np(pthread_self(), name);
            WORK(300, sink += i);
            return 0;
        }
        int main(void) {
            pthread_t one;
            pthread_create(&one, 0, busy, "own-thread");
            pthread_join(one, 0);
            return 0;
        }"#;
    let program = compile_c(dir.path(), "threads", source);
    let out = dir.path().join("perf.data");
    run(rprof(["record", "-e", "cpu-clock", "-F", "999", "-o"])
        .arg(&out)
        .args(["sh", "-c", "\"$0\"; true"])
        .arg(program))
    .ok();
    let table = report(&out, &["--no-children", "-g", "none", "--sort", "comm"]);
    assert!(table.contains("own-thread"), "{table}");
}

#[test]
fn a_running_process_is_attached_to_and_outlives_the_recording() {
    needs!(live);
    let dir = scratch();
    let out = dir.path().join("perf.data");
    let mut working = working();
    let pid = working.pid().to_string();
    let mut recorder = rprof(["record", "-e", "cpu-clock", "-F", "999", "-p", &pid, "-o"]);
    let ran = record_while(recorder.arg(&out), || working.work()).ok();
    assert!(working.is_running());
    let n = samples(&ran.stderr);
    assert!(n > 50, "{}", ran.stderr);
    let table = report(&out, &["--no-children", "-g", "none", "--sort", "comm,pid"]);
    assert!(table.contains(&pid), "{table}");
    // A time ends it as well, whatever the process did meanwhile.
    let mut recorder = rprof(["record", "-p", &pid, "--duration", "0.1", "-o"]);
    let ran = run(recorder.arg(&out)).ok();
    samples(&ran.stderr);
    assert!(working.is_running());
}

/// A shell that works when it is told to.
fn working() -> Running {
    Running::start(tool("sh").args(["-c", &worker(HUNDREDTHS)]))
}

#[test]
fn all_cpus_show_processes_that_were_there_before() {
    needs!(alone, all_cpus);
    let dir = scratch();
    let out = dir.path().join("perf.data");
    let mut working = working();
    let pid = working.pid().to_string();
    let mut recorder = rprof(["record", "-e", "cpu-clock", "-F", "999", "-a", "-o"]);
    record_while(recorder.arg(&out), || working.work()).ok();
    let table = report(&out, &["--no-children", "-g", "none", "--pid", &pid]);
    let own = table
        .lines()
        .find(|line| line.contains("%  sh "))
        .expect(&table);
    assert!(!own.contains("[unknown]"), "{own}");
}

/// A program with 20,000 page faults, and what it does before and after them.
fn faults(before: &str, after: &str) -> String {
    format!(
        "#include <signal.h>
        #include <sys/mman.h>
        #include <unistd.h>
        int main(void) {{
            unsigned long size = 20000UL * 4096;
            volatile char *p = mmap(0, size, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            madvise((void *)p, size, MADV_NOHUGEPAGE);
            {before};
            for (unsigned long i = 0; i < size; i += 4096) p[i] = 1;
            {after};
            return 0;
        }}"
    )
}

#[test]
fn what_is_lost_is_counted_as_the_kernel_counts_it() {
    needs!(alone, cc);
    let dir = scratch();
    // A sample for each fault, while the recorder is stopped: the ring must overflow.
    let source = faults("kill(getppid(), SIGSTOP)", "kill(getppid(), SIGCONT)");
    let program = compile_c(dir.path(), "faults", &source);
    let out = dir.path().join("perf.data");
    let args = ["record", "-e", "page-faults", "-c", "1", "-m", "1", "-o"];
    let ran = run(rprof(args).arg(&out).arg(program)).ok();
    let (samples, lost) = (
        samples(&ran.stderr),
        number_before(&ran.stderr, " lost").unwrap(),
    );
    assert!(lost > 0 && samples + lost >= 20_000, "{}", ran.stderr);
    let table = report(&out, &["-g", "none"]);
    assert_eq!(number_after(&table, "# Total Lost Samples: "), Some(lost));
    if has("perf", "linux-perf") {
        let perf = run(common::perf(["report", "--stdio", "-i"]).arg(&out)).ok();
        assert_eq!(
            number_after(&perf.stdout, "# Total Lost Samples: "),
            Some(lost)
        );
    }
}

#[test]
fn of_what_is_lost_on_all_cpus_some_may_be_of_those_left_out() {
    // The recorder's own faults are left out, those that come while it is stopped are lost.
    let source = faults("kill(getppid(), SIGSTOP)", "kill(getppid(), SIGCONT)");
    let Some(program) = Program::new(&source, FRAME_POINTERS) else {
        return;
    };
    needs!(all_cpus);
    let args = ["-a", "-e", "page-faults", "-c", "1", "-m", "1"];
    let recording = program.record(&args, &[]);
    assert!(recording.lost() > 0, "{}", recording.stderr);
}

#[test]
fn a_sample_is_taken_after_so_many_of_the_kernels_own_events() {
    needs!(live, cc);
    let dir = scratch();
    let source = faults("", "");
    let program = compile_c(dir.path(), "faults", &source);
    let out = dir.path().join("perf.data");
    let args = ["record", "-e", "page-faults", "-c", "100", "-o"];
    let ran = run(rprof(args).arg(&out).arg(program)).ok();
    let n = samples(&ran.stderr);
    // 200 and some of the start, less what is left over on each CPU that it ran on.
    assert!((100..400).contains(&n), "{}", ran.stderr);
    let table = report(&out, &["--no-children", "-g", "none"]);
    let weight = number_after(&table, "# Event count (approx.): ");
    assert_eq!(weight, Some(n * 100), "{table}");
}

#[test]
fn several_events_are_recorded_side_by_side() {
    needs!(live);
    let dir = scratch();
    let out = dir.path().join("perf.data");
    let script = burn(HUNDREDTHS);
    run(rprof([
        "record",
        "-e",
        "cpu-clock",
        "-F",
        "999",
        "-e",
        "cpu-clock,page-faults",
        "-o",
    ])
    .arg(&out)
    .args(["sh", "-c", &script]))
    .ok();
    let table = report(&out, &["-g", "none"]);
    assert!(
        // With `:u` after it where the kernel must not be sampled.
        table.contains("event 'cpu-clock") && table.contains("event 'page-faults"),
        "{table}"
    );
    let first = run(rprof(["flame"]).arg(&out)).ok();
    let said = "rprof: event: cpu-clock";
    assert!(first.stderr.starts_with(said), "{}", first.stderr);
    assert!(first.stdout.contains("cpu-clock"), "{}", first.stdout);
    let names = table.split("event '").skip(1);
    let faults = names.last().unwrap().split('\'').next().unwrap();
    let other = run(rprof(["flame", "-e", faults]).arg(&out)).ok();
    assert!(!other.stderr.contains("event: "), "{}", other.stderr);
    assert!(other.stdout.contains(&format!("{faults}, ")), "{faults}");
}

#[test]
fn threads_and_cpus_can_be_chosen() {
    needs!(alone, all_cpus);
    let dir = scratch();
    let out = dir.path().join("perf.data");
    let mut working = working();
    let tid = working.pid().to_string();
    // Whatever runs on a CPU, and if it is nothing.
    let cpus = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap();
    let cpu = cpus.split(['-', ',', '\n']).next().unwrap();
    let mut record = |args: &[&str]| {
        let args = [&["record", "-e", "cpu-clock", "-F", "999"], args, &["-o"]].concat();
        record_while(rprof(args).arg(&out), || working.work()).ok();
        report(&out, &["--no-children", "-g", "none", "--sort", "tid,cpu"])
    };
    let rows = |table: &str| -> Vec<String> {
        let rows = table
            .lines()
            .filter(|line| line.contains("% ") && line.starts_with(' '));
        rows.map(str::to_owned).collect()
    };
    let of_thread = rows(&record(&["-t", &tid]));
    let of_cpu = rows(&record(&["-C", cpu]));
    assert!(
        !of_thread.is_empty() && of_thread.iter().all(|row| row.contains(&tid)),
        "{of_thread:?}"
    );
    let is_of_cpu = |row: &str| {
        let last = row.split_whitespace().next_back().unwrap();
        last.parse::<u32>().unwrap() == cpu.parse::<u32>().unwrap()
    };
    assert!(
        !of_cpu.is_empty() && of_cpu.iter().all(|row| is_of_cpu(row)),
        "{of_cpu:?}"
    );
}

#[test]
fn under_sudo_the_file_is_the_callers() {
    use std::os::unix::fs::MetadataExt;
    needs!(live, root);
    let dir = scratch();
    let out = dir.path().join("perf.data");
    let mut record = rprof(["record", "-q", "-o"]);
    record
        .arg(&out)
        .arg("true")
        .env("SUDO_UID", "65534")
        .env("SUDO_GID", "65533");
    run(&mut record).ok();
    let meta = std::fs::metadata(&out).unwrap();
    assert_eq!(
        (meta.uid(), meta.gid(), meta.mode() & 0o777),
        (65534, 65533, 0o600)
    );
}

#[test]
fn tracepoints_are_recorded_and_open_in_perf() {
    needs!(alone, perf);
    let Some(tracefs) = tracefs() else {
        return;
    };
    let dir = scratch();
    let out = dir.path().join("perf.data");
    let mut record = rprof(["record", "-e", "sched:sched_process_exec", "-o"]);
    let starts = "env true; env true; exit 0";
    record.arg(&out).args(["sh", "-c", starts]);
    let ran = run(&mut tracefs.within(&record)).ok();
    let n = samples(&ran.stderr);
    assert!(n >= 2, "{}", ran.stderr);
    let script = run(common::perf(["script", "-F", "comm,event,trace", "-i"]).arg(&out)).ok();
    let lines: Vec<&str> = script
        .stdout
        .lines()
        .filter(|line| line.contains("sched_process_exec:"))
        .collect();
    assert_eq!(lines.len() as u64, n, "{}", script.stdout);
    let is_true = |line: &&str| line.contains("filename=") && line.contains("/true ");
    assert!(lines.iter().any(is_true), "{}", script.stdout);
}
