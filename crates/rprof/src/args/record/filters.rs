//! Filters of `record` and `stat`: each applies to the preceding `-e`.

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Command, Error, FromArgMatches};

/// Filters of tracepoints and probes.
#[derive(Debug, Default)]
pub(crate) struct FilterArgs {
    /// Index of the `-e`, from 0, and the filter's text.
    filters: Vec<(usize, String)>,
    /// Each `-e` before an `--exclude-perf`.
    exclude_perf: Vec<usize>,
}

const FILTER: &str = "filter";
/// Ids of arguments defined elsewhere.
const EXCLUDE_PERF: &str = "exclude_perf";
const EVENTS: &str = "events";
/// Display order: after the derived arguments.
const LAST: usize = 100;

impl FilterArgs {
    /// These, each with the index of its `-e`.
    pub(crate) fn new(filters: Vec<(usize, String)>) -> Self {
        Self {
            filters,
            exclude_perf: Vec::new(),
        }
    }

    /// The filters of an `-e`, counted from 0.
    pub(crate) fn of(&self, idx: usize) -> impl Iterator<Item = &str> {
        let own = self.filters.iter().filter(move |(of, _)| *of == idx);
        own.map(|(_, filter)| filter.as_str())
    }

    /// Whether `--exclude-perf` follows this `-e`.
    pub(crate) fn excludes_perf(&self, idx: usize) -> bool {
        self.exclude_perf.contains(&idx)
    }
}

impl FromArgMatches for FilterArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        // stat has no --exclude-perf.
        let places = |id| {
            let is_given = matches.try_contains_id(id).unwrap_or(false);
            let places = is_given.then(|| matches.indices_of(id)).flatten();
            places.into_iter().flatten()
        };
        let event_before = |place: usize| {
            let before = places(EVENTS).filter(|&event| event < place).count();
            before.checked_sub(1)
        };
        let mut args = Self::default();
        let given = matches.get_many::<String>(FILTER).into_iter().flatten();
        for (place, filter) in places(FILTER).zip(given) {
            let event = event_before(place).ok_or_else(|| {
                let why = "--filter must follow the -e of its tracepoints or probes\n";
                Error::raw(ErrorKind::MissingRequiredArgument, why)
            })?;
            args.filters.push((event, filter.clone()));
        }
        args.exclude_perf = places(EXCLUDE_PERF).filter_map(event_before).collect();
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl clap::Args for FilterArgs {
    fn augment_args(command: Command) -> Command {
        let filter = Arg::new(FILTER)
            .long("filter")
            .value_name("FILTER")
            .action(ArgAction::Append)
            .allow_hyphen_values(true)
            .help_heading("Events")
            .display_order(LAST)
            .help(
                "Filter the tracepoints and probes of the preceding -e, such as 'prev_pid > 0'; if repeated, all \
                 filters must match",
            );
        command.arg(filter)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
