//! Which flags of `rprof report` an output form does not support: one list of all flags.

use super::layout::ReportFormat;
use crate::usage::usage;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, Error, FromArgMatches};

/// The output of `rprof report`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Tables or stacks.
    Format(ReportFormat),
    Stats,
    Tasks,
}

/// What a flag affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    /// All forms, or how output is made.
    All,
    /// The lines above text.
    Header,
    /// Which samples are read, and how.
    Samples,
    Stacks,
    /// The sort key of rows; with `--exclude-other`, which stacks are kept.
    Parent,
    Tables,
    /// Columns of text.
    Layout,
}

/// All flags, by the names of their fields.
const FLAGS: &[(Of, &[&str])] = &[
    (
        Of::All,
        &[
            "plain",
            "input",
            "symfs",
            "vmlinux",
            "kallsyms",
            "debuginfod_wait",
            "no_debuginfod",
            "mem",
            "max_spool",
            "stdio",
            "force",
            "format",
            "quiet",
            "full_names",
            "stats",
            "tasks",
            "mmaps",
            "no_pager",
        ],
    ),
    (Of::Header, &["header", "header_only", "show_info"]),
    (
        Of::Samples,
        &[
            "comms",
            "dsos",
            "symbols",
            "symbol_filter",
            "hide_unresolved",
            "pid",
            "descendants",
            "tid",
            "cpu",
            "parallelism",
            "socket_filter",
            "time",
            "switch_on",
            "switch_off",
            "show_on_off_events",
            "no_idle",
            "max_stack",
            "inline",
            "no_inline",
            "self_by_symbol",
            "demangle",
            "no_demangle",
            "no_fde",
            "strict",
            "no_branch_stack",
        ],
    ),
    (Of::Stacks, &["fold", "ignore_callees", "exclude_other"]),
    (Of::Parent, &["parent"]),
    (
        Of::Tables,
        &[
            "children",
            "no_children",
            "branch_stack",
            "mem_mode",
            "graph",
            "inverted",
            "max_tree_lines",
            "sort",
            "hierarchy",
            "fields",
            "show_nr_samples",
            "show_total_period",
            "show_cpu_utilization",
            "latency",
            "time_quantum",
            "full_source_path",
            "percent_limit",
            "percentage",
            "group",
            "no_group",
            "group_sort_idx",
            "skip_empty",
            "no_skip_empty",
            "limit",
        ],
    ),
    (
        Of::Layout,
        &["column_widths", "field_separator", "stdio_color"],
    ),
];

/// The flags that were typed.
#[derive(Debug)]
pub(crate) struct Given(Vec<&'static str>);

impl FromArgMatches for Given {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let all = FLAGS.iter().flat_map(|(_, names)| names.iter().copied());
        let is_given = |name: &&str| {
            let is_known = matches.try_contains_id(name).unwrap_or(false);
            is_known && matches.value_source(name) == Some(ValueSource::CommandLine)
        };
        Ok(Self(all.filter(is_given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl clap::Args for Given {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

impl Given {
    /// Whether a flag was typed, by the name of its field.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains(&name)
    }

    /// Refuses flags that a form does not support; takes the spelling of a flag from the command line's definition.
    pub(crate) fn check(&self, form: Form, command: fn() -> Command) -> anyhow::Result<()> {
        let flags = FLAGS
            .iter()
            .flat_map(|&(of, names)| names.iter().map(move |&name| (of, name)));
        let mut given = flags.filter(|(_, name)| self.has(name));
        match given.find(|(of, _)| !self.is_shown(*of, form)) {
            Some((of, name)) => Err(usage(format_args!(
                "{} {}",
                flag(name, &command()),
                why(of, form)
            ))),
            None => Ok(()),
        }
    }

    /// Whether a form supports flags of this kind.
    fn is_shown(&self, of: Of, form: Form) -> bool {
        use ReportFormat::{Folded, Text};
        match of {
            Of::All => true,
            Of::Header => matches!(form, Form::Format(Text) | Form::Stats | Form::Tasks),
            Of::Samples => form != Form::Tasks,
            Of::Stacks => matches!(form, Form::Format(_)),
            Of::Parent if form == Form::Format(Folded) => self.has("exclude_other"),
            Of::Parent | Of::Tables => matches!(form, Form::Format(format) if format != Folded),
            Of::Layout => form == Form::Format(Text),
        }
    }
}

/// Why a form does not support a flag.
fn why(of: Of, form: Form) -> String {
    match (form, of) {
        (Form::Format(_), Of::Header) => {
            "prints text: leave out --format, or use rprof info --json".to_owned()
        }
        (Form::Format(ReportFormat::Folded), Of::Parent) => {
            "is for tables: --format folded prints whole stacks; use -x to keep only those with a matching caller"
                .to_owned()
        }
        (Form::Format(ReportFormat::Folded), _) => {
            "is for tables: --format folded prints whole stacks".to_owned()
        }
        (Form::Format(format), _) => {
            let name = format.name();
            format!("is for text: --format {name} has no column layout")
        }
        (Form::Stats, _) => {
            "is for tables: --stats shows numbers for all samples together".to_owned()
        }
        (Form::Tasks, _) => "is for samples: --tasks and --mmaps show all tasks".to_owned(),
    }
}

/// A flag in its usual spelling.
fn flag(name: &str, command: &Command) -> String {
    let report = command.find_subcommand("report");
    let arg = report.and_then(|report| report.get_arguments().find(|arg| arg.get_id() == name));
    let short = arg.and_then(clap::Arg::get_short);
    let long = arg.and_then(|arg| arg.get_long());
    match (short, long) {
        (Some(short), _) => format!("-{short}"),
        (None, long) => format!("--{}", long.unwrap_or(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{self, Args};
    use clap::{CommandFactory, Parser};

    /// A flag that is not in the list would do nothing where a form has nothing for it, and say nothing.
    #[test]
    fn each_flag_is_in_the_list_once() {
        let command = Args::command();
        let report = command.find_subcommand("report").unwrap();
        let mut there: Vec<&str> = report
            .get_arguments()
            .map(|arg| arg.get_id().as_str())
            .collect();
        let mut listed: Vec<&str> = FLAGS
            .iter()
            .flat_map(|(_, names)| names.iter().copied())
            .collect();
        there.sort_unstable();
        listed.sort_unstable();
        assert_eq!(there, listed);
    }

    fn said(words: &[&str], form: Form) -> String {
        let args = Args::parse_from([&["rprof", "report"], words].concat());
        let args::Command::Report(report) = args.command else {
            panic!()
        };
        match report.given.check(form, Args::command) {
            Ok(()) => String::new(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_form_refuses_what_it_does_not_show() {
        let folded = Form::Format(ReportFormat::Folded);
        for words in [
            &["--latency"][..],
            &["-b"],
            &["--mem-mode"],
            &["-p", "main"],
            &["--no-group"],
            &["--time-quantum", "1ms"],
            &["--full-source-path"],
            &["-s", "zzz"],
            &["--no-children"],
        ] {
            for form in [folded, Form::Stats, Form::Tasks] {
                let said = said(words, form);
                assert!(said.starts_with(&format!("{} is for ", words[0])), "{said}");
            }
            for format in [ReportFormat::Text, ReportFormat::Csv] {
                assert_eq!(said(words, Form::Format(format)), "", "{words:?}");
            }
        }
        assert_eq!(
            said(
                &["-x", "-p", "main", "--fold", "recursion", "-c", "a"],
                folded
            ),
            ""
        );
        assert_eq!(
            said(&["-c", "a", "--symfs", "x", "--header"], Form::Stats),
            ""
        );
        assert_eq!(said(&["--symfs", "x", "--header"], Form::Tasks), "");
        let of_x = said(&["-x", "-p", "parse"], Form::Stats);
        assert!(of_x.starts_with("-x is for tables: --stats"), "{of_x}");
    }
}
