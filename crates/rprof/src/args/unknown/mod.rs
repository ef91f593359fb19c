//! Tips for flags and commands of perf that rprof does not have.

mod commands;
mod flags;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use commands::COMMANDS;
use flags::{OF_ANNOTATE, OF_DIFF, OF_RECORD, OF_REPORT, OF_TOP};

/// perf's names, and what to use instead.
type Tips = &'static [(&'static [&'static str], &'static str)];

/// Adds a tip to the error if there is one. Removes clap's tip on passing the flag as a value, and clap's usage line,
/// which would be that of the similar flag.
pub(crate) fn explained(mut error: clap::Error, command: Option<&str>) -> clap::Error {
    let tips = match command {
        Some("report") => OF_REPORT,
        Some("diff") => OF_DIFF,
        Some("annotate") => OF_ANNOTATE,
        Some("top") => OF_TOP,
        _ => OF_RECORD,
    };
    match error.kind() {
        ErrorKind::UnknownArgument => {}
        ErrorKind::InvalidSubcommand => return explained_command(error),
        _ => return error,
    }
    error.remove(ContextKind::Suggested);
    error.remove(ContextKind::Usage);
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let is_it = |names: &&(&[&str], &str)| names.0.contains(&flag.as_str());
    if let Some((_, instead)) = tips.iter().find(is_it) {
        let tip = ContextValue::StyledStrs(vec![(*instead).to_owned().into()]);
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, tip);
    } else if error.get(ContextKind::SuggestedArg).is_none() {
        let tip = ContextValue::StyledStrs(vec!["see --help for all flags".into()]);
        error.insert(ContextKind::Suggested, tip);
    }
    error
}

/// The same for a command.
fn explained_command(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    let instead = COMMANDS
        .iter()
        .find(|(names, _)| names.contains(&name.as_str()));
    error.remove(ContextKind::Usage);
    if let Some((_, instead)) = instead {
        error.remove(ContextKind::SuggestedSubcommand);
        let tip = ContextValue::StyledStrs(vec![(*instead).to_owned().into()]);
        error.insert(ContextKind::Suggested, tip);
    } else if error.get(ContextKind::SuggestedSubcommand).is_none() {
        let tip = ContextValue::StyledStrs(vec!["see rprof --help for all commands".into()]);
        error.insert(ContextKind::Suggested, tip);
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Args;
    use clap::Parser;

    fn said(words: &[&str]) -> String {
        let command = "record";
        let words = [&["rprof", command], words].concat();
        explained(Args::try_parse_from(words).unwrap_err(), Some(command)).to_string()
    }

    #[test]
    fn perfs_flags_that_are_not_there_have_a_tip() {
        for (_, instead) in OF_RECORD {
            assert!(!instead.is_empty());
        }
        for flag in [
            "--kcore",
            "--debuginfod",
            "--mmap-flush",
            "--no-buffering",
            "--clang-path",
        ] {
            let said = said(&["-o", "x", flag, "true"]);
            assert!(said.contains("leave it out"), "{said}");
            assert!(
                !said.contains("similar") && !said.contains("Usage"),
                "{said}"
            );
        }
        assert!(said(&["--dry-run", "true"]).contains("rprof doctor"));
        assert!(said(&["--timeout", "1000", "true"]).contains("use --duration"));
        assert!(said(&["--bogus", "true"]).contains("--help"));
        let other = said(&["--al-cpus", "true"]);
        assert!(
            other.contains("--all-cpus") && !other.contains("as a value"),
            "{other}"
        );
    }

    #[test]
    fn no_flag_of_ours_is_said_to_be_missing() {
        use clap::CommandFactory;
        let command = Args::command();
        let names = |arg: &clap::Arg| {
            let short = arg.get_short().map(|short| format!("-{short}"));
            let long = arg.get_long().map(|long| format!("--{long}"));
            short.into_iter().chain(long)
        };
        for (command_name, tips) in [
            ("record", OF_RECORD),
            ("report", OF_REPORT),
            ("diff", OF_DIFF),
            ("annotate", OF_ANNOTATE),
            ("top", OF_TOP),
        ] {
            let command = command.find_subcommand(command_name).unwrap();
            let ours: Vec<String> = command.get_arguments().flat_map(names).collect();
            for (names, _) in tips {
                let known = names
                    .iter()
                    .find(|name| ours.iter().any(|own| own == *name));
                assert_eq!(known, None);
            }
        }
    }

    #[test]
    fn perfs_commands_that_are_not_there_have_a_tip() {
        use clap::CommandFactory;
        let said = |name: &str| {
            let error = Args::try_parse_from(["rprof", name]).unwrap_err();
            explained(error, Some(name)).to_string()
        };
        for (names, instead) in COMMANDS {
            for name in *names {
                assert!(Args::command().find_subcommand(name).is_none(), "{name}");
                let said = said(name);
                assert!(
                    said.contains(instead) && !said.contains("similar"),
                    "{said}"
                );
            }
        }
        assert!(said("reprot").contains("'report'"));
        assert!(said("qqqqqq").contains("rprof --help"));
    }

    #[test]
    fn flags_of_perf_report_have_their_own_tips() {
        for (flag, instead) in [
            ("-D", "rprof dump"),
            ("-T", "-s tid"),
            ("--event", "each event has its own table"),
            ("--tui", "rprof tui"),
            ("--raw-trace", "trace_fields"),
            ("--percent-type", "--percentage"),
            ("--pretty", "--format csv"),
        ] {
            let words = ["rprof", "report", flag];
            let error = Args::try_parse_from(words).unwrap_err();
            let said = explained(error, Some("report")).to_string();
            assert!(said.contains(instead), "{said}");
        }
    }

    #[test]
    fn flags_of_perf_annotate_have_their_own_tips() {
        for (flag, instead) in [
            ("--print-line", "file and number"),
            ("-l", "file and number"),
            ("-P", "--format json"),
            ("--tui", "rprof tui"),
            ("--itrace", "not decoded"),
            ("--objdump", "without other tools"),
            ("--skip-missing", "leave it out"),
        ] {
            let words = ["rprof", "annotate", flag];
            let error = Args::try_parse_from(words).unwrap_err();
            let said = explained(error, Some("annotate")).to_string();
            assert!(said.contains(instead), "{said}");
            assert!(!said.contains("similar"), "{said}");
        }
    }

    #[test]
    fn flags_of_perf_top_have_their_own_tips() {
        for (flag, instead) in [
            ("-f", "--percent-limit"),
            ("--dsos", "rprof report"),
            ("--sym-annotate", "rprof annotate"),
            ("--tui", "leave it out"),
            ("-r", "leave it out"),
        ] {
            let words = ["rprof", "top", flag];
            let error = Args::try_parse_from(words).unwrap_err();
            let said = explained(error, Some("top")).to_string();
            assert!(said.contains(instead), "{said}");
        }
    }
}
