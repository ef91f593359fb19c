//! The command line as a whole: its definition, and the examples of its help.

use super::Args;
use clap::{CommandFactory, Parser};

#[test]
fn the_definition_is_sound() {
    Args::command().debug_assert();
}

/// Sub-commands whose help ends with examples.
const WITH_EXAMPLES: &[&str] = &[
    "record",
    "top",
    "report",
    #[cfg(feature = "tui")]
    "tui",
    "annotate",
    "flame",
    "diff",
    "export",
    "script",
];

/// The examples at the end of a sub-command's help, each with its purpose.
fn examples(command: &clap::Command) -> Vec<(String, String)> {
    let help = command.get_after_help().unwrap().to_string();
    let (_, examples) = help.split_once("Examples:\n").unwrap();
    let lines = examples.lines().map(|line| {
        // Help is 80 columns wide where nobody says how wide.
        assert!(line.len() <= 80, "{line}");
        let (example, purpose) = line.trim_start().split_once("  ").unwrap();
        (example.to_owned(), purpose.trim_start().to_owned())
    });
    lines.collect()
}

/// The words of an example, up to where the shell takes over.
fn words(line: &str) -> Vec<String> {
    let own = line.split(" > ").next().unwrap_or_default();
    let own = own.split(" | ").next().unwrap_or_default();
    let own = own.split_whitespace();
    own.map(|word| word.trim_matches('\'').to_owned()).collect()
}

#[test]
fn examples_can_be_typed() {
    let rprof = Args::command();
    for verb in WITH_EXAMPLES {
        let examples = examples(rprof.find_subcommand(verb).unwrap());
        assert!(examples.len() > 2, "{verb}");
        for (line, _) in examples {
            assert!(line.starts_with(&format!("rprof {verb}")), "{line}");
            let parsed = Args::try_parse_from(words(&line));
            assert!(parsed.is_ok(), "{line}: {:?}", parsed.err());
        }
    }
}

#[test]
fn purposes_of_examples_are_below_each_other() {
    let rprof = Args::command();
    for verb in WITH_EXAMPLES {
        let command = rprof.find_subcommand(verb).unwrap();
        let help = command.get_after_help().unwrap().to_string();
        let column = |(example, purpose): &(String, String)| {
            let line = help.lines().find(|line| line.trim().starts_with(example));
            line.unwrap().len() - purpose.len()
        };
        let columns: Vec<usize> = examples(command).iter().map(column).collect();
        assert!(columns.iter().all(|one| *one == columns[0]), "{verb}");
    }
}

#[test]
fn help_ends_with_its_own_examples() {
    let mut rprof = Args::command();
    for verb in WITH_EXAMPLES {
        let command = rprof.find_subcommand_mut(verb).unwrap();
        let help = command.render_help().to_string();
        let last = help.trim_end().lines().last().unwrap_or_default();
        let examples = examples(command);
        let (line, purpose) = examples.last().unwrap();
        assert!(last.contains(line) && last.ends_with(purpose), "{help}");
    }
}
