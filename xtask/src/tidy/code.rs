//! Rules about words in Rust source: where `unsafe` may stand, who may print, and what is never
//! left behind.

use std::path::Path;

use anyhow::Result;

use super::source::Source;
use super::{Violation, has_word};
use crate::files::File;

/// The files with system calls, mapped memory, and the start of a command.
const UNSAFE_FILES: &[&str] = &[
    "crates/process/src/spawn.rs",
    "crates/ringbuf/src/region.rs",
    "crates/ringbuf/src/ring/mod.rs",
    "crates/ringbuf/src/sys/mod.rs",
    "crates/ringbuf/src/sys/calls.rs",
    "crates/ringbuf/src/sys/counting.rs",
    "crates/ringbuf/src/sys/files.rs",
    "crates/ringbuf/src/sys/keys.rs",
    "crates/ringbuf/src/sys/memory.rs",
    "crates/ringbuf/src/sys/mount.rs",
    "crates/ringbuf/src/sys/ptrace.rs",
    "crates/ringbuf/src/sys/rights.rs",
    "crates/ringbuf/src/sys/signals.rs",
];

/// Words that stand nowhere, and what to do instead.
const NOWHERE: &[(&str, &str)] = &[
    (
        "#[ignore",
        "an ignored test proves nothing: fix it or remove it",
    ),
    (
        "todo!",
        "finish it, or return an error that says what is missing",
    ),
    ("dbg!", "remove it"),
];

/// Words of the program's face; libraries return values.
const FACE_ONLY: &[&str] = &[
    "println!",
    "print!",
    "eprintln!",
    "eprint!",
    "process::exit",
    "stdout()",
];

/// Where text is made of what others chose, for people to read.
const READ_BY_PEOPLE: &[&str] = &[
    "crates/report/src",
    "crates/script/src",
    "crates/inspect/src",
    "crates/stat/src",
    "crates/rprof/src",
];

/// What makes text of others' bytes without a type that says so.
const UNTYPED: &[&str] = &["from_utf8_lossy"];

/// Checks every Rust file of ours.
pub(super) fn check(files: &[File]) -> Result<Vec<Violation>> {
    let mut violations = Vec::new();
    for file in files.iter().filter(|file| file.is_ours()) {
        let text = file.text.as_deref().unwrap_or_default();
        for (line, what) in broken(&file.path, text) {
            violations.push(Violation::new(&file.path, line, what));
        }
    }
    Ok(violations)
}

/// The lines that break a rule, counted from 1.
fn broken(path: &Path, text: &str) -> Vec<(usize, String)> {
    let source = Source::split(text);
    let may_be_unsafe = UNSAFE_FILES.iter().any(|file| path == Path::new(file));
    let n_silent = if may_print(path) {
        0
    } else {
        tests_start(&source.code)
    };
    let mut broken = Vec::new();
    for (idx, line) in source.code.lines().enumerate() {
        let mut report = |what: String| broken.push((idx + 1, what));
        if !may_be_unsafe && is_unsafe(line) {
            report("unsafe code: move it to ringbuf::sys, into a safe function".into());
        }
        for (word, advice) in NOWHERE.iter().filter(|(word, _)| has_word(line, word)) {
            report(format!("{word}: {advice}"));
        }
        let is_silent = idx < n_silent;
        let is_typed = READ_BY_PEOPLE.iter().any(|dir| path.starts_with(dir));
        for word in UNTYPED
            .iter()
            .filter(|word| is_typed && has_word(line, word))
        {
            report(format!(
                "{word} where text is printed: rprof_untrusted::Untrusted::of_bytes, whose Display \
                 no terminal obeys"
            ));
        }
        for word in FACE_ONLY
            .iter()
            .filter(|word| is_silent && has_word(line, word))
        {
            report(format!(
                "{word} in a library: return the value, let crates/rprof say it"
            ));
        }
    }
    for (idx, line) in source.comments.lines().enumerate() {
        if is_unlinked_promise(line) {
            let what = "a promise without an issue: add the https:// link, or do it now";
            broken.push((idx + 1, what.into()));
        }
    }
    broken.sort();
    broken
}

/// The word itself, or permission for it (asking for less is always fine).
fn is_unsafe(line: &str) -> bool {
    let is_stricter = has_word(line, "deny") || has_word(line, "forbid");
    has_word(line, "unsafe") || (has_word(line, "unsafe_code") && !is_stricter)
}

fn is_unlinked_promise(comment: &str) -> bool {
    let is_promise = has_word(comment, "TODO") || has_word(comment, "FIXME");
    is_promise && !comment.contains("https://")
}

/// The binary, the chores, examples, benchmarks and tests.
fn may_print(path: &Path) -> bool {
    let is_face = path.starts_with("crates/rprof") || path.starts_with("xtask");
    let is_shown = path.iter().any(|part| {
        ["examples", "benches", "tests", "tests.rs"]
            .iter()
            .any(|free| part == *free)
    });
    is_face || is_shown
}

/// How many lines stand before the tests inside the file, which end it.
fn tests_start(code: &str) -> usize {
    let lines: Vec<&str> = code.lines().collect();
    let is_start = |pair: &[&str]| {
        pair[0].trim() == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{')
    };
    lines.windows(2).position(is_start).unwrap_or(lines.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [usize; 0] = [];

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let found = broken(Path::new(path), text);
        found.into_iter().map(|(line, _)| line).collect()
    }

    const LIBRARY: &str = "crates/report/src/lib.rs";

    #[test]
    fn unsafe_is_found_in_code_only() {
        for (text, expected) in [
            ("let a = unsafe { b };", 1),
            ("    unsafe fn a() {}", 1),
            ("unsafe impl Send for A {}", 1),
            ("unsafe extern \"C\" {}", 1),
            ("#[unsafe(no_mangle)]", 1),
            ("#![expect(unsafe_code, reason = \"\")]", 1),
            ("#![expect(\n    unsafe_code,\n    reason = \"\")]", 1),
            ("#![forbid(unsafe_code)]", 0),
            ("// unsafe { b }", 0),
            ("let a = \"unsafe { b }\";", 0),
            ("fn is_unsafe() {}", 0),
        ] {
            assert_eq!(lines(LIBRARY, text).len(), expected, "{text}");
            assert_eq!(lines("crates/ringbuf/src/sys/mod.rs", text), NONE, "{text}");
        }
    }

    #[test]
    fn only_the_face_prints() {
        let text = "fn a() {\n    println!();\n    std::process::exit(1);\n}\n";
        assert_eq!(lines(LIBRARY, text), [2, 3]);
        for path in [
            "crates/rprof/src/main.rs",
            "xtask/src/ci/mod.rs",
            "crates/ringbuf/examples/sampling.rs",
            "crates/analysis/benches/ask.rs",
            "crates/abi/src/sample/tests.rs",
            "tests/report.rs",
        ] {
            assert_eq!(lines(path, text), NONE, "{path}");
        }
    }

    #[test]
    fn tests_inside_a_library_may_print() {
        let text = "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    fn b() { println!(); }\n}\n";
        assert_eq!(lines(LIBRARY, text), NONE);
        let elsewhere = "#[cfg(test)]\nmod tests;\n\nfn b() { println!(); }\n";
        assert_eq!(lines(LIBRARY, elsewhere), [4]);
    }

    #[test]
    fn text_that_is_printed_has_a_type() {
        let text = "let name = String::from_utf8_lossy(bytes);";
        assert_eq!(lines("crates/script/src/line.rs", text), [1]);
        assert_eq!(lines("crates/rprof/src/cmd/record.rs", text), [1]);
        assert_eq!(
            lines("crates/analysis/src/symbolize/symbols.rs", text),
            NONE
        );
    }

    #[test]
    fn a_childs_stdout_is_no_printing() {
        assert_eq!(lines(LIBRARY, "command.stdout(Stdio::null());"), NONE);
        assert_eq!(lines(LIBRARY, "io::stdout().lock()"), [1]);
    }

    #[test]
    fn leftovers_are_found_everywhere() {
        for text in ["#[ignore]", "#[ignore = \"slow\"]", "todo!()", "dbg!(x)"] {
            assert_eq!(lines("tests/report.rs", text), [1], "{text}");
        }
    }

    #[test]
    fn promises_need_a_link() {
        assert_eq!(lines(LIBRARY, "a(); // TODO: more"), [1]);
        assert_eq!(lines(LIBRARY, "/// FIXME"), [1]);
        assert_eq!(
            lines(LIBRARY, "// TODO: https://example.org/issues/1"),
            NONE
        );
        assert_eq!(lines(LIBRARY, "let a = \"TODO\";"), NONE);
    }
}
