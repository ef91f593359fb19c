//! What to do instead of a flag that perf has and `rprof record` has not.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// perf's flags, and what does the same here; where nothing does, that is said.
const PERFS: &[(&[&str], &str)] = &[
    (
        &["-B", "--no-buildid"],
        "leave it out: build ids need no second pass over the file",
    ),
    (
        &["-i", "--no-inherit"],
        "rprof always follows what is started",
    ),
    (
        &["-z", "--compression-level"],
        "rprof does not compress: recordings are small without stack dumps",
    ),
    (
        &["-G", "--cgroup"],
        "use -a, and --comms or --pid in rprof report",
    ),
    (
        &["-u", "--uid"],
        "use -a, and --comms or --pid in rprof report",
    ),
    (&["-D", "--delay"], "attach when it is time: -p PID"),
    (
        &["--switch-output", "--overwrite"],
        "use --duration, and record again",
    ),
];

/// The error with a tip that helps; the one how to pass a flag as a command is taken away.
pub(crate) fn explained(mut error: clap::Error) -> clap::Error {
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    error.remove(ContextKind::Suggested);
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let is_it = |names: &&(&[&str], &str)| names.0.contains(&flag.as_str());
    if let Some((_, instead)) = PERFS.iter().find(is_it) {
        let tip = ContextValue::StyledStrs(vec![(*instead).to_owned().into()]);
        error.remove(ContextKind::SuggestedArg);
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
        let words = [&["rprof", "record"], words].concat();
        explained(Args::try_parse_from(words).unwrap_err()).to_string()
    }

    #[test]
    fn perfs_flags_that_are_not_there_have_a_tip() {
        for (_, instead) in PERFS {
            assert!(!instead.is_empty());
        }
        assert!(said(&["-B", "true"]).contains("leave it out"));
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
        let record = command.find_subcommand("record").unwrap();
        let names = |arg: &clap::Arg| {
            let short = arg.get_short().map(|short| format!("-{short}"));
            let long = arg.get_long().map(|long| format!("--{long}"));
            short.into_iter().chain(long)
        };
        let ours: Vec<String> = record.get_arguments().flat_map(names).collect();
        for (names, _) in PERFS {
            let known = names
                .iter()
                .find(|name| ours.iter().any(|own| own == *name));
            assert_eq!(known, None);
        }
    }
}
