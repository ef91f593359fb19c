//! Functions of a stripped program: told apart by its unwind tables, as its symbols told them apart.

use crate::common::{Program, Recording, needs};
use crate::find::program::tool;
use rprof_images::{Elf, SymbolTable};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Functions that work themselves, that call, and that call themselves.
const SOURCE: &str = r#"
    static volatile unsigned long sink;
    static __attribute__((noinline)) void one(void) { WORK(100, sink += i) }
    static __attribute__((noinline)) void two(int n) {
        WORK(40, sink ^= i * n)
        if (n) two(n - 1);
        sink++;
    }
    static __attribute__((noinline)) void three(void) { one(); WORK(60, sink *= i) two(2); sink++; }
    int main(void) {
        three();
        WORK(30, sink -= i)
        one();
        return 0;
    }"#;

/// By name, how the function is called that begins there.
fn labels(program: &Path) -> BTreeMap<String, String> {
    let elf = Elf::open(program, &rprof_untrusted::Budget::default()).unwrap();
    let mut labels = BTreeMap::new();
    elf.for_each_symbol(SymbolTable::Static, |symbol| {
        let name = String::from_utf8_lossy(symbol.name).into_owned();
        if symbol.in_code && symbol.size > 0 {
            labels.insert(name, format!("[program+{:#x}]", symbol.address.0));
        }
    })
    .unwrap();
    labels
}

/// Rows of a table by shared object and symbol, sorted.
fn rows(recording: &Recording, args: &[&str], label: impl Fn(&str) -> String) -> Vec<String> {
    let args = [&["-s", "dso,sym", "-g", "none", "-n"], args].concat();
    let table = recording.read("report", &args);
    let rows = table.lines().filter(|line| line.contains("[.] "));
    let mut rows: Vec<String> = rows
        .map(|row| {
            let (cells, name) = row.split_once("[.] ").unwrap();
            let is_own = cells.split_whitespace().any(|cell| cell == "program");
            let name = if is_own { label(name) } else { name.to_owned() };
            cells.split_whitespace().collect::<Vec<_>>().join(" ") + " " + &name
        })
        .collect();
    rows.sort_unstable();
    rows
}

/// Folded stacks in which a function is, sorted.
fn stacks(recording: &Recording, of: &str, label: impl Fn(&str) -> String) -> Vec<String> {
    let folded = recording.read("flame", &["--folded"]);
    let mut stacks: Vec<String> = folded
        .lines()
        .map(|line| {
            let (stack, count) = line.rsplit_once(' ').unwrap();
            let frames: Vec<String> = stack.split(';').map(&label).collect();
            format!("{} {count}", frames.join(";"))
        })
        .filter(|stack| stack.contains(of))
        .collect();
    stacks.sort_unstable();
    stacks
}

#[test]
fn a_stripped_programs_functions_are_those_of_its_symbols() {
    needs!("strip" in "binutils");
    let options = ["-O1", "-fno-optimize-sibling-calls", "-Wl,--build-id"];
    let Some(program) = Program::new(SOURCE, &options) else {
        return;
    };
    let recording = program.record(&["-e", "cpu-clock:u", "-F", "1999"], &[]);
    let labels = labels(&program.path());
    let label = |name: &str| labels.get(name).cloned().unwrap_or(name.to_owned());
    let same = |name: &str| name.to_owned();
    let flat = ["--no-children"];
    let expected = [&flat[..], &[]].map(|args| rows(&recording, args, label));
    // Outside of it, the loader has names like the program's.
    let main = &labels["main"];
    let expected_stacks = stacks(&recording, main, label);
    assert!(expected_stacks.len() > 5, "{expected_stacks:?}");
    let own = |rows: &[String]| rows.iter().filter(|row| row.contains("program")).count();
    assert!(own(&expected[0]) >= 4, "{expected:?}");

    tool(program.dir(), "strip program");
    let found = [&flat[..], &[]].map(|args| rows(&recording, args, same));
    assert_eq!(found, expected);
    assert_eq!(stacks(&recording, main, same), expected_stacks);
    for name in ["one", "two", "main"] {
        let filtered = [&flat[..], &["-S", &labels[name]]].concat();
        let of_name = found[0].iter().filter(|row| row.ends_with(&labels[name]));
        let of_name: Vec<String> = of_name.cloned().collect();
        assert_eq!(rows(&recording, &filtered, same), of_name, "{name}");
    }
    let both = format!("{},[program+0x*9]", labels["one"]);
    let both = recording.read("report", &[&flat[..], &["-S", &both]].concat());
    assert!(both.contains(&labels["one"]), "{both}");
    // They have no name all the same.
    let table = recording.read("report", &flat);
    assert!(table.contains("# Without names:"), "{table}");
    let json = recording.read("export", &["--format", "json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    let frames = json["frames"].as_array().unwrap();
    let nameless: Vec<&Value> = frames
        .iter()
        .filter(|frame| frame["image"] == "program")
        .collect();
    assert_eq!(nameless.len(), own(&expected[1]));
    for frame in nameless {
        let start = frame["start"].as_u64().unwrap();
        assert_eq!(frame["label"], format!("[program+{start:#x}]"));
        assert!(frame["name"].is_null(), "{frame}");
    }
    as_perf_shows_them(&recording, &labels);
}

/// By address in tables, and in stacks as one.
fn as_perf_shows_them(recording: &Recording, labels: &BTreeMap<String, String>) {
    let flat = recording.read("report", &["--no-children", "-g", "none", "--no-fde"]);
    // Beside the loader's.
    let is_own = |line: &&str| line.split_whitespace().nth(2) == Some("program");
    let own = flat.lines().filter(is_own);
    let rows: Vec<&str> = own
        .filter(|line| line.contains('%') && !line.starts_with('#'))
        .collect();
    assert!(rows.len() > labels.len().min(8), "{flat}");
    let is_address = |row: &&str| row.contains("[.] 0x");
    assert!(rows.iter().all(is_address), "{flat}");
    let folded = recording.read("flame", &["--folded", "--no-fde"]);
    assert!(folded.contains(";[program];"), "{folded}");
    assert!(!folded.contains("[program+"), "{folded}");
    let script = recording.read("script", &["-F", "ip,sym,dso"]);
    assert!(!script.contains("[program+"), "{script}");
    assert!(script.contains("[unknown] ("), "{script}");
}
