//! `rprof annotate` shows the instructions and percentages that `perf annotate` shows, and what perf does not.

mod forms;
mod names;

use crate::common;
use crate::common::{Program, has, needs, perf, rprof, run, scratch, tool};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// `work` runs its cold part every second time; it is called by `odd` and `even`.
const PROGRAM: &str = r#"
    static volatile long sink;
    __attribute__((cold, noinline)) void rare(long n) { sink += n; }
    __attribute__((noinline)) void work(long n) {
        for (long i = 0; i < 2000; i++) sink += i * n;
        if (n & 1) { rare(n); for (long i = 0; i < 2000; i++) sink ^= i * n; rare(n); }
    }
    __attribute__((noinline)) void odd(void) { work(sink | 1); sink++; }
    __attribute__((noinline)) void even(void) { work(sink & ~1); sink++; }
    int main(void) { for (long end = CPU_US() + 400000; CPU_US() < end;) { odd(); even(); } return 0; }"#;

const OPTIONS: &[&str] = &[
    "-O2",
    "-g",
    "-fno-omit-frame-pointer",
    "-fno-shrink-wrap",
    "-Wl,--build-id",
];

/// The functions that are shown, as JSON.
fn functions(file: &Path, args: &[&str]) -> Vec<Value> {
    let mut annotate = rprof(["annotate", "-q", "--format", "json", "-i"]);
    let out = run(annotate.arg(file).args(args)).ok().stdout;
    let json: Value = serde_json::from_str(&out).unwrap();
    json["functions"].as_array().unwrap().clone()
}

fn only(file: &Path, args: &[&str]) -> Value {
    let functions = functions(file, args);
    assert_eq!(functions.len(), 1, "{args:?}");
    functions[0].clone()
}

fn refused(file: &Path, args: &[&str]) -> String {
    let mut annotate = rprof(["annotate", "-i"]);
    run(annotate.arg(file).args(args)).fails(1)
}

fn samples(function: &Value) -> u64 {
    function["events"][0]["samples"].as_u64().unwrap()
}

/// Each instruction's address and percentage, as perf prints it.
fn ours(function: &Value) -> BTreeMap<u64, String> {
    let rows = function["instructions"].as_array().unwrap().iter();
    rows.map(|row| {
        let percent = row["counts"][0]["percent"].as_f64().unwrap_or(0.0);
        (row["address"].as_u64().unwrap(), format!("{percent:.2}"))
    })
    .collect()
}

/// The same of perf's text.
fn perfs(text: &str) -> BTreeMap<u64, String> {
    let rows = text.lines().filter_map(|line| {
        let (percent, rest) = line.trim().split_once(" :")?;
        let (address, _) = rest.trim_start().split_once(':')?;
        let percent: f64 = percent.trim().parse().ok()?;
        let address = u64::from_str_radix(address, 16).ok()?;
        Some((address, format!("{percent:.2}")))
    });
    rows.collect()
}

#[test]
fn functions_of_a_compiler_have_perfs_instructions_and_percentages() {
    let tools = [
        ("perf", "linux-perf"),
        ("g++", "g++"),
        ("objdump", "binutils"),
    ];
    if !tools.iter().all(|(tool, package)| has(tool, package)) {
        return;
    }
    let dir = scratch();
    let (file, source) = (dir.path().join("perf.data"), dir.path().join("a.cc"));
    let text = "#include <regex>\n#include <map>\nint main() { return std::regex_match(\"a\", std::regex(\"a+\")); }\n";
    std::fs::write(&source, text).unwrap();
    {
        needs!(alone);
        let mut record = perf(["record", "-q", "-e", "cpu-clock:u", "-F", "3999", "-o"]);
        record
            .arg(&file)
            .args(["--", "g++", "-O2", "-S", "-o", "/dev/null"]);
        run(record.arg(&source)).ok();
    }
    let found = functions(&file, &["--share", "100", "--percent-limit", "0.05"]);
    let is_comparable = |function: &&Value| {
        let name = function["name"].as_str().unwrap();
        // perf has no names for what only unwind tables know, and knows nothing of cold parts.
        let is_plain = name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        is_plain && function["parts"].as_array().unwrap().len() == 1
    };
    let mut n_compared = 0;
    for function in found.iter().filter(is_comparable) {
        if n_compared == 10 {
            break;
        }
        let name = function["name"].as_str().unwrap();
        let image = function["image"].as_str().unwrap();
        let image = image.rsplit('/').next().unwrap();
        let mut by_name = rprof(["annotate", "-q", "-d", image, "-i"]);
        if !run(by_name.arg(&file).arg(name)).status.success() {
            // perf shows all functions of one name as one.
            continue;
        }
        let mut annotate = perf(["annotate", "--stdio", "--stdio-color", "never", "-s", name]);
        let text = run(annotate.args(["-d", image, "-i"]).arg(&file)).stdout;
        assert_eq!(ours(function), perfs(&text), "{name}\n{text}");
        n_compared += 1;
    }
    println!("{n_compared} of {} functions", found.len());
    // Those of the C library have names everywhere.
    assert!(n_compared >= 5, "{found:?}");
}

#[test]
fn callers_cold_parts_and_filters_count_every_sample_once() {
    needs!(x86_64);
    let Some(program) = Program::new(PROGRAM, OPTIONS) else {
        return;
    };
    let args = [
        "-q",
        "-e",
        "cpu-clock:u",
        "-F",
        "1999",
        "--call-graph",
        "fp",
    ];
    let file = program.record(&args, &[]).file;
    let all = only(&file, &["work"]);
    let parts = all["parts"].as_array().unwrap();
    let symbols: Vec<&str> = parts
        .iter()
        .map(|part| part["symbol"].as_str().unwrap())
        .collect();
    // GCC puts what calls a cold function elsewhere.
    assert_eq!(symbols, ["work", "work.cold"]);
    let in_cold = parts[1]["counts"][0]["samples"].as_u64().unwrap();
    assert!(in_cold > 0, "{parts:?}");
    let sum = |function: &Value| -> u64 {
        let rows = function["instructions"].as_array().unwrap().iter();
        rows.map(|row| row["counts"][0]["samples"].as_u64().unwrap_or(0))
            .sum()
    };
    assert_eq!(sum(&all), samples(&all));
    let by = |caller: &str| samples(&only(&file, &["work", "--caller", caller]));
    let (odd, even) = (by("odd"), by("even"));
    assert!(odd > 0 && even > 0);
    assert!(odd + even <= samples(&all));
    assert_eq!(by("odd,even"), odd + even);
    // A caller of nobody.
    let said = refused(&file, &["work", "--caller", "rare"]);
    assert!(
        said.contains(&format!("work has {} samples", samples(&all)))
            && said.contains("none with this caller"),
        "{said}"
    );
    assert_eq!(
        samples(&only(&file, &["work", "--comms", "program"])),
        samples(&all)
    );
    let said = refused(&file, &["work", "--comms", "other"]);
    assert!(said.contains("none that matches the filters"), "{said}");
    assert!(functions(&file, &["-d", "nothing"]).is_empty());
    let line = only(&file, &["work"]);
    assert!(line["lines"].as_array().unwrap().len() > 3);
}

#[test]
fn names_that_are_not_there_or_there_twice_are_explained() {
    needs!(cc);
    let twin = |name: &str| {
        format!(
            "extern volatile long sink;
            __attribute__((noinline)) static void twin(void) {{ for (long i = 0; i < 100000; i++) sink += i; }}
            void {name}(void) {{ twin(); sink++; }}"
        )
    };
    let make = |path: &Path| {
        let dir = path.parent().unwrap();
        let mut others = Vec::new();
        for name in ["one", "two"] {
            let source = dir.join(name).with_extension("other.c");
            std::fs::write(&source, twin(name)).unwrap();
            others.push(source);
        }
        let main = "volatile long sink; void one(void); void two(void); void unused(void) { sink = 7; }
            int main(void) { for (long end = CPU_US() + 300000; CPU_US() < end;) { one(); two(); } return 0; }";
        let mut options = vec!["-O1", "-g", "-Wl,--build-id"];
        options.extend(others.iter().map(|source| source.to_str().unwrap()));
        common::compile(path, main, &options);
    };
    let Some(program) = Program::made(make) else {
        return;
    };
    let file = program
        .record(&["-q", "-e", "cpu-clock:u", "-F", "1999"], &[])
        .file;
    let said = refused(&file, &["twin"]);
    assert!(said.contains("'twin' matches several functions"), "{said}");
    let words = said
        .split([' ', ','])
        .filter(|word| word.starts_with("twin@0x"));
    let choices: Vec<&str> = words.collect();
    assert_eq!(choices.len(), 2, "{said}");
    let said = refused(&file, &["twin@0x9"]);
    assert!(
        said.contains("no function 'twin' starts at this address")
            && choices.iter().all(|choice| said.contains(choice)),
        "{said}"
    );
    for choice in choices {
        let start = only(&file, &[choice])["parts"][0]["address"].as_u64();
        assert_eq!(format!("twin@{:#x}", start.unwrap()), choice);
    }
    for (name, why) in [
        ("/[/", "invalid regular expression"),
        ("", "the name of a function"),
        ("file:/none", "reading /none: No such file"),
    ] {
        let said = run(rprof(["annotate", "-i"]).arg(&file).arg(name)).fails(2);
        assert!(said.contains(why), "{said}");
    }
    let said = refused(&file, &["twim"]);
    assert!(said.contains("did you mean 'twin'?"), "{said}");
    let said = refused(&file, &["wi"]);
    assert!(said.contains("these names contain it: twin"), "{said}");
    // Without samples it has code all the same.
    let unused = only(&file, &["unused"]);
    assert_eq!(
        (
            samples(&unused),
            unused["instructions"].as_array().unwrap().is_empty()
        ),
        (0, false)
    );
}

#[test]
fn a_stripped_function_is_as_long_as_its_symbol_was() {
    needs!("strip" in "binutils");
    let Some(program) = Program::new(PROGRAM, OPTIONS) else {
        return;
    };
    let args = ["-q", "-e", "cpu-clock:u", "-F", "1999"];
    let named = only(&program.record(&args, &[]).file, &["work"]);
    run(tool("strip").arg(program.path())).ok();
    let stripped = functions(&program.record(&args, &[]).file, &["--share", "100"]);
    let address = named["parts"][0]["address"].as_u64().unwrap();
    let name = format!("+{address:#x}]");
    let found = stripped
        .iter()
        .find(|one| one["name"].as_str().unwrap().ends_with(&name));
    let found = found.unwrap_or_else(|| panic!("{name} {stripped:?}"));
    let first = &named["parts"][0];
    assert_eq!(found["parts"][0]["n_instructions"], first["n_instructions"]);
}

#[test]
fn code_of_another_build_is_refused() {
    let Some(program) = Program::new(PROGRAM, OPTIONS) else {
        return;
    };
    let file = program
        .record(&["-q", "-e", "cpu-clock:u", "-F", "1999"], &[])
        .file;
    assert!(samples(&only(&file, &["work"])) > 0);
    let path: PathBuf = program.path();
    std::fs::remove_file(&path).unwrap();
    common::compile(&path, &PROGRAM.replace("2000", "3000"), OPTIONS);
    let said = refused(&file, &["work"]);
    assert!(
        said.contains("changed since the recording: expected build id"),
        "{said}"
    );
    assert!(
        said.contains(" expected build id ") && said.contains(", found "),
        "{said}"
    );
}
