//! The recordings of which everything is compared with perf, each a test: programs in C++ and Rust, a build, a storm
//! of forks, tracepoints, page faults, a group of events, and recordings of others.

use super::common::{Program, corpus, fixtures, is_wide, needs, run, tool, tracefs, write};
use super::crossed::Crossed;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// What each sample of a clock can have.
const SAMPLED: &[&str] = &[
    "-g",
    "--sample-cpu",
    "-T",
    "-W",
    "--transaction",
    "--all-cgroups",
    "--code-page-size",
];

const CLOCK: &[&str] = &["-F", "1999", "-e", "cpu-clock"];

/// Keys that samples of every event have values for.
const KEYS: &[&str] = &[
    "comm",
    "dso",
    "sym",
    "pid",
    "pid,sym",
    "cpu",
    "socket",
    "cpu,dso",
    "cgroup",
    "time",
    "time,cpu,sym",
    "parent",
    "parent,dso",
    "dso,sym",
    "sym,comm",
];

/// Those that `SAMPLED` is needed for.
const SAMPLED_KEYS: &[&str] = &[
    "local_weight",
    "weight,comm",
    "local_ins_lat",
    "ins_lat,dso",
    "transaction",
    "code_page_size",
    "code_page_size,dso,sym",
];

const FIELDS: &[&[&str]] = &[
    &["-F", "overhead,sample,period,comm,dso,sym"],
    &["-F", "overhead,overhead_sys,overhead_us,dso"],
    &["-F", "+period", "-s", "sym"],
    &["-n", "--show-total-period", "-s", "comm,dso"],
    &["--show-cpu-utilization", "-s", "comm"],
];

/// Each way in which trees are written.
const TREES: &[&str] = &["graph,2", "folded"];

const OTHER_TREES: &[&str] = &["fractal,0.5", "flat", "graph,count,0.2"];

/// Compares everything that every recording has.
#[track_caller]
fn all(mut crossed: Crossed, name: &str) {
    crossed.keys(KEYS);
    crossed.fields(FIELDS);
    crossed.trees(TREES);
    // What filters do hardly depends on the program: perf takes a minute for those of each.
    if matches!(name, "C++" | "tracepoints") || is_wide() {
        crossed.filters(&["relative"]);
    }
    crossed.named();
    crossed.sums();
    crossed.finish(name, [20, 1]);
}

/// A program that is made so, as perf records it.
fn recorded(make: impl FnOnce(&Path), events: &[&str]) -> Option<(Program, Crossed)> {
    needs!(perf);
    let program = Program::made(make)?;
    let options = [SAMPLED, events].concat();
    let recording = program.record_by_perf(&options, &["2"]);
    let crossed = Crossed::new(&recording.file, "comm,dso,sym");
    Some((program, crossed))
}

fn make_cpp(program: &Path) {
    let source = fixtures().join("workloads/deep.cpp");
    let mut compiler = tool("c++");
    compiler.args(["-O1", "-g", "-fno-omit-frame-pointer", "-o"]);
    run(compiler.arg(program).arg(source)).ok();
}

#[test]
fn a_cpp_program_is_as_perf_has_it() {
    needs!("c++" in "g++");
    let Some((_program, mut crossed)) = recorded(make_cpp, CLOCK) else {
        return;
    };
    crossed.keys(SAMPLED_KEYS);
    crossed.trees(OTHER_TREES);
    crossed.filters(&["absolute"]);
    all(crossed, "C++");
}

/// Closures, generics and the standard library's containers.
const RUST: &str = r#"
    use std::collections::{BTreeMap, HashMap};
    use std::hint::black_box;
    extern "C" { fn clock() -> i64; }
    // SAFETY: it takes nothing, and only asks for the time.
    fn now() -> i64 { unsafe { clock() } }
    #[inline(never)] fn next(state: &mut u64) -> u64 { *state ^= *state << 13; *state ^= *state >> 7; *state ^= *state << 17; *state }
    #[inline(never)] fn sorted<T: Ord>(mut items: Vec<T>) -> Vec<T> { items.sort(); items }
    #[inline(never)] fn word(bits: u64) -> String { (0..8).map(|i| char::from(b'a' + (bits >> i) as u8 % 2)).collect() }
    #[inline(never)] fn count(state: &mut u64) -> usize {
        let mut words = HashMap::new();
        for _ in 0..500 { *words.entry(word(next(state))).or_insert(0) += 1; }
        words.into_iter().collect::<BTreeMap<String, i32>>().len()
    }
    fn main() {
        let mut state = 88172645463325252;
        let end = now() + 400_000;
        while now() < end {
            // perf has no names for the vdso: the clock is hardly asked.
            for _ in 0..16 {
                black_box(sorted((0..2000).map(|_| next(&mut state)).collect()));
                black_box(count(&mut state));
            }
        }
    }"#;

fn make_rust(program: &Path) {
    let source = program.with_extension("rs");
    write(&source, RUST.as_bytes());
    let mut rustc = tool("rustc");
    rustc.args(["-O", "-g", "-C", "force-frame-pointers=yes", "-o"]);
    run(rustc.arg(program).arg(&source)).ok();
}

#[test]
fn a_rust_program_is_as_perf_has_it() {
    needs!("rustc" in "rustc");
    let Some((_program, crossed)) = recorded(make_rust, CLOCK) else {
        return;
    };
    all(crossed.mangled(), "Rust");
}

/// A package of two files; the program builds it.
fn make_build(program: &Path) {
    let package = program.with_extension("package");
    std::fs::create_dir_all(package.join("src")).unwrap();
    let manifest = b"[package]\nname = \"built\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    write(&package.join("Cargo.toml"), manifest);
    write(
        &package.join("src/lib.rs"),
        b"pub fn one() -> String { 1.to_string() }\n",
    );
    let main = b"fn main() { println!(\"{}\", built::one()); }\n";
    write(&package.join("src/main.rs"), main);
    let package = package.display();
    let script = format!("#!/bin/sh\ncd '{package}' && exec cargo build -q --offline\n");
    make_script(program, &script);
}

fn make_script(program: &Path, script: &str) {
    write(program, script.as_bytes());
    std::fs::set_permissions(program, Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_build_by_cargo_is_as_perf_has_it() {
    needs!("rustc" in "rustc", "cargo" in "cargo");
    // Compilers have no frame pointers: their chains are garbage, which each tool takes for something else.
    let events = [CLOCK, &["--kernel-callchains"]].concat();
    let Some((_program, mut crossed)) = recorded(make_build, &events) else {
        return;
    };
    // perf takes seconds for each table: it reads all symbols of the compiler.
    crossed.keys(&["comm,dso,sym", "pid,cpu", "time,dso"]);
    crossed.sums();
    crossed.finish("cargo build", [3, 0]);
}

/// Three hundred processes that begin and end.
const FORKS: &str = "#!/bin/sh
i=0
while [ $i -lt 300 ]; do
    (j=0; while [ $j -lt 99 ]; do j=$((j + 1)); done)
    i=$((i + 1))
done
";

#[test]
fn a_storm_of_forks_is_as_perf_has_it() {
    let make = |program: &Path| make_script(program, FORKS);
    let Some((_program, crossed)) = recorded(make, CLOCK) else {
        return;
    };
    all(crossed, "forks");
}

#[test]
fn page_faults_are_as_perf_has_them() {
    let events = ["-e", "page-faults", "-c", "1", "-d"];
    let make = |program: &Path| make_script(program, FORKS);
    let Some((_program, mut crossed)) = recorded(make, &events) else {
        return;
    };
    crossed.keys(SAMPLED_KEYS);
    all(crossed, "page faults");
}

#[test]
fn a_group_of_events_is_as_perf_has_it() {
    needs!("c++" in "g++");
    let events = ["-F", "1999", "-e", "{cpu-clock,page-faults}"];
    let Some((_program, crossed)) = recorded(make_cpp, &events) else {
        return;
    };
    all(crossed, "group");
}

#[test]
fn tracepoints_are_as_perf_has_them() {
    let Some(tracefs) = tracefs() else {
        return;
    };
    needs!(perf);
    let Some(program) = Program::made(|program| make_script(program, FORKS)) else {
        return;
    };
    let events = [
        "-e",
        "sched:sched_process_fork",
        "-e",
        "sched:sched_process_exit",
    ];
    let options = [&events[..], &["-g", "--sample-cpu", "-T"]].concat();
    let recording = program.recorded(&mut tracefs.within(&program.perf(&options, &[])));
    let mut crossed = Crossed::new(&recording.file, "comm,dso,sym");
    crossed.keys(&["comm,parent_comm", "sched_process_exit.prio,comm"]);
    all(crossed, "tracepoints");
}

/// Recordings that perf 6.1 reads whole. Of others it cuts names of threads, or leaves out names of the kernel.
const OF_OTHERS: &[&str] = &[
    "autofdo/ro_sample.perf",
    "big-endian/perf.data.singleprocess-3.8.be",
    "quipper/perf.data.branch-4.14",
    "quipper/perf.data.ctx_switch_namespaces-4.14",
    "quipper/perf.data.group_desc-4.14",
    "quipper/perf.data.piped.header_features-4.16",
    "quipper/perf.data.piped.lost_samples-4.4",
    "quipper/perf.data.remmap-3.2",
    "quipper/perf.data.singleprocess-3.8",
];

#[test]
fn recordings_of_others_are_as_perf_has_them() {
    let Some(corpus) = corpus() else {
        return;
    };
    needs!(perf);
    for name in OF_OTHERS {
        let mut crossed = Crossed::new(&corpus.join(name), "comm,dso");
        crossed.keys(&["comm", "dso", "comm,dso", "pid", "pid,dso"]);
        crossed.trees(&["graph", "folded"]);
        crossed.sums();
        // What filters leave of them is compared elsewhere, by keys that suit each.
        crossed.finish(name, [5, 0]);
    }
}
