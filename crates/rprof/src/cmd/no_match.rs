//! Why nothing is shown: the filter that no sample matches, and its possible values.

use crate::args::SampleArgs;
use rprof_analysis::{EmptyFilter, Options, empty_filter};
use rprof_events::suggest;
use rprof_perfdata::Reader;
use rprof_profile::{Filter, SelfTime};
use rprof_untrusted::printable;

/// Number of values shown as examples.
const N_EXAMPLES: usize = 5;

/// The warning's text.
pub(crate) fn sentence(reader: &Reader, samples: &SampleArgs) -> String {
    let mut options = samples.options(reader);
    let why = match empty_filter(reader, &options) {
        Ok(Some(empty)) => {
            let why = reason(&empty, &options.filter);
            let is_of_functions = matches!(empty.option, "--symbols" | "--symbol-filter")
                && !options.filter.symbols.has_unwanted();
            options.self_time = SelfTime::Symbol;
            if is_of_functions && matches!(empty_filter(reader, &options), Ok(None)) {
                format!("{why}; {INLINED}")
            } else {
                why
            }
        }
        // What cannot be read has been said.
        Ok(None) | Err(_) => String::new(),
    };
    format!("no samples match the filter{why}")
}

/// The same where samples are filtered by their tasks alone.
pub(crate) fn of_options(reader: &Reader, options: &Options) -> String {
    if options.filter.accepts_all() {
        return format!(
            "no samples in {}",
            printable(&reader.path().to_string_lossy())
        );
    }
    match empty_filter(reader, options) {
        Ok(Some(empty)) => format!(
            "no samples match the filter{}",
            reason(&empty, &options.filter)
        ),
        Ok(None) | Err(_) => "no samples match the filter".to_owned(),
    }
}

/// The hint for a symbol without self time.
const INLINED: &str =
    "all its samples are in functions inlined into it: use --no-inline to count them for it";

fn reason(empty: &EmptyFilter, filter: &Filter) -> String {
    let EmptyFilter {
        option,
        what,
        found,
    } = empty;
    let ids = |ids: &[i32]| ids.iter().map(ToString::to_string).collect();
    let asked: Vec<String> = match *option {
        "--comms" => filter.comms.items().to_vec(),
        "--dsos" => filter.dsos.items().to_vec(),
        "--symbols" => filter.symbols.items().to_vec(),
        "--symbol-filter" => filter.symbol_part.iter().cloned().collect(),
        "--switch-on" => filter.switches.on.iter().cloned().collect(),
        "--switch-off" => filter.switches.off.iter().cloned().collect(),
        "--pid" => ids(&filter.pids),
        "--tid" => ids(&filter.tids),
        "--parallelism" => filter.parallelism.iter().map(ToString::to_string).collect(),
        "--socket-filter" => filter.socket.iter().map(ToString::to_string).collect(),
        "--cpu" => filter.cpus.iter().map(ToString::to_string).collect(),
        "--time" => filter
            .times
            .iter()
            .map(|times| times.text().to_owned())
            .collect(),
        _ => Vec::new(),
    };
    let examples = found.iter().take(N_EXAMPLES).cloned();
    let mut examples = examples.collect::<Vec<_>>().join(", ");
    if found.len() > N_EXAMPLES {
        examples += ", ...";
    }
    let mut text = format!(": {option}");
    if !asked.is_empty() {
        text += &format!(" '{}'", asked.join(","));
    }
    text += " leaves no samples";
    if !examples.is_empty() {
        text += &format!(" ({what}: {examples})");
    }
    let is_name = matches!(*option, "--comms" | "--dsos" | "--symbols");
    if let ([name], true) = (&*asked, is_name) {
        text += &suggest(name, found.iter().cloned()).to_string();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_profile::NameList;

    #[test]
    fn names_that_are_there_and_close_are_offered() {
        let filter = Filter {
            comms: NameList::of(["gc"]),
            pids: vec![1, 2],
            ..Filter::default()
        };
        let reason = |option, what, found: &[&str]| {
            let found = found.iter().map(ToString::to_string).collect();
            reason(
                &EmptyFilter {
                    option,
                    what,
                    found,
                },
                &filter,
            )
        };
        assert_eq!(
            reason(
                "--comms",
                "threads",
                &["cc1", "as", "gcc", "ld", "sh", "make"]
            ),
            ": --comms 'gc' leaves no samples (threads: cc1, as, gcc, ld, sh, ...): did you mean 'gcc'?"
        );
        assert_eq!(
            reason("--pid", "processes", &["7"]),
            ": --pid '1,2' leaves no samples (processes: 7)"
        );
        assert_eq!(
            reason("--no-idle", "", &[]),
            ": --no-idle leaves no samples"
        );
    }
}
