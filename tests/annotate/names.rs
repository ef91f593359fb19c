//! What functions, their parts and what they refer to are called.

use super::{functions, only, samples};
use crate::common::{self, Program, needs, rprof, run};
use serde_json::Value;
use std::path::Path;

/// `work` has a cold part, `inner` has no code of its own, and what `chosen` points to is not what the file says.
const PROGRAM: &str = r#"
    static volatile long sink;
    __attribute__((cold, noinline)) void rare(long n) { sink += n; }
    __attribute__((noinline)) void work(long n) {
        for (long i = 0; i < 2000; i++) sink += i * n;
        if (n & 1) { rare(n); for (long i = 0; i < 2000; i++) sink ^= i * n; rare(n); }
    }
    static void first() { sink = 1; }
    static void second() { for (long i = 0; i < 2000; i++) sink += i; }
    void (*chosen)() = first;
    static inline __attribute__((always_inline)) void inner(long n) {
        for (long i = 0; i < 2000; i++) sink += i ^ n;
    }
    __attribute__((noinline)) void outer(long n) { inner(n); sink++; }
    static inline __attribute__((always_inline)) long copied(long n) {
        for (long i = 0; i < 1000; i++) sink += i * 3;
        return n;
    }
    long (*kept)(long) = copied;
    __attribute__((noinline)) void one(long n) {
        sink += copied(n);
        sink ^= copied(n + 1);
    }
    __attribute__((noinline)) void two(long n) { sink += copied(n); }
    __attribute__((noinline)) long again(long n) { return kept(n) + 1; }
    int main(int argc, char **) {
        chosen = second;
        for (long end = CPU_US() + 400000; CPU_US() < end;) {
            work(sink | 1); outer(sink); chosen(); one(sink); two(sink);
            for (int i = 1; i < argc; i++) sink += again(sink);
        }
        return 0;
    }"#;

/// Compiled as C++, with the functions' own frames.
fn program() -> Option<Program> {
    needs!(x86_64, "g++" in "g++");
    Program::made(|path| {
        let options = ["-x", "c++", "-O2", "-g", "-no-pie", "-Wl,--build-id"];
        let input = path.with_extension("cc");
        std::fs::write(&input, format!("{}{PROGRAM}", common::work::C)).unwrap();
        let mut compiler = common::tool("g++");
        run(compiler.args(options).arg("-o").arg(path).arg(&input)).ok();
    })
}

fn symbols(function: &Value) -> Vec<&str> {
    let parts = function["parts"].as_array().unwrap().iter();
    parts.map(|part| part["symbol"].as_str().unwrap()).collect()
}

fn texts(function: &Value) -> Vec<&str> {
    let rows = function["instructions"].as_array().unwrap().iter();
    rows.map(|row| row["text"].as_str().unwrap()).collect()
}

#[test]
fn functions_of_cpp_have_their_cold_parts_and_answer_to_each_form_of_their_name() {
    let Some(program) = program() else {
        return;
    };
    let args = ["-q", "-e", "cpu-clock:u", "-F", "1999"];
    let file = program.record(&args, &[]).file;
    let work = only(&file, &["work"]);
    assert_eq!(symbols(&work), ["work", "work.cold"]);
    let jumps = texts(&work);
    assert!(
        jumps.iter().any(|text| text.ends_with("<work.cold>")),
        "{jumps:?}"
    );
    let in_cold = &work["parts"][1]["counts"][0]["samples"];
    assert!(in_cold.as_u64().unwrap() > 0, "{work}");
    for args in [
        &["work(long)", "--demangle", "full"][..],
        &["work", "--demangle", "full"],
        &["work", "--demangle", "no"],
        &["_Z4workl"],
        &["work.cold"],
        &["/^wor/"],
    ] {
        assert_eq!(samples(&only(&file, args)), samples(&work), "{args:?}");
    }
    let full = only(&file, &["work", "--demangle", "full"]);
    assert_eq!(full["name"], "work(long)");
}

#[test]
fn a_pointer_that_is_written_is_called_by_its_own_name() {
    let Some(program) = program() else {
        return;
    };
    let args = ["-q", "-e", "cpu-clock:u", "-F", "1999"];
    let file = program.record(&args, &[]).file;
    let main = only(&file, &["main"]);
    let texts = texts(&main);
    let calls: Vec<&&str> = texts
        .iter()
        .filter(|text| text.starts_with("call   *"))
        .collect();
    assert!(!calls.is_empty(), "{texts:?}");
    for call in calls {
        assert!(call.ends_with("<chosen>"), "{call}");
    }
    assert!(samples(&only(&file, &["second"])) > 0);
}

/// Samples of a function that was inlined, as its callers' listings count them.
fn inlined_samples(function: &Value, name: &str) -> u64 {
    let functions = function["functions"].as_array().unwrap().iter();
    let own = functions.filter(|one| one["function"] == name && one["inlined"] == true);
    own.map(|one| one["counts"][0]["samples"].as_u64().unwrap_or(0))
        .sum()
}

fn addresses(function: &Value) -> Vec<u64> {
    let rows = function["instructions"].as_array().unwrap().iter();
    rows.map(|row| row["address"].as_u64().unwrap()).collect()
}

/// Of each call site, the line and its samples.
fn call_sites(function: &Value) -> Vec<(u64, u64)> {
    let sites = function["call_sites"].as_array().unwrap().iter();
    let samples = |site: &Value| site["counts"][0]["samples"].as_u64().unwrap_or(0);
    let sites = sites.map(|site| (site["line"].as_u64().unwrap(), samples(site)));
    sites.collect()
}

#[test]
fn code_that_was_inlined_is_shown_where_it_is() {
    let Some(program) = program() else {
        return;
    };
    let args = ["-q", "-e", "cpu-clock:u", "-F", "1999"];
    let file = program.record(&args, &[]).file;
    let outer = only(&file, &["outer"]);
    let whole = addresses(&outer);
    for name in ["inner", "inn*", "_ZL5innerl"] {
        let inner = only(&file, &[name]);
        assert_eq!(
            (&inner["name"], &inner["inlined_into"]),
            (&"inner".into(), &"outer".into())
        );
        let own = addresses(&inner);
        assert!(
            own.len() < whole.len() && own.iter().all(|at| whole.contains(at)),
            "{own:?}"
        );
        assert_eq!(samples(&inner), inlined_samples(&outer, "inner"), "{name}");
        assert_eq!(call_sites(&inner).len(), 1);
        assert_eq!(call_sites(&inner)[0].1, samples(&inner));
    }
    let full = only(&file, &["inner", "--demangle", "full"]);
    assert_eq!(samples(&full), inlined_samples(&outer, "inner"));
    let all = functions_with_samples(&file);
    assert!(all.iter().all(|name| name != "inner"), "{all:?}");
}

#[test]
fn a_copy_that_never_ran_does_not_stand_for_inlined_code() {
    let Some(program) = program() else {
        return;
    };
    let args = ["-q", "-e", "cpu-clock:u", "-F", "1999"];
    let file = program.record(&args, &[]).file;
    let found = functions(&file, &["copied", "--share", "100"]);
    let mut into: Vec<&str> = found
        .iter()
        .map(|one| one["inlined_into"].as_str().unwrap())
        .collect();
    into.sort_unstable();
    assert_eq!(into, ["one", "two"]);
    for one in &found {
        let caller = only(&file, &[one["inlined_into"].as_str().unwrap()]);
        assert_eq!(samples(one), inlined_samples(&caller, "copied"));
        assert!(samples(one) > 0);
        let sites = call_sites(one);
        let n_sites = if one["inlined_into"] == "one" { 2 } else { 1 };
        assert_eq!(sites.len(), n_sites, "{sites:?}");
        assert_eq!(sites.iter().map(|(_, n)| n).sum::<u64>(), samples(one));
    }
    let mut annotate = crate::annotate::rprof(["annotate", "copied", "-i"]);
    let text = run(annotate.arg(&file)).ok().stdout;
    assert!(text.contains("copied, inlined into one in "), "{text}");
    assert!(text.contains("Inlined at"), "{text}");
    assert!(text.contains("it was inlined into "), "{text}");
    assert!(
        text.contains(" samples), ") && text.contains("--into NAME shows one"),
        "{text}"
    );
    let into = |names: &str| {
        let mut annotate = crate::annotate::rprof(["annotate", "copied", "--into", names, "-i"]);
        run(annotate.arg(&file))
    };
    let one = into("two").ok().stdout;
    assert!(one.contains("copied, inlined into two in "), "{one}");
    assert!(!one.contains("copied, inlined into one in "), "{one}");
    let all = into("*").ok().stdout;
    assert!(
        all.contains("copied, inlined into one in ")
            && all.contains("copied, inlined into two in ")
    );
    let none = into("nowhere").fails(1);
    assert!(
        none.contains("--into: no such function: it was inlined into "),
        "{none}"
    );
}

#[test]
fn of_a_copy_and_inlined_code_the_heavier_is_shown_and_the_other_said() {
    let Some(program) = program() else {
        return;
    };
    let args = ["-q", "-e", "cpu-clock:u", "-F", "1999"];
    let text = |file: &Path, name: &str| {
        let mut annotate = crate::annotate::rprof(["annotate", name, "-i"]);
        run(annotate.arg(file)).ok().stdout
    };
    // Three calls are inlined, and one is not.
    let file = program.record(&args, &["once"]).file;
    let listed = text(&file, "copied");
    assert!(listed.contains("copied, inlined into one in "), "{listed}");
    let (_, copy) = listed.split_once("; its standalone copy has ").unwrap();
    let (_, copy) = copy.split_once("annotate ").unwrap();
    let copy = copy.split_whitespace().next().unwrap();
    assert!(copy.starts_with("copied@0x"), "{listed}");
    let listed = text(&file, copy);
    assert!(!listed.contains("inlined into"), "{listed}");
    // Twelve are not.
    let file = program.record(&args, &["often"; 12]).file;
    let listed = text(&file, "copied");
    assert!(!listed.contains("copied, inlined into"), "{listed}");
    let (_, note) = listed.split_once("it was also inlined into ").unwrap();
    let note = note.lines().next().unwrap();
    assert!(note.contains("one (") && note.contains("two ("), "{note}");
}

#[test]
fn a_cold_part_that_two_functions_may_have_is_left_out_and_said() {
    needs!(x86_64, cc);
    let twin = |name: &str| {
        format!(
            "extern volatile long sink; void rare(void) __attribute__((cold));
            __attribute__((noinline)) static void twin(long n) {{
                for (long i = 0; i < 2000; i++) sink += i * n;
                if (n & 1) {{ rare(); sink ^= n; rare(); }}
            }}
            void {name}(long n) {{ twin(n); sink++; }}"
        )
    };
    let make = |path: &Path| {
        let mut options = vec!["-O2".to_owned(), "-Wl,--build-id".to_owned()];
        for name in ["one", "two"] {
            let source = path.with_file_name(name).with_extension("other.c");
            std::fs::write(&source, twin(name)).unwrap();
            options.push(source.display().to_string());
        }
        let main = "volatile long sink; void one(long); void two(long);
            __attribute__((noinline, cold)) void rare(void) { sink++; }
            int main(void) {
                for (long end = CPU_US() + 300000; CPU_US() < end;) { one(sink); two(sink); }
                return 0;
            }";
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        common::compile(path, main, &options);
    };
    let Some(program) = Program::made(make) else {
        return;
    };
    let args = ["-q", "-e", "cpu-clock:u", "-F", "1999"];
    let file = program.record(&args, &[]).file;
    let all = functions(&file, &["--share", "100", "--percent-limit", "0"]);
    let twins: Vec<&Value> = all.iter().filter(|one| one["name"] == "twin").collect();
    assert!(!twins.is_empty(), "{all:?}");
    for twin in twins {
        assert_eq!(symbols(twin), ["twin"]);
        let notes = twin["notes"].to_string();
        assert!(notes.contains("twin.cold is not shown here"), "{notes}");
    }
    // Two have the name, so the suggested command says which is meant.
    let line = said_of_start(&program, &file, &[]);
    let (_, hottest) = line.rsplit_once(' ').unwrap();
    assert!(hottest.starts_with("twin@0x"), "{line}");
    assert!(samples(&only(&file, &[hottest])) > 0, "{line}");
}

/// What is said of `_start`, which has no samples of its own; other files have one, too.
fn said_of_start(program: &Program, file: &Path, filters: &[&str]) -> String {
    let header = std::fs::read(program.path()).unwrap();
    let entry = u64::from_le_bytes(header[24..32].try_into().unwrap());
    let start = format!("_start@{entry:#x}");
    let mut annotate = rprof(["annotate", &start]);
    let text = run(annotate.args(filters).arg("-i").arg(file)).ok().stdout;
    let said = |line: &&str| line.starts_with("note: ") && line.contains("_start has no samples");
    let line = text.lines().find(said);
    line.unwrap_or_else(|| panic!("{text}")).to_owned()
}

fn functions_with_samples(file: &Path) -> Vec<String> {
    let all = functions(file, &["--share", "100", "--percent-limit", "0"]);
    let names = all.iter().map(|one| one["name"].as_str().unwrap());
    names.map(str::to_owned).collect()
}

#[test]
fn a_function_without_samples_of_its_own_says_what_it_calls_has() {
    let Some(program) = program() else {
        return;
    };
    let args = ["-q", "-e", "cpu-clock:u", "-F", "1999"];
    let recorded = program.record(&args, &[]);
    let line = said_of_start(&program, &recorded.file, &[]);
    let said = "note: _start has no samples of its own; what it calls has ";
    assert!(line.starts_with(said), "{line}");
    assert!(line.contains("; next: rprof annotate -i "), "{line}");
    // The command is one that works.
    let (_, hottest) = line.rsplit_once(' ').unwrap();
    let shown = functions(&recorded.file, &[hottest]);
    assert!(shown.iter().any(|one| samples(one) > 0), "{line}");
    // The same command shows what a filter leaves out.
    let line = said_of_start(&program, &recorded.file, &["--time", "0%-50%"]);
    let said = "; _start has no samples of its own that match the filters; what it calls has ";
    assert!(line.contains(said) && !line.contains("next: "), "{line}");
    let file = program
        .record(&[&args[..], &["--call-graph", "no"]].concat(), &[])
        .file;
    let line = said_of_start(&program, &file, &[]);
    assert!(
        line.contains("_start has no samples of its own: record with rprof record -g"),
        "{line}"
    );
}
