//! Terms of single events: how callers are recorded, and of whom, against perf.

use super::{common, perf_record, perf_says, record};
use common::{NO_FRAME_POINTERS, Program, needs, rprof, run};

/// Deep enough to tell ways to find callers apart, with a child.
const SOURCE: &str = r#"
    #include <stdlib.h>
    #include <sys/mman.h>
    #include <sys/wait.h>
    #include <unistd.h>
    __attribute__((noinline)) void innermost(void) {
        for (int i = 0; i < 20; i++) {
            char *page = mmap(0, 4096, PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            *page = 1;
            munmap(page, 4096);
        }
    }
    __attribute__((noinline)) void inner(void) { innermost(); __asm__ volatile(""); }
    __attribute__((noinline)) void outer(void) { inner(); __asm__ volatile(""); }
    int main(void) {
        outer();
        if (fork() == 0) { outer(); _exit(0); }
        wait(0);
        return 0;
    }"#;

/// Frames of each sample of an event that was taken in `innermost`, as `rprof script` has them: on lines of
/// their own, or without callers on the first.
fn frames(file: &std::path::Path, event: &str) -> Vec<usize> {
    let mut script = rprof(["script", "-F", "event,ip,sym", "-i"]);
    let text = run(script.arg(file)).ok().stdout;
    // Samples without callers have no empty line between them.
    let starts = |line: &&str| line.contains(':') && !line.starts_with('\t');
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let at: Vec<usize> = (0..lines.len()).filter(|&at| starts(&lines[at])).collect();
    let ends = at.iter().skip(1).copied().chain([lines.len()]);
    let samples = at.iter().zip(ends).map(|(&start, end)| &lines[start..end]);
    let own = samples.filter(|sample| sample[0].trim_start().starts_with(event));
    let own = own.filter(|sample| sample.iter().take(2).any(|line| line.contains("innermost")));
    own.map(|sample| (sample.len() - 1).max(1)).collect()
}

#[test]
fn each_event_records_callers_in_its_own_way() {
    let Some(program) = Program::new(SOURCE, NO_FRAME_POINTERS) else {
        return;
    };
    needs!(live);
    let (out, path) = (program.file("perf.data"), program.path());
    // Two events, since the kernel (6.18) takes samples of the same software event for those of one.
    for (global, terms, usual, most) in [
        ("auto", "call-graph=dwarf,stack-size=8192", true, None),
        ("auto", "stack-size=8", true, Some(3)),
        ("auto", "call-graph=fp,max-stack=2", true, Some(2)),
        ("auto", "call-graph=no", true, Some(1)),
        ("none", "call-graph=auto", false, None),
        ("fp", "call-graph=dwarf,stack-size=4096", false, None),
    ] {
        let list =
            format!("page-faults/period=1,name=usual/u,minor-faults/period=1,name=own,{terms}/u");
        let said = record(&out, &["--call-graph", global, "-e", &list], &[&path]);
        let (of_usual, of_own) = (frames(&out, "usual"), frames(&out, "own"));
        assert!(
            (of_own.len(), of_usual.len()) == (40, 40),
            "{terms}: {said}"
        );
        // innermost, inner, outer, main
        assert_eq!(
            of_usual.iter().all(|&n| n >= 4),
            usual,
            "{terms}: {of_usual:?}"
        );
        match most {
            Some(most) => assert!(of_own.iter().all(|&n| n <= most), "{terms}: {of_own:?}"),
            None => assert!(of_own.iter().all(|&n| n >= 4), "{terms}: {of_own:?}"),
        }
    }
    let list = "page-faults/period=1,name=usual/u,minor-faults/period=1,name=own,no-inherit/u";
    record(&out, &["-e", list], &[&path]);
    assert_eq!(
        (frames(&out, "usual").len(), frames(&out, "own").len()),
        (40, 20)
    );
}

#[test]
fn terms_make_the_attrs_that_perf_makes() {
    needs!(alone, "perf" in "perf");
    let dir = common::scratch();
    let (ours, theirs) = (dir.path().join("ours"), dir.path().join("theirs"));
    let list = "cpu-clock/call-graph=no,name=a/,cpu-clock/call-graph=fp,max-stack=3,name=b/,\
        page-faults/max-stack=5,period=7,name=c/u,cs/no-inherit,freq=50,name=d/,\
        cs/inherit=0,name=e/,cs/inherit,call-graph=fp,name=f/";
    let args = ["-F", "999", "--call-graph", "fp", "-e", list];
    record(&ours, &args, &["true"]);
    perf_record(&theirs, &args, &["true"]);
    let facts = |file| -> Vec<String> {
        let text = perf_says(&["evlist", "-v"], file);
        let line = |line: &str| {
            let has = |part: &str| line.contains(part);
            let after = |name: &str| {
                let rest = line.split(name).nth(1).unwrap_or("0");
                rest.split(',').next().unwrap_or_default().to_owned()
            };
            format!(
                "{} callers {} inherit {} freq {} period {} most {}",
                line.split(':').next().unwrap_or_default(),
                has("CALLCHAIN"),
                has(" inherit: 1"),
                has(" freq: 1"),
                after("sample_freq }: "),
                after("sample_max_stack: "),
            )
        };
        text.lines().map(line).collect()
    };
    let mut own = facts(&ours);
    own.pop();
    assert_eq!(own, facts(&theirs));
}

#[test]
fn more_callers_than_the_kernel_finds_are_an_error() {
    needs!(live);
    let error = run(&mut rprof(["record", "-e", "cs/max-stack=65535/", "true"])).fails(1);
    let start = "rprof: error: max-stack=65535 of 'cs/max-stack=65535/' is above kernel.perf_event_max_stack (";
    assert!(error.starts_with(start), "{error}");
}
