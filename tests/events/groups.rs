//! Groups against perf's: what the files say of them, and what is counted.

use super::{common, perf_record, perf_says, record, sums};
use common::{needs, report, rprof, run, scratch};

/// Fields of an event's attr that perf shows, without those that rprof has always: names with values.
fn attr(line: &str) -> Vec<String> {
    let kept = |field: &str| {
        let name = field.split(':').next().unwrap_or_default().trim();
        let kept = [
            "type",
            "config",
            "{ sample_period, sample_freq }",
            "disabled",
            "enable_on_exec",
            "pinned",
            "exclusive",
            "exclude_user",
            "exclude_kernel",
            "exclude_hv",
            "exclude_guest",
            "freq",
            "read_format",
        ];
        kept.contains(&name)
    };
    // A comma stands inside of braces, too.
    let line = line.replace(
        "{ sample_period, sample_freq }",
        "{ sample_period; sample_freq }",
    );
    let fields = line.split(", ").map(|field| field.replace(';', ","));
    let mut fields: Vec<String> = fields.filter(|field| kept(field)).collect();
    fields.sort();
    fields
}

#[test]
fn groups_are_opened_and_written_as_by_perf() {
    needs!(alone, "perf" in "perf");
    let dir = scratch();
    let (ours, theirs) = (dir.path().join("ours"), dir.path().join("theirs"));
    for args in [
        &["-e", "{cpu-clock,page-faults}"][..],
        &[
            "-e",
            "page-faults,my{cpu-clock:u,page-faults,minor-faults}:S",
        ],
        &["-e", "{cpu-clock:u,page-faults}:uD"],
        &["-e", "{cpu-clock/period=100000/,page-faults}:W"],
        &[
            "-e",
            "{cpu-clock,page-faults},{page-faults:u,minor-faults}:S",
        ],
        &["-e", "{cpu-clock,page-faults}:Se"],
        &["--group", "-e", "cpu-clock,page-faults"],
        &["-e", "{cpu-clock}:S"],
    ] {
        record(&ours, args, &["true"]);
        perf_record(&theirs, args, &["true"]);
        let groups = |file| perf_says(&["evlist", "-g"], file);
        // The last one has no samples, and carries names and mappings.
        let own = groups(&ours).replace("dummy:u\n", "");
        assert_eq!(own, groups(&theirs), "{args:?}");
        let attrs = |file| -> Vec<Vec<String>> {
            let text = perf_says(&["evlist", "-v"], file);
            text.lines().map(attr).collect()
        };
        let (mut own, theirs) = (attrs(&ours), attrs(&theirs));
        own.pop();
        assert_eq!(own, theirs, "{args:?}");
    }
}

#[test]
fn members_are_read_when_their_leader_is_sampled() {
    needs!(live, "perf" in "perf");
    let dir = scratch();
    let out = dir.path().join("perf.data");
    // With each page fault the same event has counted one more in the group.
    let event = "{page-faults/period=1,name=one/u,page-faults/name=two/u}:S";
    let said = record(&out, &["-e", event], &["ls", "-R", "/etc"]);
    let sums = sums(&out);
    let [(one, n_one, sum_one), (two, n_two, sum_two)] = &sums[..] else {
        panic!("{sums:?}");
    };
    assert_eq!((one.as_str(), two.as_str()), ("one", "two"));
    assert_eq!((n_one, sum_one), (n_two, sum_two), "{sums:?}");
    assert_eq!(common::samples(&said), *n_one);
    let table = report(&out, &["--no-group", "--no-children", "-g", "none"]);
    let of = |name: &str| {
        let line = table.lines().find(|line| line.contains(name));
        line.and_then(|line| line.split_whitespace().nth(2)?.parse::<u64>().ok())
    };
    assert_eq!(of("of event 'one'"), of("of event 'two'"), "{table}");
}

#[test]
fn a_group_that_the_kernel_refuses_is_named() {
    needs!(live);
    let dir = scratch();
    let out = dir.path().join("perf.data");
    // Values of a group longer than a record can be.
    let many = vec!["page-faults"; 700].join(",");
    let run_with = |event: &str| {
        let mut record = rprof(["record", "-F", "99", "-o"]);
        run(record.arg(&out).args(["-e", event, "true"]))
    };
    let error = run_with(&format!("{{cpu-clock,{many}}}:S")).fails(1);
    let start = "rprof: error: event 'page-faults' cannot be in a group with 'cpu-clock': their values do \
        not fit into one sample";
    assert!(error.lines().any(|line| line.starts_with(start)), "{error}");
    let said = run_with("{cpu-clock,page-faults}:W").ok().stderr;
    assert!(!said.contains("one by one"), "{said}");
}
