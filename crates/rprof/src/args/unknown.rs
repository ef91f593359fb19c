//! What to do instead of a flag that perf has and `rprof record` has not.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// perf's flags, and what does the same here; where nothing does, that is said.
const PERFS: &[(&[&str], &str)] = &[
    (
        &["--off-cpu"],
        "use -e sched:sched_switch: it shows where tasks cease to run",
    ),
    (
        &["-S", "--snapshot", "--aux-sample"],
        "hardware traces are not recorded; of samples, --overwrite keeps the last ones",
    ),
    (
        &["-r", "--realtime"],
        "leave it out: the recorder runs before others where it may",
    ),
    (
        &[
            "--threads",
            "--aio",
            "--affinity",
            "--num-thread-synthesize",
        ],
        "leave it out: one thread drains all rings, another one writes",
    ),
    (
        &["--kcore"],
        "leave it out: kernels are named by their own symbols",
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
        assert!(said(&["--kcore", "true"]).contains("leave it out"));
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
