//! `rprof script --json`: each line is JSON, and says what the text says.

use crate::common::{corpus, fixtures, rprof, run, scratch, write};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The lines after the first, which says what they are.
#[track_caller]
fn samples(file: &Path, args: &[&str]) -> Vec<Value> {
    let mut script = rprof(["script", "--json", "--no-debuginfod"]);
    script.args(args).arg("-i").arg(file);
    let text = run(&mut script).ok().stdout;
    let parse = |line: &str| match serde_json::from_str(line) {
        Ok(Value::Object(object)) => Value::Object(object),
        other => panic!("{}: {other:?}: {line}", file.display()),
    };
    let mut lines: Vec<Value> = text.lines().map(parse).collect();
    let first = lines.remove(0);
    assert_eq!(first["schema"], "rprof-script");
    assert_eq!(first["version"], 1);
    assert!(
        first["events"].is_array() && first["header"].is_object(),
        "{first}"
    );
    lines
}

fn symfs(name: &str) -> (PathBuf, String) {
    let dir = fixtures().join(name);
    (
        dir.join("perf.data"),
        dir.join("root").display().to_string(),
    )
}

/// A sample as text has it: names of its frames, the innermost first, and where each is.
fn as_text(sample: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let frames = sample["frames"].as_array().unwrap().iter();
    let frames = frames.map(|frame| {
        let address = text(&frame["address"]).unwrap();
        let name = text(&frame["name"]).unwrap_or("[unknown]".to_owned());
        let end = match frame["inlined"].as_bool() {
            Some(true) => "(inlined)".to_owned(),
            _ => format!(
                "({})",
                text(&frame["image"]).unwrap_or("[unknown]".to_owned())
            ),
        };
        format!("{} {name} {end}", address.strip_prefix("0x").unwrap())
    });
    frames.collect()
}

#[test]
fn json_says_what_the_text_says() {
    for name in ["spin", "dwarf"] {
        let (file, root) = symfs(name);
        let text = rprof([
            "script",
            "-F",
            "comm,tid,time,period,ip,sym,dso",
            "--ns",
            "--symfs",
            &root,
        ])
        .arg("-i")
        .arg(&file)
        .output()
        .unwrap();
        let text = String::from_utf8(text.stdout).unwrap();
        let text = crate::script::lines::blocks(&text);
        let samples = samples(&file, &["--symfs", &root]);
        assert_eq!(samples.len(), text.len());
        for (sample, block) in samples.iter().zip(&text) {
            let frames: Vec<String> = block[1..]
                .iter()
                .map(|line| line.trim().to_owned())
                .collect();
            assert_eq!(as_text(sample), frames);
            let time = sample["time_ns"].as_u64().unwrap();
            let head = format!(
                "{} {} {}.{:09}: {}",
                sample["comm"].as_str().unwrap(),
                sample["tid"],
                time / 1_000_000_000,
                time % 1_000_000_000,
                sample["period"]
            );
            let words: Vec<&str> = block[0].split_whitespace().collect();
            assert_eq!(words.join(" "), head);
        }
    }
}

#[test]
fn fields_are_those_that_were_asked_for() {
    let (file, root) = symfs("spin");
    let keys =
        |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    let of = |args: &[&str]| samples(&file, &[&["--symfs", &root], args].concat()).remove(0);
    let all = [
        "comm", "cpu", "event", "frames", "ip", "period", "pid", "tid", "time_ns",
    ];
    assert_eq!(keys(&of(&[])), all);
    let few = of(&["-F", "comm,ip,sym,srcline"]);
    assert_eq!(keys(&few), ["comm", "frames", "ip"]);
    let hot = &few["frames"][1];
    assert_eq!(keys(hot), ["address", "file", "line", "name"]);
    assert_eq!((&hot["name"], &hot["line"]), (&"hot".into(), &9.into()));
    let single = of(&["-G", "--no-inline"]);
    assert_eq!(single["frames"].as_array().unwrap().len(), 1, "{single}");
    let less = of(&["-F", "-pid,-time"]);
    let left = all
        .into_iter()
        .filter(|key| !["pid", "time_ns"].contains(key));
    assert_eq!(keys(&less), left.collect::<Vec<_>>());
    let read = |args: &[&str]| run(rprof(["script", "--json"]).args(args).arg("-i").arg(&file));
    assert!(read(&["-F", "comm,misc"]).fails(1).contains("'misc'"));
    read(&["--reltime"]).fails(2);
}

#[test]
fn ends_of_stacks_are_removed_on_request() {
    let (file, root) = symfs("dwarf");
    let has_end = |args: &[&str]| {
        let samples = samples(&file, &[&["--symfs", &root], args].concat());
        samples
            .iter()
            .any(|sample| sample.get("stack_end").is_some())
    };
    assert!(has_end(&[]));
    assert!(has_end(&["-F", "comm,ip"]));
    assert!(!has_end(&["-F", "-stackend"]));
    assert!(!has_end(&["-F", "comm,ip", "-F", "-stackend"]));
}

#[test]
fn hostile_names_are_strings() {
    let dir = scratch();
    let mut bytes = std::fs::read(fixtures().join("spin/perf.data")).unwrap();
    let comm = b"spin\0\0\0\0";
    let at = bytes.windows(8).position(|window| window == comm).unwrap();
    bytes[at..at + 8].copy_from_slice(b"\x1b\"\\\n\xff{,\0");
    let file = dir.path().join("perf.data");
    write(&file, &bytes);
    for sample in samples(&file, &[]) {
        assert_eq!(sample["comm"], "\u{1b}\"\\\n\u{fffd}{,");
    }
}

#[test]
fn every_line_of_every_recording_is_json() {
    let Some(corpus) = corpus() else {
        return;
    };
    let mut n_lines = 0;
    for folder in ["linux-perf-data", "quipper", "simpleperf", "big-endian"] {
        for entry in std::fs::read_dir(corpus.join(folder)).unwrap() {
            let file = entry.unwrap().path();
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            if name.contains("pb_text") || name.ends_with(".buildids") {
                continue;
            }
            let text =
                run(rprof(["script", "-G", "--no-debuginfod", "-F", "comm", "-i"]).arg(&file));
            let lines = samples(&file, &[]);
            assert_eq!(lines.len(), text.ok().stdout.lines().count(), "{name}");
            n_lines += lines.len();
        }
    }
    assert!(n_lines > 900, "{n_lines}");
}

#[test]
fn scripts_of_perf_are_not_run() {
    for args in [&["-s", "x.py"][..], &["-g", "python"], &["report"]] {
        let mut script = rprof(["script"]);
        let said = run(script.args(args).current_dir(scratch().path())).fails(2);
        assert!(said.contains("rprof script --json"), "{said}");
    }
}
