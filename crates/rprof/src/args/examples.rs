//! Examples at the end of `--help`. A test parses each of them.

/// A command line and its purpose.
type Example = (&'static str, &'static str);

const RECORD: &[Example] = &[
    ("rprof record -- make -j8", "a command and its children"),
    (
        "rprof record -F 999 -p 1234 -- sleep 10",
        "a process, for ten seconds",
    ),
    ("rprof record -a -- sleep 5", "the whole system"),
    (
        "rprof record -e page-faults -- ./server",
        "what causes page faults",
    ),
    (
        "rprof record -e sched:sched_switch -a -- sleep 1",
        "a tracepoint",
    ),
];

const TOP: &[Example] = &[
    ("rprof top", "the whole system, every two seconds"),
    (
        "rprof top -p 1234 --window all",
        "a process, since the start",
    ),
    ("rprof top -F 99 -d 5 --stdio", "a table every five seconds"),
    ("rprof top --once -d 10 -E 20", "ten seconds, for a script"),
    ("rprof top -K -- make -j8", "a command, without the kernel"),
];

const REPORT: &[Example] = &[
    ("rprof report", "where the time went, with call trees"),
    (
        "rprof report --no-children -g caller",
        "by self time, with callers",
    ),
    (
        "rprof report -s comm,dso -g none",
        "by thread and binary, without trees",
    ),
    (
        "rprof report -S 'std::*' --time 10%/2",
        "a pattern, in the second tenth",
    ),
    (
        "rprof report --format csv -n > work.csv",
        "a table for a spreadsheet",
    ),
    ("rprof report --stats", "samples, losses, stack ends"),
];

const ANNOTATE: &[Example] = &[
    ("rprof annotate", "the hottest functions"),
    ("rprof annotate main", "main, with source lines"),
    (
        "rprof annotate -M intel --no-source 'std::*'",
        "a pattern, in Intel syntax",
    ),
    (
        "rprof annotate memcpy --caller parse",
        "only calls from parse",
    ),
    ("rprof annotate main --by line", "source lines only"),
];

#[cfg(feature = "tui")]
const TUI: &[Example] = &[
    ("rprof tui", "browse perf.data"),
    ("rprof tui work.data -s sym", "by function only"),
    (
        "rprof tui --no-children --time 10%-20%",
        "self time in a time range",
    ),
];

const FLAME: &[Example] = &[
    ("rprof flame > flame.svg", "draw perf.data"),
    (
        "rprof flame --open -- COMMAND",
        "record COMMAND, draw it, open it",
    ),
    (
        "rprof flame --reverse -c cc1 > cc1.svg",
        "innermost functions of cc1 threads",
    ),
    ("rprof flame --folded | sort -k2 -n", "stacks as text"),
    ("rprof flame --against old.data > new.svg", "what changed"),
];

const SCRIPT: &[Example] = &[
    ("rprof script", "every sample with its stack"),
    (
        "rprof script -G -F comm,time,event,sym",
        "one line per sample",
    ),
    (
        "rprof script -c make --time +1,+1.5",
        "half a second of threads named make",
    ),
    (
        "rprof script --show-task-events",
        "samples with task events",
    ),
    (
        "rprof script --json | jq .comm",
        "JSON (docs: crates/JSON.md)",
    ),
];

const EXPORT: &[Example] = &[
    (
        "rprof export -o profile.html",
        "open it in a browser, offline",
    ),
    ("rprof export --against old -o new.html", "what changed"),
    (
        "rprof export -o profile.json.gz",
        "open it in profiler.firefox.com",
    ),
    (
        "rprof export -o work.speedscope.json",
        "www.speedscope.app, npx speedscope",
    ),
    (
        "rprof export -o work.pb.gz",
        "go tool pprof -http=: work.pb.gz",
    ),
    (
        "rprof export -o work.callgrind",
        "kcachegrind, callgrind_annotate",
    ),
    (
        "rprof export -o work.folded",
        "flamegraph.pl, inferno-flamegraph",
    ),
    (
        "rprof export --format json | jq .events",
        "JSON (docs: crates/JSON.md)",
    ),
];

const DIFF: &[Example] = &[
    ("rprof diff", "perf.data.old and perf.data"),
    (
        "rprof diff a1 a2 a3 a4 a5 -- b1 b2 b3 b4 b5",
        "five runs per side",
    ),
    (
        "rprof diff old new --per syscalls:sys_enter_read",
        "cost per read",
    ),
    ("rprof diff old new --per event -s dso", "shares, by binary"),
    ("rprof diff old new -g", "also call trees"),
    (
        "rprof diff --each a1 a2 a3 -- b c d",
        "which of b, c, d regressed",
    ),
    (
        "rprof diff a1 a2 --fail-if 'total>+3%' -- b1 b2",
        "a gate: exit status 1",
    ),
];

pub(super) fn of_record() -> String {
    text(RECORD)
}

pub(super) fn of_top() -> String {
    text(TOP)
}

pub(super) fn of_report() -> String {
    text(REPORT)
}

pub(super) fn of_annotate() -> String {
    text(ANNOTATE)
}

#[cfg(feature = "tui")]
pub(super) fn of_tui() -> String {
    text(TUI)
}

pub(super) fn of_flame() -> String {
    text(FLAME)
}

pub(super) fn of_script() -> String {
    text(SCRIPT)
}

pub(super) fn of_diff() -> String {
    text(DIFF)
}

pub(super) fn of_export() -> String {
    text(EXPORT)
}

fn text(examples: &[Example]) -> String {
    let width = examples.iter().map(|(line, _)| line.len()).max();
    let width = width.unwrap_or(0);
    let lines = examples.iter();
    let lines = lines.map(|(line, what)| format!("\n  {line:<width$}  {what}"));
    format!("Examples:{}", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Args;
    use clap::{CommandFactory, Parser};

    /// The words of an example, up to where the shell takes over.
    fn words(line: &str) -> Vec<String> {
        let own = line.split(" > ").next().unwrap_or_default();
        let own = own.split(" | ").next().unwrap_or_default();
        let own = own.split_whitespace();
        own.map(|word| word.trim_matches('\'').to_owned()).collect()
    }

    #[test]
    fn examples_can_be_typed() {
        #[cfg(feature = "tui")]
        let of_tui = TUI;
        #[cfg(not(feature = "tui"))]
        let of_tui: &[Example] = &[];
        for examples in [
            of_tui, RECORD, TOP, REPORT, ANNOTATE, FLAME, SCRIPT, DIFF, EXPORT,
        ] {
            for (line, _) in examples {
                let parsed = Args::try_parse_from(words(line));
                assert!(parsed.is_ok(), "{line}: {:?}", parsed.err());
            }
            // Help is 80 columns wide where nobody says how wide.
            for line in text(examples).lines() {
                assert!(line.len() <= 80, "{line}");
            }
        }
    }

    #[test]
    fn help_ends_with_its_own_examples() {
        let mut rprof = Args::command();
        for (verb, examples) in [
            ("record", RECORD),
            ("top", TOP),
            ("report", REPORT),
            #[cfg(feature = "tui")]
            ("tui", TUI),
            ("annotate", ANNOTATE),
            ("flame", FLAME),
            ("script", SCRIPT),
            ("diff", DIFF),
            ("export", EXPORT),
        ] {
            let own = format!("rprof {verb}");
            assert!(examples.iter().all(|(line, _)| line.starts_with(&own)));
            let help = rprof.find_subcommand_mut(verb).unwrap().render_help();
            let help = help.to_string();
            let last = help.trim_end().lines().last().unwrap_or_default();
            let (line, what) = examples.last().unwrap();
            assert!(last.contains(line) && last.ends_with(what), "{help}");
        }
    }
}
