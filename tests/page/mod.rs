//! `rprof export -o profile.html`: a browser opens the page, and a script clicks, zooms, brushes, searches and reads
//! back its sums. They are those of `rprof report`.

mod events;
mod jit;
mod lanes;
mod waiting;

use crate::common::{Program, Recording, needs, run, scratch, tool, write};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A function, and what else in it can go wrong: each name is a symbol of the program.
const HOSTILE: &str = r#"
#include <pthread.h>
#include <sys/prctl.h>
static volatile double sum;
#define NAMED(c, name) \
    __attribute__((noinline)) void c(int ms) __asm__("\"" name "\""); \
    void c(int ms) { WORK(ms, sum += i); sum += ms; }
NAMED(script, "</script><script>globalThis.broken=1</script>")
NAMED(image, "<img src=x onerror=globalThis.broken=1>")
NAMED(quotes, "'`${globalThis.broken=1}`&quot;<!--")
NAMED(right, "\342\200\256gpj.exe\342\201\246")
NAMED(longest, LONG)
static void *other(void *_) {
    prctl(PR_SET_NAME, "<b>\"\033[x</b>&", 0, 0, 0);
    script(150);
    image(100);
    return _;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    quotes(100);
    right(100);
    longest(100);
    return pthread_join(thread, 0);
}
"#;

/// What a page must say, by what other commands say of the recording.
fn facts(recording: &Recording, dir: &Path, name: &str) -> Value {
    let page = dir.join(name);
    // The next recording of its program takes its place.
    let file = page.with_extension("data");
    std::fs::copy(&recording.file, &file).unwrap();
    let mut export = recording.command("export", &[]);
    run(export.arg("-o").arg(&page)).ok();
    let report = recording.read(
        "report",
        &["--format", "json", "-g", "none", "-s", "dso,sym"],
    );
    let report: Value = serde_json::from_str(&report).unwrap();
    let event = &report["events"][0];
    let total = event["weight"].as_f64().unwrap();
    let weight = |row: &Value, key: &str| (row[key].as_f64().unwrap() * total / 100.0).round();
    // Where nothing has callers, that is all that a function has.
    let children = |row: &Value| {
        if row["overhead_children"].is_null() {
            weight(row, "overhead")
        } else {
            weight(row, "overhead_children")
        }
    };
    let rows = event["rows"].as_array().unwrap().iter().map(|row| {
        let symbol = row["sym"].as_str().unwrap();
        json!({
            "name": symbol.split_once("] ").unwrap().1,
            "image": row["dso"],
            "self": weight(row, "overhead"),
            "total": children(row),
        })
    });
    let rows: Vec<Value> = rows.collect();
    json!({
        "page": page,
        "file": file,
        "rprof": env!("CARGO_BIN_EXE_rprof"),
        "root": recording.root,
        "total": total,
        "levels": levels(recording),
        "rows": rows,
        "inTime": in_time(recording),
    })
}

/// Level, start, width and name of each box in order of time. There are none without times.
fn in_time(recording: &Recording) -> Vec<Value> {
    let chart = run(&mut recording.command("flame", &["--flamechart", "--min-width", "0"]));
    let boxes = chart.stdout.split("<title>").skip(1).filter_map(|text| {
        let (title, rest) = text.split_once("</title>")?;
        let name = unescaped(title).rsplit_once(" (")?.0.to_owned();
        let number = |attribute: &str| -> Option<u64> {
            let (_, value) = rest.split_once(&format!(" {attribute}=\""))?;
            value.split_once('"')?.0.parse().ok()
        };
        Some((number("y")?, number("fg:x")?, number("fg:w")?, name))
    });
    let boxes: Vec<(u64, u64, u64, String)> = boxes.collect();
    // Below them is the box of all.
    let lowest = boxes.iter().map(|(y, ..)| *y).max().unwrap_or(0);
    let height = boxes.iter().map(|(y, ..)| lowest - y).filter(|&y| y > 0);
    let height = height.min().unwrap_or(1);
    let boxes = boxes.into_iter().filter(|(y, ..)| *y < lowest);
    let boxes = boxes.map(|(y, start, width, name)| {
        let level = (lowest - y) / height - 1;
        // The page says a thread's id elsewhere.
        let name = match (level, name.rsplit_once(" [")) {
            (0, Some((comm, _))) => comm.to_owned(),
            _ => name,
        };
        json!([level, start, width, name])
    });
    boxes.collect()
}

/// A text of an SVG.
fn unescaped(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">");
    let text = text.replace("&quot;", "\"").replace("&apos;", "'");
    text.replace("&#39;", "'").replace("&amp;", "&")
}

/// What the page of what changed must say, by what `rprof flame` says of the same.
fn changes(before: &Recording, after: &Recording, page: &Path) -> Value {
    let against = |verb: &str| {
        let mut command = after.command(verb, &[]);
        command.arg("--against").arg(&before.file);
        command
    };
    run(against("export").arg("-o").arg(page)).ok();
    let folded = run(against("flame").args(["--folded", "--per", "run"])).ok();
    let stacks = folded.stdout.lines().map(|line| {
        let mut parts = line.rsplitn(3, ' ');
        let mut number = || -> u64 { parts.next().unwrap().parse().unwrap() };
        let (after, before) = (number(), number());
        json!([parts.next().unwrap(), before, after])
    });
    let stacks: Vec<Value> = stacks.collect();
    let boxes = |per: &str| {
        let picture = run(against("flame").args(["--min-width", "0", "--per", per]));
        boxes_of(&picture.ok().stdout)
    };
    let (shares, runs) = (boxes("event"), boxes("run"));
    json!({ "page": page, "stacks": stacks, "shares": shares, "runs": runs })
}

/// Name, words and colour of each box of a picture.
fn boxes_of(picture: &str) -> Vec<Value> {
    let boxes = picture.split("<title>").skip(1).filter_map(|text| {
        let (title, rest) = text.split_once("</title>")?;
        let title = unescaped(title);
        let (name, said) = title.strip_suffix(')')?.rsplit_once(" (")?;
        let (_, fill) = rest.split_once(" fill=\"")?;
        let (fill, _) = fill.split_once('"')?;
        (name != "all").then(|| json!([name, said, fill]))
    });
    boxes.collect()
}

/// How many samples stacks have that are so deep, the thread's name counted.
fn levels(recording: &Recording) -> Vec<u64> {
    let folded = recording.read("export", &["--format", "folded"]);
    let mut levels = Vec::new();
    for line in folded.lines() {
        let (stack, samples) = line.rsplit_once(' ').unwrap();
        let depth = stack.split(';').count();
        levels.resize(levels.len().max(depth), 0);
        let samples: u64 = samples.parse().unwrap();
        levels[..depth]
            .iter_mut()
            .for_each(|level| *level += samples);
    }
    levels
}

#[test]
fn a_browser_shows_what_report_says_and_runs_nothing_of_others() {
    needs!("chromium" in "chromium", "node" in "nodejs");
    let dir = scratch();
    let mut pages = vec![
        facts(&Recording::fixture("spin"), dir.path(), "spin.html"),
        facts(&Recording::fixture("dwarf"), dir.path(), "dwarf.html"),
    ];
    let (spin, dwarf) = (Recording::fixture("spin"), Recording::fixture("dwarf"));
    pages.push(changes(&spin, &dwarf, &dir.path().join("changes.html")));
    let hostile = hostile();
    if let Some((program, recording)) = &hostile {
        let facts = facts(recording, dir.path(), "hostile.html");
        let names = facts["rows"].to_string();
        for name in ["</script><script>globalThis", "<img src=x", "u{202e}gpj"] {
            assert!(names.contains(name), "{name}: {names}");
        }
        pages.push(facts);
        let page = dir.path().join("hostile-changes.html");
        pages.push(changes(&spin, recording, &page));
        pages.extend(flat_without_times(program, dir.path()));
    }
    check(pages, dir.path());
}

/// Has a browser go through pages.
fn check(pages: Vec<Value>, dir: &Path) {
    let list = dir.join("pages.json");
    write(&list, Value::from(pages).to_string().as_bytes());
    let mut node = tool("node");
    let ran = run(node.arg(script("checks.js")).arg(&list).env("TMPDIR", dir));
    print!("{}", ran.ok().stdout);
}

/// Of a recording in which samples have neither times nor callers.
fn flat_without_times(program: &Program, dir: &Path) -> Option<Value> {
    needs!(perf);
    let args = ["-B", "--per-thread", "-e", "cpu-clock:u", "-F", "999"];
    let recording = program.record_by_perf(&args, &[]);
    let mut facts = facts(&recording, dir, "flat.html");
    facts["lacks"] = true.into();
    Some(facts)
}

/// A recording of a program whose functions and threads are called what could run in a page.
fn hostile() -> Option<(Program, Recording)> {
    let long = format!("-DLONG=\"{}\"", "x".repeat(10_000));
    let program = Program::new(HOSTILE, &["-O1", "-pthread", &long])?;
    let recording = program.record(&["-e", "cpu-clock:u", "-F", "999"], &[]);
    Some((program, recording))
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/page")
        .join(name)
}

/// The page's script and that of this test, in the strictest way that the compiler has.
#[test]
fn scripts_have_the_types_that_they_say() {
    needs!("tsc" in "node-typescript");
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../export/src/page/assets");
    let files = std::fs::read_dir(assets)
        .unwrap()
        .map(|file| file.unwrap().path());
    let mut files: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|end| end == "js"))
        .collect();
    files.sort();
    assert!(files.len() > 10);
    let mut tsc = tool("tsc");
    let options = [
        "--allowJs",
        "--checkJs",
        "--noEmit",
        "--strict",
        "--target",
        "es2022",
        "--lib",
        "es2022,dom,dom.iterable",
    ];
    let ran = run(tsc.args(options).args(files));
    assert!(ran.status.success(), "{}", ran.stdout);
}
