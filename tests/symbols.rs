//! Names that a recording carries, where names come from, and what is said of those that are
//! missing.

use crate::common;
use crate::common::{
    Ran, copy_of_rprof, fixtures, links, needs, report, rprof, run, scratch, tool,
};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// `work` is called by `main` and has `inner` inlined. What is called of libc stays in `.dynsym`.
const PROGRAM: &str = "
    static inline __attribute__((always_inline)) unsigned inner(unsigned n) { return n * 2654435761u + 7; }
    __attribute__((noinline)) unsigned work(unsigned n) { unsigned s = n; WORK(300, s = inner(s + i)) return s; }
    int getpid(void);
    int main(void) { return work(getpid()) == (unsigned)getpid(); }";

fn compile(dir: &Path, source: &str, options: &[&str]) -> PathBuf {
    let output = dir.join("program");
    let options = [&["-O1", "-g", "-Wl,--build-id"], options].concat();
    common::compile(&output, source, &options);
    output
}

/// Records the program below a folder.
fn record(dir: &Path, options: &[&str]) -> (PathBuf, Ran) {
    let file = dir.join("perf.data");
    let mut record = rprof(["record", "-e", "cpu-clock", "-F", "1999", "-o"]);
    record.arg(&file).args(options).arg("--");
    (file, run(record.arg(dir.join("program"))).ok())
}

const FLAT: [&str; 3] = ["--no-children", "-g", "none"];

/// All that is made of a recording, on a machine that has none of its files.
fn read_all(file: &Path, args: &[&str]) -> Vec<String> {
    let outputs: [&[&str]; 5] = [
        &["report"],
        &["report", "--no-children", "-g", "none"],
        &["report", "--no-inline"],
        &["flame", "--folded"],
        &["script", "-F", "+srcline"],
    ];
    let read = |output: &&[&str]| {
        let mut rprof = rprof(*output);
        run(rprof.arg("-i").arg(file).args(args)).ok().stdout
    };
    outputs.iter().map(read).collect()
}

#[track_caller]
fn assert_same(here: &[String], there: &[String]) {
    for (here, there) in here.iter().zip(there) {
        assert!(here == there, "--- here\n{here}\n--- there\n{there}");
    }
}

#[test]
fn a_recording_with_names_reads_the_same_without_the_files() {
    needs!(cc, live);
    let dir = scratch();
    let program = compile(dir.path(), PROGRAM, &[]);
    let (file, _) = record(dir.path(), &[]);
    let here = read_all(&file, &[]);
    assert!(here[0].contains("inner (inlined)"), "{}", here[0]);
    assert!(here[4].contains("program.c:"), "{}", here[4]);
    let theirs = perf_reads(&file);
    let said = run(rprof(["symbols", "--embed", "-i"]).arg(&file)).ok();
    assert!(
        said.stderr.contains("addresses in the file"),
        "{}",
        said.stderr
    );
    assert_eq!(perf_reads(&file), theirs);
    assert_same(&here, &read_all(&file, &[]));
    std::fs::remove_file(&program).unwrap();
    let nowhere = ["--symfs", "/nonexistent"];
    assert_same(&here, &read_all(&file, &nowhere));
    // Once more, from what is embedded alone.
    run(rprof(["symbols", "--embed", "-i"]).arg(&file).args(nowhere)).ok();
    assert_same(&here, &read_all(&file, &nowhere));
    let said = run(rprof(["symbols", "-i"]).arg(&file).args(nowhere)).ok();
    let own = said.stdout.split(program.to_str().unwrap()).nth(1).unwrap();
    let gives = own.lines().find(|line| line.contains("gives")).unwrap();
    assert!(gives.ends_with(" embedded"), "{}", said.stdout);
}

/// What perf makes of a file, if it is there.
fn perf_reads(file: &Path) -> Option<String> {
    needs!(perf);
    let table = run(common::perf(["report", "--stdio", "-i"]).arg(file)).ok();
    assert!(table.stdout.contains("work"), "{}", table.stdout);
    // perf ends with a tip, another one each time.
    let lines = table.stdout.lines();
    Some(lines.filter(|line| !line.starts_with("# (Tip: ")).collect())
}

#[test]
fn names_are_embedded_while_recording() {
    needs!(cc, live);
    let dir = scratch();
    let program = compile(dir.path(), PROGRAM, &[]);
    let (file, said) = record(dir.path(), &["--embed-symbols"]);
    assert!(
        said.stderr.contains("addresses in the file"),
        "{}",
        said.stderr
    );
    std::fs::remove_file(program).unwrap();
    let table = report(&file, &["--symfs", "/nonexistent", "--no-children"]);
    assert!(
        table.contains("inner (inlined)") && table.contains("main"),
        "{table}"
    );
    let info = run(rprof(["info", "--json", "-i"]).arg(&file)).ok().stdout;
    let info: serde_json::Value = serde_json::from_str(&info).unwrap();
    let images = info["features"]["symbols"]["images"].as_array().unwrap();
    assert!(
        images.iter().any(|image| image["named"].as_u64() > Some(0)),
        "{info}"
    );
    assert_eq!(info["warnings"].as_array().unwrap().len(), 0, "{info}");
}

#[test]
fn files_by_perf_take_names_too_and_perf_reads_them_as_before() {
    needs!(cc, perf, alone);
    let dir = scratch();
    let program = compile(dir.path(), PROGRAM, &["-fno-omit-frame-pointer"]);
    let file = dir.path().join("perf.data");
    let mut perf = common::perf(["record", "-q", "-g", "-e", "cpu-clock", "-F", "1999", "-o"]);
    run(perf.arg(&file).arg("--").arg(&program)).ok();
    let (here, theirs) = (read_all(&file, &[]), perf_reads(&file));
    run(rprof(["symbols", "--embed", "-i"]).arg(&file)).ok();
    assert_eq!(perf_reads(&file), theirs);
    std::fs::remove_file(&program).unwrap();
    assert_same(&here, &read_all(&file, &["--symfs", "/nonexistent"]));
}

#[test]
fn what_has_no_place_for_names_says_so_and_stays_as_it_is() {
    let forms = fixtures().join("forms");
    let dir = scratch();
    let file = dir.path().join("perf.data");
    let embed = |path: &Path| run(rprof(["symbols", "--embed", "-i"]).arg(path));
    std::fs::copy(forms.join("piped.data"), &file).unwrap();
    let error = embed(&file).fails(1);
    assert!(error.contains("recorded through a pipe"), "{error}");
    assert!(std::fs::read(&file).unwrap() == std::fs::read(forms.join("piped.data")).unwrap());
    // Killed while it recorded: the size of the data was never written.
    let mut bytes = std::fs::read(fixtures().join("spin/perf.data")).unwrap();
    bytes[48..56].fill(0);
    common::write(&file, &bytes);
    let error = embed(&file).fails(1);
    assert!(error.contains("never finished"), "{error}");
    assert!(std::fs::read(&file).unwrap() == bytes);
    // A new file has it, with all that the old one had.
    let script = |path: &Path| {
        let fields = ["script", "-F", "comm,pid,tid,time,event,ip,dso", "-i"];
        run(rprof(fields).arg(path)).ok().stdout
    };
    for old in [&file, &forms.join("piped-compressed.data")] {
        let new = dir.path().join("new");
        let mut embed = rprof(["symbols", "--embed", "-i"]);
        run(embed.arg(old).arg("-o").arg(&new)).ok();
        let info = run(rprof(["info", "-i"]).arg(&new)).ok();
        assert!(info.stdout.contains("symbols:"), "{}", info.stdout);
        assert_eq!(info.stderr, "");
        assert_eq!(script(&new), script(old));
    }
    // Compressed, and a directory: they have.
    std::fs::copy(forms.join("compressed.data"), &file).unwrap();
    embed(&file).ok();
    let parts = dir.path().join("directory");
    std::fs::create_dir(&parts).unwrap();
    for part in forms.join("directory").read_dir().unwrap().flatten() {
        std::fs::copy(part.path(), parts.join(part.file_name())).unwrap();
    }
    embed(&parts).ok();
    for path in [&file, &parts] {
        let info = run(rprof(["info", "-i"]).arg(path)).ok().stdout;
        assert!(info.contains("symbols:"), "{info}");
    }
}

#[test]
fn damaged_names_are_not_used_and_said_to_be_damaged() {
    let spin = fixtures().join("spin");
    let dir = scratch();
    let file = dir.path().join("perf.data");
    std::fs::copy(spin.join("perf.data"), &file).unwrap();
    let root = ["--symfs".into(), spin.join("root").into_os_string()];
    let read = |file: &Path| run(rprof(["report", "-i"]).arg(file).args(&root)).ok();
    let whole = read(&file);
    run(rprof(["symbols", "--embed", "-i"]).arg(&file).args(&root)).ok();
    let mut bytes = std::fs::read(&file).unwrap();
    let end = bytes.len();
    bytes[end - 40..].fill(0xff);
    common::write(&file, &bytes);
    let damaged = read(&file);
    assert!(
        damaged
            .stderr
            .contains("names in the recording are damaged"),
        "{}",
        damaged.stderr
    );
    assert_eq!(damaged.stdout, whole.stdout);
}

#[test]
fn copies_of_stacks_still_need_the_binaries_and_that_is_said() {
    let walk = fixtures().join("dwarf");
    let dir = scratch();
    let file = dir.path().join("perf.data");
    std::fs::copy(walk.join("perf.data"), &file).unwrap();
    let root = ["--symfs".into(), walk.join("root").into_os_string()];
    let said = run(rprof(["symbols", "--embed", "-i"]).arg(&file).args(&root)).ok();
    assert!(
        said.stderr.contains("the binaries are still needed"),
        "{}",
        said.stderr
    );
    let table = run(rprof(["report", "-i"]).arg(&file).args(&root))
        .ok()
        .stdout;
    assert_eq!(
        table,
        std::fs::read_to_string(walk.join("report.txt")).unwrap()
    );
}

/// A file with everything at its path that is not what was recorded.
#[test]
fn each_missing_name_has_its_reason_and_what_mends_it() {
    needs!(cc, "strip" in "binutils", live);
    let dir = scratch();
    let program = compile(dir.path(), PROGRAM, &[]);
    let path = program.to_str().unwrap().to_owned();
    let (file, _) = record(dir.path(), &[]);
    assert!(!report(&file, &FLAT).contains(&path));
    // Every reader says the same.
    let said = |why: &str, fix: &str| {
        let line = format!("{path}: {why}");
        for args in [&["report"][..], &["report", "--stats"]] {
            let text = run(rprof(args).arg("-i").arg(&file)).ok().stdout;
            let found = text.lines().find(|one| one.contains(&line));
            let found = found.unwrap_or_else(|| panic!("{line}\n{text}"));
            assert!(found.contains(fix), "{found}");
        }
        let flame = run(rprof(["flame", "--folded", "-i"]).arg(&file)).ok();
        assert!(flame.stderr.contains(&line), "{line}\n{}", flame.stderr);
        let table = run(rprof(["symbols", "-i"]).arg(&file)).ok().stdout;
        let own = table.split(&path).nth(1).unwrap();
        assert!(own.contains(&format!("why not  {why}")), "{why}\n{table}");
        assert!(
            own.contains(&format!("fix      {fix}")) || fix.is_empty(),
            "{fix}\n{table}"
        );
    };
    run(tool("strip").arg(&program)).ok();
    said(
        "only exported functions have names (stripped)",
        "build it with -g",
    );
    let stripped = std::fs::read(&program).unwrap();
    compile(dir.path(), &PROGRAM.replace('7', "9"), &[]);
    said(
        "changed since the recording: expected build id ",
        "record again",
    );
    common::write(&program, b"no program");
    said("not an ELF file", "");
    std::fs::remove_file(&program).unwrap();
    said("file not found", "use --symfs DIR");
    run(tool("mkfifo").arg(&program)).ok();
    said("not a regular file", "");
    std::fs::remove_file(&program).unwrap();
    common::write(&program, &stripped);
    another_user_may_not_read_it(&file, &program);
}

fn another_user_may_not_read_it(file: &Path, program: &Path) {
    needs!(root, "setpriv" in "util-linux");
    let dir = program.parent().unwrap();
    let mode = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(dir, 0o755);
    mode(file, 0o644);
    mode(program, 0o600);
    // The binary under test may lie where only we come.
    let ours = copy_of_rprof(dir);
    mode(&ours, 0o755);
    let mut other = tool("setpriv");
    other.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
    other.arg(&ours).args(["report", "-i"]).arg(file);
    let table = run(other.args(FLAT)).ok().stdout;
    let line = format!(
        "{}: cannot be read: permission denied; fix: ",
        program.display()
    );
    assert!(table.contains(&line), "{table}");
}

#[test]
fn a_file_without_symbols_and_one_without_build_id_say_so() {
    if !links(&["-static"], "libc6-dev (libc.a)") {
        return;
    }
    needs!(live);
    let dir = scratch();
    let program = compile(dir.path(), PROGRAM, &["-static", "-s"]);
    let (file, _) = record(dir.path(), &[]);
    let table = report(&file, &FLAT);
    assert!(
        table.contains("the file has no symbols (stripped); fix: "),
        "{table}"
    );
    // Another file under the name; that of the recording had no build id.
    compile(dir.path(), PROGRAM, &["-Wl,--build-id=none"]);
    let (file, _) = record(dir.path(), &[]);
    let copy = dir.path().join("copy");
    std::fs::copy(&program, &copy).unwrap();
    std::fs::rename(&copy, &program).unwrap();
    let table = report(&file, &FLAT);
    assert!(table.contains("replaced by another file"), "{table}");
}

#[test]
fn symbols_shows_where_names_come_from() {
    let spin = fixtures().join("spin");
    let symbols = |args: &[&str]| {
        let mut symbols = rprof(["symbols", "-i"]);
        symbols.arg(spin.join("perf.data")).arg("--symfs");
        run(symbols.arg(spin.join("root")).args(args)).ok().stdout
    };
    let table = symbols(&[]);
    let own = table.split("/tmp/rprof-fixture/spin\n").nth(1).unwrap();
    assert!(own.contains("gives    symtab, inlines, lines"), "{table}");
    assert!(table.lines().all(|line| line.len() <= 160), "{table}");
    let json: serde_json::Value = serde_json::from_str(&symbols(&["--json"])).unwrap();
    assert_eq!(json["schema"], "rprof-symbols");
    let image = &json["images"][0];
    assert_eq!(image["path"], "/tmp/rprof-fixture/spin");
    assert_eq!(image["named"], image["addresses"]);
    let is_row = |line: &&str| line.contains('%') && !line.starts_with('#');
    let rows = |text: &str| text.lines().filter(is_row).count();
    let all = symbols(&["--all"]);
    assert_eq!(rows(&all), json["images"].as_array().unwrap().len());
    assert!(rows(&all) > rows(&table), "{all}");
}
