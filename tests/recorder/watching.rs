//! Recordings that watch what runs: they say at once whom, and how to stop.

use crate::common::{Running, needs, records_all, rprof, run, scratch, tool};

#[test]
fn who_watches_says_whom_and_how_to_stop() {
    needs!(alone);
    let dir = scratch();
    let cats = [
        Running::start(&mut tool("cat")),
        Running::start(&mut tool("cat")),
    ];
    let pids = cats.iter().map(Running::pid).collect::<Vec<_>>();
    let record = |words: &[&str]| {
        let mut record = rprof(["record", "-e", "cpu-clock", "--duration", "0.1"]);
        run(record.args(words).current_dir(dir.path())).ok().stderr
    };
    let one = pids[0].to_string();
    let said = record(&["-p", &one]);
    let expected = format!("recording process {one} (cat) for 0.1 s; press Ctrl-C to stop");
    assert!(said.contains(&expected), "{said}");
    let said = record(&["-t", &one]);
    assert!(
        said.contains(&format!("recording thread {one} (cat)")),
        "{said}"
    );
    let both = format!("{},{}", pids[0], pids[1]);
    let said = record(&["-p", &both]);
    let expected = format!("recording processes {}, {}", pids[0], pids[1]);
    assert!(said.contains(&expected), "{said}");
    // With a command it is known when it ends.
    let mut with_command = rprof(["record", "-e", "cpu-clock", "-p", &one, "true"]);
    let ran = run(with_command.current_dir(dir.path())).ok();
    assert!(!ran.stderr.contains("press Ctrl-C"), "{}", ran.stderr);
    assert!(!record(&["-q", "-p", &one]).contains("press Ctrl-C"));
    if records_all() {
        let said = record(&["-a"]);
        assert!(
            said.contains("recording all CPUs for 0.1 s; press Ctrl-C to stop"),
            "{said}"
        );
        let said = record(&["-C", "0"]);
        assert!(said.contains("recording all processes on CPU 0 "), "{said}");
    }
}
