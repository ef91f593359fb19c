//! The command line as man pages and completions show it.

use super::Args;
use super::two_words::TWO_WORDS;
use clap::{Command, CommandFactory};

/// The command line with `record` and `report` below `stat`, and so on; the parser knows them as sub-commands of one
/// word.
pub(crate) fn documented() -> Command {
    let mut rprof = Args::command();
    rprof.build();
    let below = |parent: &str| -> Vec<Command> {
        let all = TWO_WORDS.iter();
        let own = all.filter(|(_, [first, _])| *first == parent);
        let own = own.filter_map(|(one_word, [first, name])| {
            let command = rprof.find_subcommand(one_word)?.clone();
            let command = command
                .name(*name)
                .bin_name(format!("rprof {first} {name}"));
            let command = command.display_name(format!("rprof-{first}-{name}"));
            Some(command.hide(false))
        });
        own.collect()
    };
    let shown = rprof
        .get_subcommands()
        .filter(|command| !command.is_hide_set());
    let shown: Vec<Command> = shown
        .cloned()
        .map(|command| {
            let below = below(command.get_name());
            command.subcommands(below)
        })
        .collect();
    let own = rprof.get_arguments();
    let own = own.filter(|arg| !["help", "version"].contains(&arg.get_id().as_str()));
    let text = |text: Option<&clap::builder::StyledStr>| text.cloned().unwrap_or_default();
    Command::new("rprof")
        .version(env!("CARGO_PKG_VERSION"))
        .propagate_version(true)
        .disable_help_subcommand(true)
        .about(text(rprof.get_about()))
        .after_help(text(rprof.get_after_help()))
        .args(own)
        .subcommand_required(true)
        .subcommands(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(command: &Command) -> Vec<&str> {
        command.get_subcommands().map(Command::get_name).collect()
    }

    #[test]
    fn sub_commands_of_two_words_are_below_the_first() {
        let mut rprof = documented();
        rprof.build();
        let stat = rprof.find_subcommand("stat").unwrap();
        assert_eq!(names(stat), ["record", "report"]);
        assert_eq!(
            names(rprof.find_subcommand("sched").unwrap()),
            ["latency", "map", "timehist"]
        );
        assert!(!names(&rprof).contains(&"stat-record"));
        let shown = Args::command();
        let shown = shown
            .get_subcommands()
            .filter(|command| !command.is_hide_set());
        assert_eq!(
            shown.map(Command::get_name).collect::<Vec<_>>(),
            names(&rprof)
        );
        let record = stat.find_subcommand("record").unwrap();
        assert_eq!(record.get_bin_name(), Some("rprof stat record"));
    }
}
