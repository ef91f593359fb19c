//! How good a profile is: said by each output, and an exit code with `--strict`.

use crate::common::{rprof, run, scratch};
use crate::report::{read, report, spin};

const LINE: &str = "212 samples, 0.0 % lost, 0.0 % without names";

#[test]
fn every_output_has_one_line_on_its_quality() {
    assert!(report(&[]).contains(&format!("\n# Quality: {LINE}\n")));
    let said = format!("rprof: quality: {LINE}\n");
    for (command, args) in [
        ("flame", &["--folded"][..]),
        ("flame", &[]),
        ("export", &["--format", "folded"]),
        ("export", &["--format", "callgrind"]),
        ("script", &[]),
        ("script", &["-G", "--json"]),
    ] {
        let ran = read(command, args).ok();
        assert!(ran.stderr.contains(&said), "{}", ran.stderr);
    }
    let json = read("export", &["--format", "json"]).ok().stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let quality = &json["quality"];
    for (field, number) in [("samples", 212), ("lost", 0), ("throttles", 0)] {
        assert_eq!(quality[field], number, "{field}");
    }
    assert_eq!(quality["clock"], "monotonic");
}

#[test]
fn without_names_nobody_says_how_many_are_missing() {
    let ran = read("script", &["-F", "comm,time"]).ok();
    let said = "rprof: quality: 212 samples, 0.0 % lost\n";
    assert_eq!(ran.stderr, said);
    let none = read("script", &["-c", "nobody"]).ok();
    assert!(!none.stderr.contains("quality"), "{}", none.stderr);
}

#[test]
fn strict_makes_a_bad_profile_an_exit_code() {
    let dir = scratch();
    for command in ["report", "flame", "export", "script"] {
        let format: &[&str] = match command {
            "export" => &["--format", "json"],
            _ => &[],
        };
        let good = read(command, &[&["--strict"], format].concat()).ok();
        let mut without = rprof([command, "-i"]);
        without.arg(spin().join("perf.data")).args(format);
        // Nothing is there to be found.
        without.arg("--symfs").arg(dir.path());
        let lenient = run(&mut without).ok();
        let strict = run(without.arg("--strict"));
        assert_eq!(strict.status.code(), Some(1), "{command}");
        assert_eq!(strict.stdout, lenient.stdout, "{command}");
        let why = "failed --strict: 100.0 % have no names (limit: 10 %)";
        assert!(strict.stderr.contains(why), "{}", strict.stderr);
        assert!(!good.stderr.contains("--strict"), "{}", good.stderr);
    }
}
