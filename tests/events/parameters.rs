//! Probes record parameters by their names, with and without optimization.

use super::{common, record};
use common::{Program, live, needs, rprof, run, skipped};
use std::path::Path;

/// Functions with parameters of all classes; each is called twice.
const SOURCE: &str = r#"
    struct pair { long a, b; };
    struct large { long of[4]; };
    enum kind { SMALL = 3, WIDE = 70000 };
    typedef const char *text_t;
    #define ALONE __attribute__((noinline, noclone, noipa))
    ALONE int copy(text_t text, unsigned len, double scale, short part, enum kind kind) {
        __asm__ volatile("" ::: "memory"); return text[0] + len + part + kind + (int)scale;
    }
    ALONE struct large filled(int with) {
        __asm__ volatile("" ::: "memory"); struct large all = { { with, 0, 0, with } }; return all;
    }
    ALONE long many(int a, int b, int c, int d, int e, int f, int g) {
        __asm__ volatile("" ::: "memory"); return a + b + c + d + e + f + g;
    }
    ALONE long after(struct pair pair, int n) {
        __asm__ volatile("" ::: "memory"); return pair.a + pair.b + n;
    }
    static volatile long sum;
    /* The compiler moves them to registers of its own, and says these of the whole function. */
    ALONE int kept(register int a, register int b) {
        __asm__ volatile("" : "+r"(a), "+r"(b) :: "memory"); return a - b;
    }
    /* Another convention, which no debug information names. */
    ALONE __attribute__((ms_abi)) int foreign(int a, int b) {
        __asm__ volatile("" ::: "memory"); return a - b;
    }
    int main(void) {
        for (int i = 0; i < 2; i++) {
            sum += copy(i ? "second" : "first", 10 + i, 2.5, -7 - i, i ? WIDE : SMALL);
            sum += filled(100 + i).of[3];
            sum += many(1, 2, 3, 4, 5, 6, 77 + i);
            struct pair pair = { 1, 2 };
            sum += after(pair, 40 + i);
            sum += kept(40 + i, 77) + foreign(11, 13);
        }
        return 0;
    }"#;

fn program(options: &[&str]) -> Option<Program> {
    needs!(root, x86_64);
    if !Path::new("/sys/bus/event_source/devices/uprobe").exists() {
        skipped("a kernel with CONFIG_UPROBE_EVENTS");
        return None;
    }
    Program::new(SOURCE, options)
}

/// The values that samples of an event have.
fn values(program: &Program, event: &str, more: &[&str]) -> Vec<String> {
    let (out, path) = (program.file("perf.data"), program.path());
    let event = format!("uprobe:{}:{event}", path.display());
    record(&out, &[&["-e", &event], more].concat(), &[&path]);
    let mut script = rprof(["script", "-G", "-F", "trace", "-i"]);
    let text = run(script.arg(&out)).ok().stdout;
    let after = |line: &str| {
        line.split_once(") ")
            .map(|(_, values)| values.trim().to_owned())
    };
    text.lines().filter_map(after).collect()
}

/// Why an event cannot be recorded.
fn refused(program: &Program, event: &str) -> String {
    let event = event.replace("PROGRAM", &program.path().display().to_string());
    let out = program.file("perf.data");
    run(rprof(["record", "-e", &event, "-o"]).arg(&out).arg("true")).fails(1)
}

#[test]
fn values_of_parameters_are_those_of_the_calls() {
    for optimization in ["-O0", "-O2"] {
        let Some(program) = program(&["-g", optimization]) else {
            return;
        };
        let Some(_live) = live() else { return };
        let values = |event: &str, more: &[&str]| values(&program, event, more);
        assert_eq!(
            values("copy(text:string,len,part,kind)", &[]),
            [
                r#"text="first" len=10 part=-7 kind=3"#,
                r#"text="second" len=11 part=-8 kind=70000"#
            ],
            "{optimization}"
        );
        assert_eq!(values("copy(n=len:u8)", &[]), ["n=10", "n=11"]);
        assert_eq!(values("copy(len)", &["--filter", "len > 10"]), ["len=11"]);
        // Its caller passes the place of the result first.
        assert_eq!(values("filled(with)", &[]), ["with=100", "with=101"]);
        assert_eq!(values("kept(a,b)", &[]), ["a=40 b=77", "a=41 b=77"]);
        // The seventh is on the stack.
        assert_eq!(values("many(f,g)", &[]), ["f=6 g=77", "f=6 g=78"]);
        let of_returns = refused(&program, "uretprobe:PROGRAM:copy(len)");
        assert!(of_returns.contains("use uprobe:"), "{of_returns}");
    }
}

#[test]
fn a_parameter_that_cannot_be_read_is_refused_with_those_that_can() {
    let Some(plain) = program(&["-g", "-O0"]) else {
        return;
    };
    let said = refused(&plain, "uprobe:PROGRAM:copy(length)");
    let names = "these can be recorded: text, len, part, kind";
    assert!(
        said.contains("no such parameter") && said.contains(names),
        "{said}"
    );
    let said = refused(&plain, "uprobe:PROGRAM:copy(scale)");
    assert!(said.contains("neither an integer nor a pointer"), "{said}");
    let said = refused(&plain, "uprobe:PROGRAM:foreign(b)");
    assert!(said.contains("is not certain"), "{said}");
    // Its register depends on how the structure before it is passed.
    let said = refused(&plain, "uprobe:PROGRAM:after(n)");
    assert!(
        said.contains("none of its parameters can be recorded"),
        "{said}"
    );
    let Some(nameless) = program(&["-g0", "-O2"]) else {
        return;
    };
    let said = refused(&nameless, "uprobe:PROGRAM:copy(len)");
    assert!(said.contains("no debug information of 'copy'"), "{said}");
}
