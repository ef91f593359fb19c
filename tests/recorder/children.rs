//! What a watched process has started before: recorded only if that is asked for, and said not to be.

use crate::common::{
    Running, compile_c, needs, record_while, report, rprof, run, samples, scratch, tool, work::burn,
};
use crate::recorder::{both, until};
use std::collections::BTreeMap;
use std::path::PathBuf;
use tempfile::TempDir;

/// A server with two workers, one of them started by a thread, and one below a worker. It says their
/// ids; all of them work when it is told to.
const SERVER: &str = r#"
    #include <pthread.h>
    #include <stdio.h>
    #include <unistd.h>
    static int go[3][2], done[2], ids[2];
    static volatile unsigned long sink;
    static void work(void) { WORK(60, sink += i); }
    static void start(int n) {
        if (fork() != 0)
            return;
        if (n == 1)
            start(2);
        int pid = getpid();
        write(ids[1], &pid, sizeof pid);
        for (char c; read(go[n][0], &c, 1) == 1; write(done[1], &c, 1))
            work();
        _exit(0);
    }
    static void *thread(void *unused) {
        start(1);
        return pause(), unused;
    }
    int main(void) {
        char c[64];
        for (int n = 0; n < 3; n++)
            pipe(go[n]);
        pipe(done);
        pipe(ids);
        start(0);
        pthread_t id;
        pthread_create(&id, 0, thread, 0);
        for (int pid, n = 0; n < 3; n++) {
            read(ids[0], &pid, sizeof pid);
            printf("%d ", pid);
        }
        puts("");
        fflush(stdout);
        while (read(0, c, 1) == 1) {
            for (int n = 0; n < 3; n++)
                write(go[n][1], c, 1);
            work();
            for (int n = 0; n < 3; n++)
                read(done[0], c, 1);
            puts("done");
            fflush(stdout);
        }
        return 0;
    }"#;

#[test]
fn where_nothing_is_recorded_children_are_not_worth_a_word() {
    needs!(live);
    let server = Server::start();
    // No breakpoint is for reading and executing.
    let mut record = rprof(["record", "-e", "mem:0x1000:rx", "-o"]);
    record.arg(server.file());
    let ran = run(record.args(["-p", &server.server.pid().to_string()]));
    let error = ran.fails(1);
    assert!(!error.contains("child process"), "{error}");
}

const NOT_RECORDED: &str =
    "3 child processes are already running and not recorded (--children records them, too)";

struct Server {
    dir: TempDir,
    server: Running,
    workers: Vec<String>,
}

impl Server {
    fn start() -> Self {
        let dir = scratch();
        let mut server = Running::start(&mut tool(compile_c(dir.path(), "server", SERVER)));
        let workers = server.line();
        let workers: Vec<String> = workers.split(' ').map(str::to_owned).collect();
        assert_eq!(workers.len(), 3, "{workers:?}");
        Self {
            dir,
            server,
            workers,
        }
    }

    /// Records it at work; returns what was said.
    fn record(&mut self, limits: &str, args: &[&str]) -> String {
        let mut record = rprof(["record", "-e", "cpu-clock", "-F", "999", "-o"]);
        record.arg(self.file()).args(args);
        record.args(["-p", &self.server.pid().to_string()]);
        let script = format!("{limits} exec \"$@\"");
        let mut shell = tool("sh");
        shell.args(["-c", &script, "sh"]).arg(record.get_program());
        let server = &mut self.server;
        let ran = record_while(shell.args(record.get_args()), || server.work());
        ran.ok().stderr
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join("perf.data")
    }

    /// Whose samples there are.
    fn recorded(&self) -> Vec<String> {
        let args = ["--no-children", "-g", "none", "--sort", "pid"];
        let table = report(&self.file(), &args);
        let rows = table
            .lines()
            .filter(|line| line.contains('%') && !line.starts_with('#'));
        let mut pids: Vec<String> = rows
            .filter_map(|row| row.split_whitespace().nth(1)?.split_once(':'))
            .map(|(pid, _)| pid.to_owned())
            .collect();
        pids.sort_unstable();
        pids
    }

    fn all(&self) -> Vec<String> {
        let mut pids = self.workers.clone();
        pids.push(self.server.pid().to_string());
        pids.sort_unstable();
        pids
    }
}

#[test]
fn what_a_process_has_started_is_recorded_with_children_and_said_not_to_be_without() {
    needs!(cc, alone);
    let mut server = Server::start();
    let said = server.record("", &[]);
    assert!(said.contains(NOT_RECORDED), "{said}");
    assert_eq!(server.recorded(), [server.server.pid().to_string()]);
    let said = server.record("", &["--children"]);
    assert!(!said.contains("child process"), "{said}");
    assert_eq!(server.recorded(), server.all());
    needs!(all_cpus);
    // 15 for each CPU would be needed, 3 where everybody is sampled.
    let limit = "ulimit -n $((9 * $(getconf _NPROCESSORS_ONLN) + 12));";
    let said = server.record(limit, &["--children"]);
    assert!(said.contains("sampling all CPUs"), "{said}");
    assert_eq!(server.recorded(), server.all());
}

#[test]
fn a_recorder_is_no_child_of_those_whom_it_watches() {
    needs!(live);
    let dir = scratch();
    let shell = |flags: &str| {
        let rprof = env!("CARGO_BIN_EXE_rprof");
        let script = format!(
            "{rprof} record -e cpu-clock -p $$ {flags} --duration 0.1; {}",
            burn(1)
        );
        let mut shell = tool("sh");
        run(shell.args(["-c", &script]).current_dir(dir.path())).ok()
    };
    let said = shell("").stderr;
    assert!(
        said.contains("recording process ") && !said.contains("child"),
        "{said}"
    );
    let said = shell("--children").stderr;
    assert!(
        said.contains("(sh) with child processes for 0.1 s"),
        "{said}"
    );
    // It did nothing but wait for the recorder.
    assert_eq!(samples(&said), 0, "{said}");
}

/// Starts processes, one after the other, up to a line; then it says how many, and each of them works
/// for 10 ms.
const BREEDER: &str = r#"
    #include <poll.h>
    #include <stdio.h>
    #include <sys/wait.h>
    #include <unistd.h>
    static volatile unsigned long sink;
    int main(void) {
        int n = 0, go[2];
        pipe(go);
        puts("ready");
        fflush(stdout);
        while (poll(&(struct pollfd){ .events = POLLIN }, 1, 2) == 0) {
            if (n == 60)
                continue;
            if (fork() == 0) {
                char c;
                close(go[1]);
                read(go[0], &c, 1);
                WORK(10, sink += i);
                _exit(0);
            }
            n++;
        }
        printf("%d\n", n);
        close(go[1]);
        while (wait(0) > 0)
            ;
        return 0;
    }"#;

#[test]
fn what_is_started_while_events_are_opened_counts_once() {
    needs!(cc, alone);
    let dir = scratch();
    let program = compile_c(dir.path(), "breeder", BREEDER);
    let out = dir.path().join("perf.data");
    let mut breeder = Running::start(&mut tool(&program));
    assert_eq!(breeder.line(), "ready");
    let pid = breeder.pid().to_string();
    let mut record = rprof([
        "record",
        "-e",
        "cpu-clock",
        "-F",
        "999",
        "--children",
        "-p",
        &pid,
    ]);
    let mut recorder = Running::start(&mut both(record.arg("-o").arg(&out)));
    until(&mut recorder, "press Ctrl-C to stop");
    breeder.type_in(b"\n");
    let n_started = breeder.finish().ok().stdout;
    recorder.finish().ok();
    let script = run(rprof(["script", "-F", "pid", "-i"]).arg(&out))
        .ok()
        .stdout;
    let mut samples = BTreeMap::<&str, u32>::new();
    for of in script.lines().map(str::trim).filter(|of| *of != pid) {
        *samples.entry(of).or_default() += 1;
    }
    assert_eq!(format!("{}\n", samples.len()), n_started);
    assert!(samples.values().all(|&n| n < 15), "{samples:?}");
}

#[test]
fn children_are_those_of_processes() {
    for args in [["--children", "true"], ["--children", "-t1"]] {
        let error = run(rprof(["record"]).args(args)).fails(2);
        assert!(error.contains("--children"), "{error}");
    }
}
