//! Users, capabilities, namespaces and filters, by `perf_event_paranoid`.

use crate::common::nobody::Sysctl;
use crate::common::{not_run, run, tool};
use crate::permissions::cells::{Who, start};
use std::process::Command;

const USER_ONLY: &str = "not permitted to sample the kernel: sampling user space only";

#[test]
fn users_get_what_the_sysctl_allows() {
    let Some((_live, cells)) = start() else {
        return;
    };
    for level in -1..=2 {
        let Some(_level) = Sysctl::paranoid(&level.to_string()) else {
            not_run("kernel.perf_event_paranoid may not be set");
            return;
        };
        let said = cells.doctor(Who::Nobody, &[]);
        let ran = cells.records(Who::Nobody, &[], &[], &[]);
        let is_less = ran.stderr.contains(USER_ONLY);
        assert_eq!(is_less, level > 1, "{level}: {}", ran.stderr);
        if is_less {
            assert_eq!(said["profile"], "less", "{level}: {said}");
            assert!(
                ran.stderr.contains("kernel.perf_event_paranoid=1"),
                "{}",
                ran.stderr
            );
            // The capability is named before the sysctl.
            let at = |word| ran.stderr.find(word).unwrap();
            assert!(at("CAP_PERFMON") < at("sysctl"), "{}", ran.stderr);
        }
        if level > 0 {
            let words = [
                "system-wide profiling needs kernel.perf_event_paranoid at 0",
                "CAP_PERFMON",
            ];
            cells.refuses(Who::Nobody, &[], &["-a"], &words);
        } else {
            cells.records(Who::Nobody, &[], &["-a"], &[]);
        }
        assert!(
            said["outlook"].as_str().unwrap().contains("(-a)") == (level <= 0),
            "{said}"
        );
    }
}

#[test]
fn root_gets_everything_at_any_level() {
    let Some((_live, cells)) = start() else {
        return;
    };
    for level in ["0", "2"] {
        let _level = Sysctl::paranoid(level);
        let ran = cells.records(Who::Root, &[], &["-a"], &[]);
        assert!(!ran.stderr.contains(USER_ONLY), "{}", ran.stderr);
        let said = cells.doctor(Who::Root, &[]);
        assert!(
            said["outlook"]
                .as_str()
                .unwrap()
                .contains("user space and kernel"),
            "{said}"
        );
    }
}

#[test]
fn capabilities_count_and_not_the_user_id() {
    let Some((_live, cells)) = start() else {
        return;
    };
    let none = Who::RootWith("");
    cells.records(none, &[], &[], &[USER_ONLY]);
    assert_eq!(cells.doctor(none, &[])["profile"], "less");
    cells.refuses(none, &[], &["-a"], &["CAP_PERFMON"]);
    let perfmon = Who::RootWith(",+perfmon");
    if !run(&mut cells.rprof(perfmon, &[], &["--version"]))
        .status
        .success()
    {
        not_run("setpriv does not know cap_perfmon");
        return;
    }
    let ran = cells.records(perfmon, &[], &["-a"], &[]);
    assert!(!ran.stderr.contains(USER_ONLY), "{}", ran.stderr);
}

#[test]
fn root_of_a_user_namespace_is_told_that_it_does_not_count() {
    let Some((_live, cells)) = start() else {
        return;
    };
    let mut unshare: Command = cells.nobody.command("unshare");
    if !run(unshare.args(["-Ur", "true"])).status.success() {
        not_run("no user namespaces for users here");
        return;
    }
    let who = Who::RootOfNamespace;
    cells.records(who, &[], &[], &[USER_ONLY, "user namespace"]);
    cells.refuses(who, &[], &["-a"], &["user namespace", "do not count"]);
    let said = cells.doctor(who, &[]);
    assert_eq!(said["profile"], "less", "{said}");
    let checks = said["checks"].as_array().unwrap();
    assert!(
        checks.iter().any(|check| check["name"] == "user namespace"),
        "{said}"
    );
}

#[test]
fn a_filter_is_told_from_everything_else() {
    let Some((_live, cells)) = start() else {
        return;
    };
    // EPERM as of Docker, ENOSYS as of newer runtimes, EACCES as levels 3 and 4 of distributions answer.
    for (number, name) in [("1", "EPERM"), ("38", "ENOSYS"), ("13", "EACCES")] {
        for who in [Who::Nobody, Who::Root] {
            let around = [cells.filter(), number];
            let words = [name, "a seccomp filter forbids perf_event_open"];
            // The command is recorded all the same, by ptrace.
            cells.records(who, &around, &[], &words);
            cells.refuses(who, &around, &["-e", "page-faults"], &words);
            // At level 2, EACCES is what the level itself would answer to a user.
            if (name, who) != ("EACCES", Who::Nobody) {
                cells.refuses(who, &around, &["-a"], &words);
            }
            let said = cells.doctor(who, &around);
            assert_eq!(said["profile"], "less", "{said}");
            assert!(
                said["outlook"].as_str().unwrap().contains("ptrace"),
                "{said}"
            );
            let checks = said["checks"].as_array().unwrap();
            let own = checks.iter().find(|check| check["name"] == "own programs");
            let fix = own.unwrap()["fix"].as_str().unwrap();
            assert!(fix.contains("a seccomp filter"), "{fix}");
        }
    }
}

#[test]
fn the_doctor_ends_with_what_record_will_do() {
    let Some((_live, cells)) = start() else {
        return;
    };
    let _level = Sysctl::paranoid("2");
    let said = run(&mut cells.rprof(Who::Nobody, &[], &["doctor"]));
    let last = said.stdout.lines().last().unwrap();
    assert!(
        last.starts_with("record: ") && last.contains("user space only"),
        "{said:?}"
    );
    assert!(
        said.stdout.contains("fix: profiling the kernel needs"),
        "{said:?}"
    );
    let help = run(tool(env!("CARGO_BIN_EXE_rprof")).args(["doctor", "--help"])).ok();
    assert!(help.stdout.contains("Exit status: 0"), "{}", help.stdout);
}
