//! Man pages and completions name every sub-command and every flag.

use crate::common::{not_run, rprof, run, scratch, tool};
use clap::Command;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const MAN_PAGES: &str = "share/man/man1";

const COMPLETIONS: [&str; 3] = ["bash", "zsh", "fish"];

/// Each sub-command as it is typed, with its page.
fn pages(command: &Command) -> Vec<(String, String)> {
    let below = command.get_subcommands().flat_map(pages);
    let name = command.get_bin_name().unwrap_or("rprof").to_owned();
    let page = format!("{MAN_PAGES}/{}.1", name.replace(' ', "-"));
    std::iter::once((name, page)).chain(below).collect()
}

fn all_pages() -> Vec<(String, String)> {
    let mut command = rprof::command();
    command.build();
    pages(&command)
}

/// The flags in the text of `--help`: lines such as `-e, --event <EVENTS>`.
fn flags(help: &str) -> BTreeSet<&str> {
    let is_flag = |word: &&str| {
        let name = word.trim_start_matches('-');
        name.len() < word.len() && name.starts_with(|c: char| c.is_ascii_alphabetic())
    };
    let lines = help.lines().map(str::trim_start);
    let lines = lines.filter(|line| line.starts_with('-'));
    let words = lines.flat_map(|line| line.split([',', ' ', '=', '[', '.']).take(3));
    words.filter(is_flag).collect()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A folder with all of it, as rprof writes it.
fn written() -> (tempfile::TempDir, PathBuf) {
    let dir = scratch();
    let prefix = dir.path().join("prefix");
    let folder = prefix.join(MAN_PAGES);
    let said = run(rprof(["help"]).arg(format!("--man={}", folder.display()))).ok();
    assert_eq!((said.stdout.as_str(), said.stderr.as_str()), ("", ""));
    for shell in COMPLETIONS {
        let script = run(&mut rprof(["completions", shell])).ok();
        assert_eq!(script.stderr, "", "{shell}");
        std::fs::write(prefix.join(shell), script.stdout).unwrap();
    }
    (dir, prefix)
}

#[test]
fn man_pages_and_completions_name_every_flag() {
    let (_dir, prefix) = written();
    let completions = COMPLETIONS.map(|shell| read(&prefix.join(shell)));
    let pages = all_pages();
    assert!(pages.iter().any(|(name, _)| name == "rprof stat record"));
    for (name, page) in &pages {
        let page = read(&prefix.join(page)).replace("\\-", "-");
        let words = name.split(' ').skip(1).chain(["--help"]);
        let help = run(&mut rprof(words)).ok().stdout;
        let flags = flags(&help);
        assert!(flags.contains("--help"), "{name}: {flags:?}");
        for flag in flags {
            assert!(page.contains(flag), "{name}: {flag} is not in its man page");
            let bare = flag.trim_start_matches('-');
            for completion in &completions {
                assert!(completion.contains(bare), "{name}: {flag} is not completed");
            }
        }
    }
    let expected: BTreeSet<PathBuf> = pages.iter().map(|(_, page)| prefix.join(page)).collect();
    let found = std::fs::read_dir(prefix.join(MAN_PAGES)).unwrap();
    let found: BTreeSet<PathBuf> = found.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(found, expected);
}

#[test]
fn help_and_pages_say_how_a_command_is_typed() {
    for words in [&[][..], &["record"], &["stat", "record"]] {
        let by_flag = run(&mut rprof(words.iter().copied().chain(["--help"]))).ok();
        let by_command = run(&mut rprof(
            ["help"].into_iter().chain(words.iter().copied()),
        ))
        .ok();
        assert_eq!(by_command.stdout, by_flag.stdout, "{words:?}");
    }
    let page = run(&mut rprof(["help", "--man", "record"])).ok().stdout;
    let page = page.replace("\\-", "-");
    let synopsis = page.split(".SH SYNOPSIS\n").nth(1).unwrap();
    let synopsis = synopsis.lines().next().unwrap();
    assert_eq!(synopsis, "\\fBrprof record\\fR [OPTIONS] [COMMAND]...");
    let no_such = run(&mut rprof(["help", "evlist"])).fails(2);
    assert!(no_such.contains("use rprof info"), "{no_such}");
    let no_such = run(&mut rprof(["help", "--man", "evlist"])).fails(2);
    assert!(no_such.contains("unknown command 'evlist'"), "{no_such}");
}

#[test]
fn bash_completes_sub_commands_and_flags() {
    let (_dir, prefix) = written();
    let script = prefix.join("bash");
    let completed = |words: &str| {
        let bash = format!(
            "source {}; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _rprof rprof \"${{COMP_WORDS[-1]}}\" \"${{COMP_WORDS[-2]}}\"; echo \"${{COMPREPLY[@]}}\"",
            script.display()
        );
        let ran = run(tool("bash").args(["-c", &bash])).ok();
        assert_eq!(ran.stderr, "", "{words}");
        ran.stdout.trim().to_owned()
    };
    assert_eq!(completed("rprof fla"), "flame");
    assert_eq!(completed("rprof record --call-g"), "--call-graph");
    assert_eq!(
        completed("rprof stat record --interv"),
        "--interval-print --interval-count"
    );
    assert_eq!(completed("rprof stat rep"), "report");
}

#[test]
fn zsh_and_fish_can_read_their_completions() {
    let (_dir, prefix) = written();
    for shell in ["zsh", "fish"] {
        if std::process::Command::new(shell)
            .arg("--version")
            .output()
            .is_err()
        {
            not_run(&format!("{shell} is not here"));
            continue;
        }
        let ran = run(tool(shell).arg("-n").arg(prefix.join(shell))).ok();
        assert_eq!(ran.stderr, "", "{shell}");
    }
}

#[test]
fn man_renders_every_page_without_a_warning() {
    let (_dir, prefix) = written();
    if std::process::Command::new("man")
        .arg("--version")
        .output()
        .is_err()
    {
        return not_run("man is not here");
    }
    for (name, page) in all_pages() {
        let mut man = tool("man");
        man.env("MANWIDTH", "100")
            .args(["--warnings", "--local-file"]);
        let ran = run(man.arg(prefix.join(page))).ok();
        assert_eq!(ran.stderr, "", "{name}");
        assert!(ran.stdout.contains("SYNOPSIS"), "{name}: {}", ran.stdout);
    }
}
