//! Stacks of many processes that come and go, and of those that were there before.

use crate::common::{
    Recording, Running, alone, needs, number_before, record_while, rprof, run, tool,
};
use crate::stacks::samples::program;

/// Five hundred short processes.
const STORM: &str = r#"
    #include <sys/wait.h>
    #include <unistd.h>
    NOINLINE void once(int n) {
        pid_t pid = fork();
        if (pid == 0) { if (n & 1) execlp("true", "true", (char *)0); spin(2); _exit(0); }
        waitpid(pid, 0, 0);
        sink++;
    }
    int main(void) { for (int n = 0; n < 500; n++) once(n); return 0; }"#;

#[track_caller]
fn assert_nothing_is_silent(recording: &Recording) {
    let samples = recording.samples();
    let n_samples = number_before(&recording.stderr, " samples in");
    assert_eq!(Some(samples.len() as u64), n_samples);
    recording.lost();
    let ends = recording.ends();
    let ended = samples.iter().filter(|sample| !sample.is_whole()).count();
    assert_eq!(ended as u64, ends.others);
    let with_user = samples.iter().filter(|sample| sample.user().count() > 0);
    let whole = with_user.filter(|sample| sample.is_whole());
    assert_eq!(whole.clone().count() as u64, ends.complete);
    assert!(ends.complete > ends.others, "{ends:?}");
    for sample in whole {
        let last = sample.user().last().unwrap();
        assert_ne!(last.image, "[unknown]", "{sample:#?}");
    }
}

#[test]
fn of_five_hundred_processes_nothing_is_lost_silently() {
    let Some(program) = program(STORM) else {
        return;
    };
    let recording = program.record(&["-F", "4000"], &[]);
    assert_nothing_is_silent(&recording);
    let mut n_forked = 0;
    for sample in recording.samples() {
        if sample.names().first() == Some(&"spin") && sample.is_whole() {
            n_forked += 1;
            assert_eq!(sample.names()[..3], ["spin", "once", "main"], "{sample:#?}");
            assert!(sample.has("_start"), "{sample:#?}");
        }
    }
    assert!(n_forked > 5, "{n_forked}");
    let script = "i=0; while [ $i -lt 500 ]; do env true; i=$((i+1)); done";
    let file = program.file("shell.data");
    let mut rprof = rprof(["record", "-e", "cpu-clock", "-F", "999", "-o"]);
    let live = alone();
    let ran = run(rprof.arg(&file).args(["sh", "-c", script])).ok();
    drop(live);
    assert_nothing_is_silent(&Recording::new(file, ran));
}

#[test]
fn all_cpus_are_recorded_while_processes_come_and_go() {
    needs!(all_cpus);
    let Some(program) = program(STORM) else {
        return;
    };
    let recording = program.record(&["-a", "-F", "999"], &[]);
    assert_nothing_is_silent(&recording);
    assert!(recording.samples().iter().any(|sample| sample.has("main")));
}

/// A deep recursion in each of two threads, after a line with the id of one; at its end both work
/// whenever they are told to.
const DEEP: &str = r#"
    #include <pthread.h>
    #include <stdio.h>
    #include <unistd.h>
    static pthread_barrier_t begin, end;
    NOINLINE void serve(void) { for (;;) { pthread_barrier_wait(&begin); spin(300); pthread_barrier_wait(&end); } }
    NOINLINE void down(int left) { if (left) down(left - 1); else serve(); sink++; }
    static void *other(void *unused) { printf("%d\n", gettid()); fflush(stdout); down(499); return unused; }
    static void *listen(void *unused) {
        while (getchar() != EOF) {
            pthread_barrier_wait(&begin);
            pthread_barrier_wait(&end);
            puts("done");
            fflush(stdout);
        }
        _exit(0);
    }
    int main(void) {
        pthread_t threads[2];
        pthread_barrier_init(&begin, 0, 3);
        pthread_barrier_init(&end, 0, 3);
        pthread_create(&threads[0], 0, other, 0);
        pthread_create(&threads[1], 0, listen, 0);
        down(999);
        return 0;
    }"#;

#[test]
fn running_processes_and_threads_are_unwound_to_where_they_began() {
    let Some(program) = program(DEEP) else {
        return;
    };
    let mut running = Running::start(&mut tool(program.path()));
    let (pid, tid) = (running.pid().to_string(), running.line());
    let mut record = |which: &str, id: &str| {
        let file = program.file(&format!("{which}.data"));
        let mut rprof = rprof(["record", "-e", "cpu-clock", "-F", "999", which, id, "-o"]);
        let _live = alone();
        let ran = record_while(rprof.arg(&file), || running.work()).ok();
        Recording::new(file, ran)
    };
    let of_process = record("-p", &pid);
    let of_thread = record("-t", &tid);
    let tid: i32 = tid.parse().unwrap();
    let mut n_main = 0;
    for recording in [&of_process, &of_thread] {
        for sample in recording.samples_in("spin") {
            if sample.is_excused(recording) {
                continue;
            }
            assert!(sample.is_whole(), "{sample:#?}");
            let names = sample.names();
            let depth = names.iter().filter(|&&name| name == "down").count();
            let (outer, n_down) = if sample.tid == tid {
                ("other", 500)
            } else {
                ("main", 1000)
            };
            n_main += usize::from(sample.tid != tid);
            assert_eq!((names[n_down + 2], depth), (outer, n_down), "{names:?}");
        }
    }
    assert!(n_main > 0);
    assert!(of_thread.samples().iter().all(|sample| sample.tid == tid));
}
