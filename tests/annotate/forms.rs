//! Text, Markdown and JSON have the same counts, of each event.

use super::{OPTIONS, PROGRAM, only, samples};
use crate::common::{self, Program, has, needs, perf, rprof, run, scratch};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

fn shown(file: &Path, args: &[&str]) -> String {
    let mut annotate = rprof(["annotate", "-i"]);
    run(annotate.arg(file).args(args)).ok().stdout
}

/// What one event counted in a function: samples and their weight.
fn counted(function: &Value, event: usize) -> (u64, u64) {
    let event = &function["events"][event];
    let number = |name: &str| event[name].as_u64().unwrap();
    (number("samples"), number("weight"))
}

/// Numbers in the first column of text, by address; those that are not zero.
fn numbers(text: &str) -> BTreeMap<u64, u64> {
    let rows = text.lines().filter_map(|line| {
        let (number, rest) = line.split_once(" :")?;
        let number: u64 = number.trim().parse().ok()?;
        let (before, _) = rest.split_once(':')?;
        let address = u64::from_str_radix(before.split_whitespace().last()?, 16).ok()?;
        (number > 0).then_some((address, number))
    });
    rows.collect()
}

#[test]
fn numbers_of_samples_and_periods_are_perfs() {
    let tools = [("perf", "linux-perf"), ("objdump", "binutils")];
    if !tools.iter().all(|(tool, package)| has(tool, package)) {
        return;
    }
    let Some(program) = Program::new(PROGRAM, OPTIONS) else {
        return;
    };
    let args = ["-q", "-e", "cpu-clock:u", "-F", "1999"];
    let file = program.record(&args, &[]).file;
    for flag in ["-n", "--show-total-period"] {
        let ours = numbers(&shown(&file, &["work", "--full", flag]));
        // For perf, the cold part is a function of its own.
        let theirs = ["work", "work.cold"].map(|name| {
            let mut theirs = perf(["annotate", "--stdio", "--stdio-color", "never", "-s", name]);
            numbers(&run(theirs.args([flag, "-i"]).arg(&file)).stdout)
        });
        let theirs: BTreeMap<u64, u64> = theirs.into_iter().flatten().collect();
        assert!(!ours.is_empty());
        assert_eq!(ours, theirs, "{flag}");
    }
}

#[test]
fn each_event_has_a_column_in_every_form() {
    let Some(program) = Program::new(PROGRAM, OPTIONS) else {
        return;
    };
    let args = [
        "-q",
        "-e",
        "cpu-clock:u",
        "-e",
        "task-clock:u",
        "-F",
        "1999",
    ];
    let file = program.record(&args, &[]).file;
    let work = only(&file, &["work"]);
    let names: Vec<&Value> = (0..2).map(|event| &work["events"][event]["name"]).collect();
    assert_eq!(names, ["cpu-clock:u", "task-clock:u"]);
    let rows = work["instructions"].as_array().unwrap();
    for event in 0..2 {
        let counts = rows.iter().map(|row| &row["counts"][event]);
        let sum = |name: &str| -> u64 { counts.clone().filter_map(|one| one[name].as_u64()).sum() };
        assert_eq!((sum("samples"), sum("weight")), counted(&work, event));
        assert!(counted(&work, event).0 > 0);
    }
    let text = shown(&file, &["work"]);
    assert!(text.contains("   % (1)   % (2) : Instructions"), "{text}");
    // Said once, of both.
    let skid = "note: cpu-clock:u, task-clock:u: a timer:";
    assert_eq!(text.matches(skid).count(), 1, "{text}");
    let all = shown(&file, &["--share", "100", "--percent-limit", "0"]);
    assert_eq!(all.matches("a timer:").count(), 1, "{all}");
    let markdown = shown(&file, &["work", "--format", "markdown"]);
    assert!(
        markdown.contains("| cpu-clock:u | task-clock:u | Line |"),
        "{markdown}"
    );
    assert!(
        markdown.contains("- note: cpu-clock:u, task-clock:u: a timer:"),
        "{markdown}"
    );
}

#[test]
fn lines_alone_have_all_samples_that_have_a_line() {
    let Some(program) = Program::new(PROGRAM, OPTIONS) else {
        return;
    };
    let args = ["-q", "-e", "cpu-clock:u", "-F", "1999"];
    let file = program.record(&args, &[]).file;
    let work = only(&file, &["work"]);
    let text = shown(&file, &["work", "--by", "line", "-n", "--no-summary"]);
    let rows: Vec<(&str, &str)> = text
        .lines()
        .filter_map(|line| line.split_once(" : "))
        .collect();
    let cells = rows
        .iter()
        .filter_map(|(cell, _)| cell.trim().parse::<u64>().ok());
    assert_eq!(cells.sum::<u64>(), samples(&work), "{text}");
    let count = |line: &&Value| line["counts"][0]["samples"].as_u64().unwrap_or(0);
    let hottest = work["lines"]
        .as_array()
        .unwrap()
        .iter()
        .max_by_key(count)
        .unwrap();
    let marked = rows.iter().filter_map(|(_, row)| row.strip_prefix("> "));
    let marked: Vec<&str> = marked
        .map(|row| row.split("  ").next().unwrap().trim())
        .collect();
    assert_eq!(marked, [hottest["line"].to_string()], "{text}");
}

#[test]
fn source_files_are_found_where_they_were_moved_to() {
    needs!(cc);
    let make = |path: &Path| {
        let folder = path.parent().unwrap().display();
        let map = format!("-fdebug-prefix-map={folder}=/moved/away");
        common::compile(path, PROGRAM, &[OPTIONS, &[&map]].concat());
    };
    let Some(program) = Program::made(make) else {
        return;
    };
    let args = ["-q", "-e", "cpu-clock:u", "-F", "1999"];
    let file = program.record(&args, &[]).file;
    let line = "for (long i = 0; i < 2000; i++) sink += i * n;";
    let without = shown(&file, &["work"]);
    assert!(!without.contains(line), "{without}");
    let note =
        "note: no source for /moved/away/program.c: say where it is with --source-prefix FROM=TO";
    assert!(without.contains(note), "{without}");
    // Without what is compiled before it.
    let folder = program.file("source");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("program.c"), PROGRAM).unwrap();
    let folder = folder.display();
    let found = shown(
        &file,
        &["work", "--source-prefix", &format!("/moved/away={folder}")],
    );
    assert!(
        found.contains(line) && !found.contains("no source for"),
        "{found}"
    );
    let prefix = [
        "work",
        "--prefix",
        &folder.to_string(),
        "--prefix-strip",
        "2",
    ];
    assert!(shown(&file, &prefix).contains(line));
}

#[test]
fn unwanted_parts_of_code_are_left_out_in_every_form() {
    needs!(x86_64);
    let Some(program) = Program::new(PROGRAM, OPTIONS) else {
        return;
    };
    let args = ["-q", "-e", "cpu-clock:u", "-F", "1999"];
    let file = program.record(&args, &[]).file;
    let text = shown(&file, &["work", "--no-source", "--no-summary", "--asm-raw"]);
    assert!(!text.contains(".c:") && text.contains(" c3 "), "{text}");
    let around = shown(&file, &["work", "--context", "0", "--no-source"]);
    assert!(around.contains("without samples"), "{around}");
    for args in [
        &["--format", "json", "--stdio-color"][..],
        &["--format", "json", "--full-names"],
        &["--format", "markdown", "-n"],
        &["--by", "line", "--no-source"],
    ] {
        let mut annotate = rprof(["annotate", "work", "-i"]);
        let said = run(annotate.arg(&file).args(args)).fails(2);
        assert!(said.contains(" is for "), "{said}");
    }
}

#[test]
fn code_that_takes_more_memory_than_allowed_is_refused_and_the_rest_shown() {
    needs!(x86_64);
    let source = r#"
        static volatile long sink;
        __attribute__((noinline)) void vast(void) { __asm__(".rept 600000\n\tnop\n\t.endr"); sink++; }
        __attribute__((noinline)) void small(void) { for (long i = 0; i < 100000; i++) sink += i; }
        int main(void) { for (long end = CPU_US() + 300000; CPU_US() < end;) { vast(); small(); } return 0; }"#;
    let Some(program) = Program::new(source, &["-O2", "-Wl,--build-id"]) else {
        return;
    };
    let args = ["-q", "-e", "cpu-clock:u", "-F", "1999"];
    let file = program.record(&args, &[]).file;
    let mut vast = rprof(["annotate", "vast", "--mem", "100M", "-i"]);
    let said = run(vast.arg(&file)).fails(1);
    let why = "vast: showing its code takes 172 MiB of memory, more than --mem allows";
    assert!(said.contains(why), "{said}");
    let mut all = rprof(["annotate", "--share", "100", "--mem", "100M", "-i"]);
    let all = run(all.arg(&file)).ok();
    assert!(all.stderr.contains(why), "{}", all.stderr);
    assert!(all.stdout.contains("small in "), "{}", all.stdout);
    assert!(shown(&file, &["vast"]).contains("instructions without samples"));
}

#[test]
fn a_recording_as_a_plain_word_says_how_it_is_read() {
    let file = common::fixtures().join("spin/perf.data");
    let said = run(rprof(["annotate"]).arg(&file)).fails(2);
    let how = format!("rprof annotate -i {}", file.display());
    assert!(
        said.contains("is a recording") && said.contains(&how),
        "{said}"
    );
    let directory = common::fixtures().join("forms/directory");
    let said = run(rprof(["annotate"]).arg(&directory)).fails(2);
    assert!(said.contains("is a recording"), "{said}");
}

#[test]
fn samples_of_several_recordings_add_up_instruction_by_instruction() {
    let Some(program) = Program::new(PROGRAM, OPTIONS) else {
        return;
    };
    let args = ["-q", "-e", "cpu-clock", "-F", "999", "--call-graph", "fp"];
    let dir = scratch();
    let folder = dir.path().join("both");
    fs::create_dir(&folder).unwrap();
    let files = ["a.data", "b.data"].map(|name| {
        let file = folder.join(name);
        fs::copy(program.record(&args, &[]).file, &file).unwrap();
        file
    });
    let counted_at = |function: &Value| -> BTreeMap<u64, u64> {
        let rows = function["instructions"].as_array().unwrap().iter();
        let samples = |row: &Value| row["counts"][0]["samples"].as_u64().unwrap_or(0);
        rows.map(|row| (row["address"].as_u64().unwrap(), samples(row)))
            .collect()
    };
    for filter in [&[][..], &["--caller", "odd"]] {
        let one = |file: &Path| only(file, &[&["-s", "work"], filter].concat());
        let mut sum = counted_at(&one(&files[0]));
        for (address, samples) in counted_at(&one(&files[1])) {
            *sum.entry(address).or_default() += samples;
        }
        assert!(sum.values().any(|&samples| samples > 0));
        let second = files[1].to_str().unwrap();
        let both = only(&files[0], &[&["-s", "work", "-i", second], filter].concat());
        assert_eq!(counted_at(&both), sum, "{filter:?}");
        let all = |function: &Value| function["events"][0]["all_samples"].as_u64().unwrap();
        assert_eq!(all(&both), all(&one(&files[0])) + all(&one(&files[1])));
        assert_eq!(counted_at(&one(&folder)), sum, "a directory, {filter:?}");
    }
}

#[test]
fn a_function_that_only_another_recording_has_is_shown_with_the_file_of_its_build() {
    let other = PROGRAM.replace("work", "toil");
    let (Some(program), Some(other)) = (
        Program::new(PROGRAM, OPTIONS),
        Program::new(&other, OPTIONS),
    ) else {
        return;
    };
    let args = ["-q", "-e", "cpu-clock:u", "-F", "999"];
    let (first, second) = (program.record(&args, &[]), other.record(&args, &[]));
    let alone = only(&second.file, &["-s", "toil"]);
    let both = only(
        &first.file,
        &["-s", "toil", "-i", second.file.to_str().unwrap()],
    );
    assert_eq!(both["instructions"], alone["instructions"]);
    assert_eq!(both["file"], alone["file"]);
    assert_eq!(samples(&both), samples(&alone));
}
