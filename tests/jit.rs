//! Code made at run time has the names that its makers leave behind: maps and logs by programs
//! compiled here, and by node.

mod fixes;

use crate::common;
use crate::common::{compile_c, has, needs, report, rprof, run, scratch, tool};
use std::path::{Path, PathBuf};

/// Removes what a process left in /tmp, by convention.
struct Left(PathBuf);

impl Drop for Left {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Two copies of a function, in memory of their own, called one after the other: `map` says what
/// they are called.
const MAPPED: &str = r#"
    #define _GNU_SOURCE
    #include <stdio.h>
    #include <string.h>
    #include <sys/mman.h>
    #include <unistd.h>
    /* for (n = rdi; n; n--) */
    static const unsigned char code[] = {0x48, 0x83, 0xef, 0x01, 0x75, 0xfa, 0xc3};
    static void call(unsigned char *at, long ms) {
        for (long end = CPU_US() + ms * 1000; CPU_US() < end;) ((void (*)(unsigned long))at)(1000000);
    }
    int main(int n_args, char **args) {
        char path[64];
        unsigned char *at = mmap(0, 0x2000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        unsigned char *two = at + 0x1000;
        memcpy(at, code, sizeof code);
        memcpy(two, code, sizeof code);
        mprotect(at, 0x2000, PROT_READ | PROT_EXEC);
        snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
        FILE *map = n_args > 1 ? fopen(path, "w") : fopen("/dev/null", "w");
        fprintf(map, "%lx %lx first function\n", (long)at, (long)sizeof code);
        fprintf(map, "%lx %lx %s function\n", (long)two, (long)sizeof code, n_args > 2 ? "first" : "second");
        fprintf(map, "nonsense\n");
        fclose(map);
        puts(path);
        call(at, 300);
        call(two, 100);
        return 0;
    }"#;

/// Records a command; returns the recording and what the command printed.
fn recorded(dir: &Path, command: &[&str]) -> (PathBuf, String) {
    let file = dir.join("perf.data");
    let mut record = rprof(["record", "-q", "-e", "cpu-clock", "-F", "1999", "-o"]);
    record.arg(&file).arg("--").args(command).current_dir(dir);
    (file, run(&mut record).ok().stdout)
}

/// The share of a row with this symbol, in percent.
fn share(table: &str, symbol: &str) -> f64 {
    let mut rows = table.lines().filter(|line| line.ends_with(symbol));
    let row = rows
        .next()
        .unwrap_or_else(|| panic!("no {symbol} in\n{table}"));
    let number = row.split_whitespace().next().unwrap();
    number.trim_end_matches('%').parse().unwrap()
}

const FLAT: [&str; 3] = ["--no-children", "-g", "none"];

/// The next colour in a picture.
fn fill(svg: &str) -> [u8; 3] {
    let rgb = svg.split("fill=\"rgb(").nth(1).unwrap();
    let mut parts = rgb.split([',', ')']).map(|part| part.parse().unwrap());
    [(); 3].map(|()| parts.next().unwrap())
}

#[test]
fn functions_of_a_map_have_its_names_and_perf_agrees() {
    needs!(x86_64, cc, live);
    let dir = scratch();
    let program = compile_c(dir.path(), "mapped", MAPPED);
    let (file, said) = recorded(dir.path(), &[program.to_str().unwrap(), "map"]);
    let map = Left(PathBuf::from(said.trim()));
    let table = report(&file, &FLAT);
    let (first, second) = (
        share(&table, "first function"),
        share(&table, "second function"),
    );
    assert!(first > second && second > 0.0, "{table}");
    assert!(table.contains("[JIT] tid "), "{table}");
    let mut warned = rprof(["report", "-i"]);
    let warned = run(warned.arg(&file)).ok().stderr;
    assert!(
        warned.contains(".map: 1 malformed line is ignored"),
        "{warned}"
    );
    let picture = run(rprof(["flame"]).arg(&file)).ok().stdout;
    let first = picture.split("<title>first function (").nth(1).unwrap();
    let [red, green, blue] = fill(first);
    assert!(green > red && green > blue, "{first}");
    if has("perf", "linux-perf") {
        let mut perf = common::perf(["report", "--stdio", "-i"]);
        let perf = run(perf.arg(&file).args(FLAT)).ok();
        for name in ["first function", "second function"] {
            let row = |table: &str| {
                let mut rows = table.lines().map(str::trim_end);
                let row = rows.find(|line| line.ends_with(name));
                row.map(|row| row.split_whitespace().collect::<Vec<_>>().join(" "))
            };
            assert_eq!(row(&table), row(&perf.stdout), "{table}{}", perf.stdout);
        }
    }
    a_map_counts_only_if_it_can_be_the_processs(dir.path(), &file, &map.0);
}

#[test]
fn versions_of_a_function_are_one_row_unless_told_apart() {
    needs!(x86_64, cc, live);
    let dir = scratch();
    let program = compile_c(dir.path(), "mapped", MAPPED);
    let command = [program.to_str().unwrap(), "map", "again"];
    let (file, said) = recorded(dir.path(), &command);
    let _map = Left(PathBuf::from(said.trim()));
    let samples = |fields: &str| -> Vec<u64> {
        let table = report(&file, &[&FLAT[..], &["-t", ";", "-F", fields]].concat());
        let rows = table.lines().filter(|line| line.contains("first function"));
        let samples = rows.map(|row| row.split(';').next().unwrap().trim().parse().unwrap());
        samples.collect()
    };
    let together = samples("sample,sym");
    assert_eq!(together.len(), 1);
    let apart = samples("sample,sym,symbol_start");
    assert_eq!((apart.len(), apart.iter().sum()), (2, together[0]));
}

/// A file under the right name is not always the right file.
fn a_map_counts_only_if_it_can_be_the_processs(dir: &Path, file: &Path, map: &Path) {
    let text = std::fs::read(map).unwrap();
    let touch = |when: &str| run(tool("touch").args(["-d", when]).arg(map)).ok();
    for when in ["1 hour ago", "1 hour"] {
        touch(when);
        let table = report(file, &FLAT);
        assert!(!table.contains("first function"), "{when}: {table}");
        assert!(
            table.contains("written by another process with the same id"),
            "{when}: {table}"
        );
    }
    // Who says where to look knows.
    let root = dir.join("root");
    std::fs::create_dir_all(root.join("tmp")).unwrap();
    let symfs = ["--symfs", root.to_str().unwrap()];
    let args = [FLAT.as_slice(), &symfs].concat();
    let table = report(file, &args);
    assert!(
        table.contains("JIT code, and no file with its names"),
        "{table}"
    );
    std::fs::write(root.join("tmp").join(map.file_name().unwrap()), text).unwrap();
    assert!(report(file, &args).contains("first function"));
}

#[test]
fn code_without_a_map_says_how_to_get_one() {
    needs!(x86_64, cc, alone);
    let dir = scratch();
    let program = compile_c(dir.path(), "mapped", MAPPED);
    let (file, said) = recorded(dir.path(), &[program.to_str().unwrap()]);
    let table = report(&file, &FLAT);
    let hint = format!("{}: JIT code, and no file with its names", said.trim());
    let line = table.lines().find(|line| line.contains(&hint));
    let line = line.unwrap_or_else(|| panic!("{hint}\n{table}"));
    let fix =
        "; fix: node --perf-basic-prof, java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit";
    assert!(line.contains(fix), "{line}");
}

/// A function is loaded, moved, and another one is loaded where it was: each runs for a while.
const LOGGED: &str = r#"
    #define _GNU_SOURCE
    #include <fcntl.h>
    #include <stdint.h>
    #include <stdio.h>
    #include <string.h>
    #include <sys/mman.h>
    #include <time.h>
    #include <unistd.h>
    static const unsigned char code[] = {0x48, 0x83, 0xef, 0x01, 0x75, 0xfa, 0xc3};
    static FILE *dump;
    static uint64_t now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000ull + t.tv_nsec; }
    static void u32(uint32_t n) { fwrite(&n, 4, 1, dump); }
    static void u64(uint64_t n) { fwrite(&n, 8, 1, dump); }
    static void load(unsigned char *at, uint64_t index, const char *name, uint32_t line) {
        u32(2); u32(32 + 16 + 7); u64(now()); u64((uint64_t)at); u64(1);
        u64((uint64_t)at); u32(line); u32(0); fwrite("made.c", 7, 1, dump);
        u32(0); u32(56 + strlen(name) + 1 + sizeof code); u64(now());
        u32(getpid()); u32(getpid()); u64((uint64_t)at); u64((uint64_t)at); u64(sizeof code); u64(index);
        fwrite(name, strlen(name) + 1, 1, dump); fwrite(code, sizeof code, 1, dump);
        fflush(dump);
    }
    static void move(unsigned char *from, unsigned char *to, uint64_t index) {
        u32(1); u32(64); u64(now());
        u32(getpid()); u32(getpid()); u64((uint64_t)to); u64((uint64_t)from); u64((uint64_t)to); u64(sizeof code); u64(index);
        fflush(dump);
    }
    static void call(unsigned char *at, long ms) {
        for (long end = CPU_US() + ms * 1000; CPU_US() < end;) ((void (*)(unsigned long))at)(1000000);
    }
    int main(void) {
        char path[64];
        snprintf(path, sizeof path, "jit-%d.dump", getpid());
        dump = fopen(path, "w+");
        mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0);
        u32(0x4a695444); u32(1); u32(40); u32(62); u32(0); u32(getpid()); u64(now()); u64(0);
        unsigned char *at = mmap(0, 0x2000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memcpy(at, code, sizeof code);
        memcpy(at + 0x1000, code, sizeof code);
        mprotect(at, 0x2000, PROT_READ | PROT_EXEC);
        load(at, 1, "wanderer", 11);
        call(at, 150);
        mprotect(at, 0x2000, PROT_READ | PROT_WRITE);
        mprotect(at, 0x2000, PROT_READ | PROT_EXEC);
        call(at, 150);
        move(at, at + 0x1000, 1);
        load(at, 2, "successor", 22);
        call(at + 0x1000, 150);
        call(at, 150);
        fclose(dump);
        return 0;
    }"#;

#[test]
fn an_address_is_called_what_was_there_at_the_time() {
    needs!(x86_64, cc, live);
    let dir = scratch();
    let program = compile_c(dir.path(), "logged", LOGGED);
    let (file, _) = recorded(dir.path(), &[program.to_str().unwrap()]);
    let table = report(&file, &FLAT);
    let (old, new) = (share(&table, "wanderer"), share(&table, "successor"));
    // Three parts of four, but for what the program does besides.
    assert!(old > 2.0 * new && new > 15.0 && old + new > 90.0, "{table}");
    let mut script = rprof(["script", "-F", "sw:ip,sym,srcline", "-i"]);
    let lines = run(script.arg(&file)).ok().stdout;
    let follows = |name: &str, line: &str| {
        let mut pairs = lines.lines().zip(lines.lines().skip(1));
        pairs.any(|(one, next)| one.ends_with(name) && next.trim() == line)
    };
    assert!(follows("wanderer", "made.c:11"), "{lines}");
    assert!(follows("successor", "made.c:22"), "{lines}");
    let mut annotate = rprof(["annotate", "-q", "wanderer", "-i"]);
    let code = run(annotate.arg(&file)).ok().stdout;
    let rows = ["sub    $0x1,%rdi", "jne    ", "ret", "made.c:11"];
    assert!(rows.iter().all(|row| code.contains(row)), "{code}");
    // Both were at one address: each has its own samples and lines.
    let mut annotate = rprof(["annotate", "-q", "--format", "json", "--share", "100", "-i"]);
    let code = run(annotate.arg(&file)).ok().stdout;
    let code: serde_json::Value = serde_json::from_str(&code).unwrap();
    for (name, line) in [("wanderer", 11), ("successor", 22)] {
        let all = code["functions"].as_array().unwrap();
        let found = all.iter().find(|one| one["name"] == name).unwrap();
        let rows = found["instructions"].as_array().unwrap();
        let counts = rows.iter().map(|row| row["counts"][0]["samples"].as_u64());
        let sum: u64 = counts.flatten().sum();
        assert_eq!(Some(sum), found["events"][0]["samples"].as_u64());
        let lines = found["lines"].as_array().unwrap();
        assert_eq!((lines.len(), &lines[0]["line"]), (1, &line.into()));
    }
    // Without the log there are no names, and never those of another file under its name.
    let log = std::fs::read_dir(dir.path()).unwrap().flatten();
    let log = log
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|end| end == "dump"));
    let log = log.unwrap();
    std::fs::rename(&log, dir.path().join("log")).unwrap();
    std::fs::copy(dir.path().join("log"), &log).unwrap();
    let mut other = rprof(["report", "-i"]);
    let other = run(other.arg(&file).args(FLAT)).ok();
    assert!(!other.stdout.contains("wanderer"), "{}", other.stdout);
    assert!(
        other.stderr.contains("replaced by another file"),
        "{}",
        other.stderr
    );
    let symfs = [FLAT.as_slice(), &["--symfs", "/"]].concat();
    assert!(report(&file, &symfs).contains("wanderer"));
    let bytes = std::fs::read(&log).unwrap();
    let said = |damaged: &[u8]| {
        std::fs::write(&log, damaged).unwrap();
        let mut report = rprof(["report", "--symfs", "/", "-i"]);
        run(report.arg(&file).args(FLAT)).ok()
    };
    let cut = said(&bytes[..bytes.len() - 3]);
    assert!(cut.stdout.contains("wanderer") && !cut.stdout.contains("successor"));
    assert!(cut.stderr.contains("no complete record"), "{}", cut.stderr);
    let name = bytes.windows(10).position(|text| text == b"successor\0");
    let mut torn = bytes.clone();
    torn[name.unwrap() + 9] = b'x';
    let torn = said(&torn);
    assert!(!torn.stdout.contains("successor"), "{}", torn.stdout);
    assert!(
        torn.stderr.contains("1 record is damaged"),
        "{}",
        torn.stderr
    );
    assert!(!said(&bytes).stderr.contains("damaged"));
    // A recording that carries its names does without the log, and still knows the times.
    run(rprof(["symbols", "--embed", "--symfs", "/", "-i"]).arg(&file)).ok();
    std::fs::remove_file(&log).unwrap();
    let mut embedded = rprof(["report", "--symfs", "/nonexistent", "-i"]);
    let embedded = run(embedded.arg(&file).args(FLAT)).ok();
    assert_eq!(embedded.stdout, table);
    assert!(!embedded.stderr.contains("no names"), "{}", embedded.stderr);
}

#[test]
fn perf_inject_sees_the_same_in_a_log() {
    needs!(x86_64, cc, perf, alone);
    let dir = scratch();
    let program = compile_c(dir.path(), "logged", LOGGED);
    let perf = |args: &[&str]| run(common::perf(args).current_dir(dir.path())).ok();
    let program = program.to_str().unwrap();
    perf(&[
        "record",
        "-q",
        "-e",
        "cpu-clock",
        "-k",
        "mono",
        "-F",
        "1999",
        "-o",
        "perf.data",
        program,
    ]);
    perf(&["inject", "-j", "-i", "perf.data", "-o", "injected.data"]);
    let theirs = perf(&[
        "report",
        "--stdio",
        "-i",
        "injected.data",
        "--no-children",
        "-s",
        "sym",
    ])
    .stdout;
    let ours = report(
        &dir.path().join("perf.data"),
        &["--no-children", "-s", "sym"],
    );
    for name in ["wanderer", "successor"] {
        let difference = share(&ours, name) - share(&theirs, name);
        assert!(difference.abs() < 0.02, "{ours}\n{theirs}");
    }
    // Times of another clock say nothing.
    perf(&[
        "record",
        "-q",
        "-e",
        "cpu-clock",
        "-F",
        "1999",
        "-o",
        "perf.data",
        program,
    ]);
    let mut other = rprof(["report", "--no-children", "-s", "sym", "-i", "perf.data"]);
    let other = run(other.current_dir(dir.path())).ok();
    assert!(
        other.stderr.contains("record with -k mono"),
        "{}",
        other.stderr
    );
    let (old, new) = (
        share(&other.stdout, "wanderer"),
        share(&other.stdout, "successor"),
    );
    assert!(old < new, "{}", other.stdout);
}

const HOT: &str = "
    function hotFunction(n) { let s = 0; for (let i = 0; i < n; i++) s += Math.sqrt(i) * (i % 7); return s; }
    let sum = 0;
    while (process.cpuUsage().user < 1000000) sum += hotFunction(100000);
    console.log(process.pid);";

#[test]
fn functions_of_node_are_named() {
    needs!("node" in "nodejs", live);
    let dir = scratch();
    std::fs::write(dir.path().join("hot.js"), HOT).unwrap();
    for option in ["--perf-basic-prof", "--perf-prof"] {
        let (file, said) = recorded(dir.path(), &["node", option, "hot.js"]);
        let _left = Left(PathBuf::from(format!("/tmp/perf-{}.map", said.trim())));
        let table = report(&file, &["--no-children", "-g", "none", "-s", "sym"]);
        let hot = table.lines().find(|line| line.contains("JS:*hotFunction "));
        let hot = hot.unwrap_or_else(|| panic!("{option}\n{table}"));
        let percent: f64 = hot.split('%').next().unwrap().trim().parse().unwrap();
        assert!(percent > 30.0, "{option}\n{table}");
    }
}
