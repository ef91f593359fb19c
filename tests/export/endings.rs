//! How exports end that cannot go well.

#[cfg(not(feature = "parquet"))]
use crate::common::rprof;
use crate::common::work::burn;
use crate::common::{Recording, closed_pipe, has, needs, run, scratch, tool};
use crate::export::firefox;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

const FORMATS: [&str; 6] = ["html", "firefox", "speedscope", "pprof", "folded", "json"];

#[test]
fn nothing_to_export_is_a_valid_empty_file_and_a_sentence() {
    let dir = scratch();
    let nobody = ["--comms", "nobody"];
    let spin = Recording::fixture("spin");
    for format in FORMATS {
        let mut args = nobody.to_vec();
        args.extend(["--format", format]);
        let path = dir.path().join(format);
        let mut command = spin.command("export", &args);
        let ran = run(command.arg("-o").arg(&path)).ok();
        assert_eq!(
            ran.stderr,
            "rprof: warning: no samples match the filter: --comms 'nobody' leaves no samples (threads: spin)\n",
            "{format}"
        );
        assert!(path.is_file());
    }
    let firefox = spin.export_json(dir.path(), "firefox.json.gz", &nobody);
    assert_eq!(firefox::checked(&firefox)[0].1, 0);
    assert_eq!(firefox["threads"][0]["name"], "no samples");
    let speedscope = spin.export_json(dir.path(), "a.speedscope.json", &nobody);
    assert_eq!(speedscope["profiles"][0]["endValue"], 0);
    let json = spin.export_json(dir.path(), "a.json", &nobody);
    assert_eq!(json["events"][0]["stacks"].as_array().unwrap().len(), 0);
    assert_eq!(fs::read(dir.path().join("folded")).unwrap(), b"");
    if has("go", "golang-go") {
        let path = spin.export(dir.path(), "empty.pb.gz", &nobody);
        let mut top = tool("go");
        let top = top.args(["tool", "pprof", "-top", "-symbolize=none"]);
        assert!(run(top.arg(path)).ok().stdout.contains("cpu-clock"));
    }
}

#[test]
fn samples_without_times_come_in_the_files_order() {
    needs!(perf);
    let dir = scratch();
    let path = dir.path().join("untimed.data");
    needs!(alone);
    let mut perf = crate::common::perf(["record", "-B", "--per-thread", "-g"]);
    perf.args(["-e", "cpu-clock", "-o"]).arg(&path);
    let ran = run(perf.args(["sh", "-c", &burn(30)])).ok();
    let recording = Recording::new(path, ran);
    let out = dir.path().join("untimed.json.gz");
    let mut command = recording.command("export", &[]);
    let ran = run(command.arg("-o").arg(&out)).ok();
    assert!(ran.stderr.contains("has no times"), "{}", ran.stderr);
    let profile = recording.export_json(dir.path(), "again.json.gz", &[]);
    assert_eq!(firefox::checked(&profile), recording.totals());
}

#[test]
fn an_output_that_cannot_be_written_is_one_line_and_no_file() {
    let dir = scratch();
    let missing = dir.path().join("missing/of/a.json");
    let mut command = Recording::fixture("spin").command("export", &[]);
    let error = run(command.arg("-o").arg(&missing)).fails(1);
    assert_eq!(error.lines().count(), 1, "{error}");
    let folder = dir.path().join("missing");
    let why = format!("missing/of/a.json: no such folder: {}\n", folder.display());
    assert!(error.ends_with(&why), "{error}");
    let mut command = Recording::fixture("spin").command("export", &["--format", "json"]);
    let error = run(command.args(["-o", "/dev/full"])).fails(1);
    assert!(error.contains("/dev/full: No space left"), "{error}");
    // A folder is no file.
    let folder = dir.path().join("folder.json");
    fs::create_dir(&folder).unwrap();
    let mut command = Recording::fixture("spin").command("export", &[]);
    let error = run(command.arg("-o").arg(&folder)).fails(1);
    assert!(error.contains("Is a directory"), "{error}");
    let left: Vec<_> = fs::read_dir(dir.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn a_file_is_replaced_with_its_permissions_and_links_are_followed() {
    let dir = scratch();
    let (file, link) = (dir.path().join("real"), dir.path().join("link.json"));
    fs::write(&file, "before").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    Recording::fixture("spin").export(dir.path(), "link.json", &[]);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(
        fs::read_to_string(&file)
            .unwrap()
            .starts_with("{\"schema\"")
    );
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o640
    );
}

#[test]
fn a_closed_pipe_is_no_error() {
    for format in FORMATS {
        let mut command = Recording::fixture("spin").command("export", &["--format", format]);
        let command = command.stdout(closed_pipe()).stderr(Stdio::piped());
        let ended = command.output().unwrap();
        let stderr = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success(), "{format}: {stderr}");
    }
}

#[test]
fn a_format_that_is_not_said_is_asked_for() {
    let error = run(&mut Recording::fixture("spin").command("export", &[])).fails(2);
    assert!(
        error.contains("--format html, firefox, speedscope"),
        "{error}"
    );
    let error =
        run(&mut Recording::fixture("spin").command("export", &["-o", "/tmp/a.svg"])).fails(2);
    assert!(
        error.contains("cannot tell the format from 'a.svg'"),
        "{error}"
    );
    let args = ["--format", "pprof", "--event", "cycles"];
    let error = run(&mut Recording::fixture("spin").command("export", &args)).fails(2);
    assert!(error.contains("--event is for folded stacks"), "{error}");
}

#[test]
fn a_dash_is_standard_output() {
    let ran = Recording::fixture("spin").run("export", &["--format", "folded", "-o", "-"]);
    let flame = Recording::fixture("spin").run("flame", &["--folded"]);
    assert_eq!(ran.stdout, flame.stdout);
}

#[test]
fn inferno_draws_folded_stacks() {
    let dir = scratch();
    let path = Recording::fixture("spin").export(dir.path(), "spin.folded", &[]);
    let folded = fs::read_to_string(path).unwrap();
    let mut svg = Vec::new();
    let mut options = inferno::flamegraph::Options::default();
    inferno::flamegraph::from_lines(&mut options, folded.lines(), &mut svg).unwrap();
    let svg = String::from_utf8(svg).unwrap();
    assert!(svg.contains("hot (149 samples, 70.28%)"), "{svg}");
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_build_without_parquet_says_how_to_get_it() {
    let error = run(&mut rprof(["export", "--format", "parquet"])).fails(2);
    assert!(error.contains("this build has no Parquet"), "{error}");
    assert!(error.contains("--features parquet"), "{error}");
    let error = run(&mut rprof(["export", "--format", "xml"])).fails(2);
    assert!(!error.contains("parquet"), "{error}");
}
