//! Which flags of `rprof report` an output form supports.
//!
//! A flag says what it affects where it is declared: the id of its argument group begins with it
//! (`#[group(id = "tables/columns")]`), or that of a group of its own, which is called like the flag
//! (`#[arg(group = "layout/column_widths")]`). Groups of structs that contain others are empty in clap: there, each
//! flag has its own.

use super::ReportArgs;
use super::layout::ReportFormat;
use crate::usage::usage;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches, Id};

/// The output of `rprof report`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Tables or stacks.
    Format(ReportFormat),
    Stats,
    Tasks,
}

/// What a flag affects. If several flags do not fit a form, the error names one of the kind that stands first here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Scope {
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

impl Scope {
    const ALL: [(&str, Self); 7] = [
        ("all", Self::All),
        ("header", Self::Header),
        ("samples", Self::Samples),
        ("stacks", Self::Stacks),
        ("parent", Self::Parent),
        ("tables", Self::Tables),
        ("layout", Self::Layout),
    ];

    /// What a flag of a command is declared to affect.
    fn of_flag(flag: &Arg, command: &Command) -> Option<Self> {
        let id = flag.get_id();
        let groups = command.get_groups().filter_map(|group| {
            let (scope, name) = group.get_id().as_str().split_once('/')?;
            let is_its_own = name == id.as_str();
            (is_its_own || group.get_args().any(|arg| arg == id)).then_some((is_its_own, scope))
        });
        let (_, declared) = groups.max_by_key(|(is_its_own, _)| *is_its_own)?;
        let (_, scope) = Self::ALL.into_iter().find(|(name, _)| *name == declared)?;
        Some(scope)
    }
}

/// The flags that were typed, by their ids.
#[derive(Debug)]
pub(crate) struct Given(Vec<Id>);

impl FromArgMatches for Given {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let is_typed =
            |id: &&Id| matches.value_source(id.as_str()) == Some(ValueSource::CommandLine);
        Ok(Self(matches.ids().filter(is_typed).cloned().collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Given {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

impl Given {
    /// Refuses flags that a form does not support.
    pub(crate) fn check(&self, form: Form) -> anyhow::Result<()> {
        let mut report = ReportArgs::augment_args(Command::new("report"));
        report.build();
        let flags = report.get_arguments();
        let given = flags.filter(|flag| self.0.contains(flag.get_id()));
        let refused = given.filter_map(|flag| {
            let scope = Scope::of_flag(flag, &report)?;
            (!self.is_shown(scope, form)).then_some((scope, flag))
        });
        match refused.min_by_key(|(scope, _)| *scope) {
            Some((scope, flag)) => Err(usage(format_args!(
                "{} {}",
                spelled(flag),
                why(scope, form)
            ))),
            None => Ok(()),
        }
    }

    /// Whether a form supports flags of this kind.
    fn is_shown(&self, scope: Scope, form: Form) -> bool {
        use ReportFormat::{Folded, Text};
        match scope {
            Scope::All => true,
            Scope::Header => matches!(form, Form::Format(Text) | Form::Stats | Form::Tasks),
            Scope::Samples => form != Form::Tasks,
            Scope::Stacks => matches!(form, Form::Format(_)),
            Scope::Parent if form == Form::Format(Folded) => {
                self.0.iter().any(|id| id == "exclude_other")
            }
            Scope::Parent | Scope::Tables => {
                matches!(form, Form::Format(format) if format != Folded)
            }
            Scope::Layout => form == Form::Format(Text),
        }
    }
}

/// Why a form does not support a flag.
fn why(scope: Scope, form: Form) -> String {
    let why = match (form, scope) {
        (Form::Format(_), Scope::Header) => {
            "prints text: leave out --format, or use rprof info --json"
        }
        (Form::Format(ReportFormat::Folded), Scope::Parent) => {
            "is for tables: --format folded prints whole stacks; use -x to keep only those with a matching caller"
        }
        (Form::Format(ReportFormat::Folded), _) => {
            "is for tables: --format folded prints whole stacks"
        }
        (Form::Format(format), _) => {
            let name = format.name();
            return format!("is for text: --format {name} has no column layout");
        }
        (Form::Stats, _) => "is for tables: --stats shows numbers for all samples together",
        (Form::Tasks, _) => "is for samples: --tasks and --mmaps show all tasks",
    };
    why.to_owned()
}

/// A flag in its usual spelling.
fn spelled(flag: &Arg) -> String {
    match (flag.get_short(), flag.get_long()) {
        (Some(short), _) => format!("-{short}"),
        (None, long) => format!("--{}", long.unwrap_or(flag.get_id().as_str())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{self, Args as RprofArgs};
    use clap::{CommandFactory, Parser};

    /// A flag without a scope would do nothing where a form has nothing for it, and say nothing.
    #[test]
    fn each_flag_says_what_it_affects() {
        let mut command = RprofArgs::command();
        command.build();
        let report = command.find_subcommand("report").unwrap();
        let built_in = ["help", "version"];
        for flag in report.get_arguments() {
            let is_built_in = built_in.contains(&flag.get_id().as_str());
            let scope = Scope::of_flag(flag, report);
            assert!(is_built_in || scope.is_some(), "{}", flag.get_id());
        }
    }

    #[test]
    fn a_flags_own_group_counts_before_that_of_its_neighbours() {
        let mut report = ReportArgs::augment_args(Command::new("report"));
        report.build();
        for (id, scope) in [
            ("format", Scope::All),
            ("limit", Scope::Tables),
            ("column_widths", Scope::Layout),
            ("field_separator", Scope::Layout),
            ("full_names", Scope::All),
            ("mmaps", Scope::All),
            ("max_tree_lines", Scope::Tables),
            ("parent", Scope::Parent),
            ("no_branch_stack", Scope::Samples),
        ] {
            let flag = report.get_arguments().find(|flag| flag.get_id() == id);
            assert_eq!(Scope::of_flag(flag.unwrap(), &report), Some(scope), "{id}");
        }
    }

    fn said(words: &[&str], form: Form) -> String {
        let args = RprofArgs::parse_from([&["rprof", "report"], words].concat());
        let args::Command::Report(report) = args.command else {
            panic!()
        };
        match report.given.check(form) {
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
