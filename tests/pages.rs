//! Pages for users show what rprof prints: their examples on fixtures are run, and compared.

mod docs;
mod json;

use crate::common::{fixtures, run, scratch, tool};
use std::path::{Path, PathBuf};

/// What an example may need beside rprof.
const TOOLS: [&str; 4] = ["cut", "head", "sed", "tail"];

/// A command on a page, and what the page says that it prints.
#[derive(Debug)]
struct Example {
    command: String,
    output: Vec<String>,
}

#[test]
fn examples_on_pages_are_what_rprof_prints() {
    let dir = scratch();
    std::os::unix::fs::symlink(fixtures(), dir.path().join("fixtures")).unwrap();
    let mut n_run = 0;
    for page in pages() {
        for example in examples(&std::fs::read_to_string(&page).unwrap()) {
            if can_run(&example.command) {
                let printed = printed(&example.command, dir.path());
                assert_eq!(
                    printed,
                    example.output,
                    "{}: {}",
                    page.display(),
                    example.command
                );
                n_run += 1;
            }
        }
    }
    assert!(n_run >= 5, "{n_run} examples");
}

/// The project's README.md and those of the crates.
fn pages() -> Vec<PathBuf> {
    let root = fixtures().parent().unwrap().to_owned();
    let crates = std::fs::read_dir(root.join("crates")).unwrap();
    let mut pages: Vec<PathBuf> = crates
        .map(|entry| entry.unwrap().path().join("README.md"))
        .filter(|page| page.is_file())
        .collect();
    pages.push(root.join("README.md"));
    pages.sort();
    pages
}

/// The blocks of a page that begin with a prompt.
fn examples(page: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut is_inside = false;
    for line in page.lines() {
        let code = line.strip_prefix("    ").or(line.is_empty().then_some(""));
        if let Some(command) = code.and_then(|code| code.strip_prefix("$ ")) {
            is_inside = true;
            examples.push(Example {
                command: command.to_owned(),
                output: Vec::new(),
            });
            continue;
        }
        is_inside &= code.is_some();
        if let (Some(code), Some(example), true) = (code, examples.last_mut(), is_inside) {
            example.output.push(code.to_owned());
        }
    }
    for example in &mut examples {
        trim(&mut example.output);
    }
    examples
}

/// Whether it reads fixtures only, by rprof and tools that are everywhere.
fn can_run(command: &str) -> bool {
    let mut parts = command.split(" | ").map(str::split_whitespace);
    let reads_fixtures = command.starts_with("rprof ") && command.contains("fixtures/");
    let is_plain = !command.contains(['>', '\\']) && !command.contains(" -o ");
    let mut tools = parts.by_ref().skip(1).filter_map(|mut words| words.next());
    reads_fixtures && is_plain && tools.all(|tool| TOOLS.contains(&tool))
}

/// What a command prints, errors last, without space at the end of lines.
fn printed(command: &str, dir: &Path) -> Vec<String> {
    let rprof = Path::new(env!("CARGO_BIN_EXE_rprof")).parent().unwrap();
    let path = format!("{}:{}", rprof.display(), std::env::var("PATH").unwrap());
    let mut shell = tool("sh");
    shell
        .args(["-c", command])
        .current_dir(dir)
        .env("PATH", path);
    let ran = run(&mut shell).ok();
    let lines = ran.stdout.lines().chain(ran.stderr.lines());
    let mut lines: Vec<String> = lines.map(|line| line.trim_end().to_owned()).collect();
    trim(&mut lines);
    lines
}

/// Takes empty lines away at the end.
fn trim(lines: &mut Vec<String>) {
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
}
