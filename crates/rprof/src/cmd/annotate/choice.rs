//! Messages for a name that matches no function, or several.

use super::below;
use super::inlined::share_of_all;
use crate::args::AnnotateArgs;
use anyhow::anyhow;
use rprof_analysis::{ChoiceError, CodeOptions, CodeRecording, FoundFunction, WantedFunction};
use rprof_base::Counted;
use rprof_events::suggest;
use rprof_locate::Locator;
use rprof_perfdata::Reader;
use rprof_profile::{Filter, NameList};

/// Maximum number of functions to list if several match, or to suggest if none does.
const N_OFFERED: usize = 12;

/// Maximum number of functions to name.
const N_NAMED: usize = 3;

/// The requested name, and where it was searched.
pub(super) struct NotChosen<'a> {
    pub(super) args: &'a AnnotateArgs,
    pub(super) wanted: &'a WantedFunction,
    pub(super) recording: &'a CodeRecording<'a>,
    pub(super) opened: (&'a Reader, &'a Locator),
}

impl NotChosen<'_> {
    pub(super) fn error(&self, error: &ChoiceError) -> anyhow::Error {
        anyhow!(match error {
            ChoiceError::Unknown(known) => self
                .filtered()
                .or_else(|| self.only_caller())
                .unwrap_or_else(|| self.unknown(known)),
            ChoiceError::Elsewhere(found) => self.elsewhere(found),
            ChoiceError::Several(several) => self.several(several),
            ChoiceError::Inlined(_) => self.unknown(&[]),
        })
    }

    /// Explains that the function has samples, but none that match.
    fn filtered(&self) -> Option<String> {
        let args = self.args;
        let (reader, locator) = self.opened;
        let filter = args.samples.filter();
        let (is_filtered, has_callers) = (!filter.accepts_all(), !args.caller.is_empty());
        // Of several recordings, this would count those of the first.
        if !is_filtered && !has_callers || !args.recordings().others().is_empty() {
            return None;
        }
        let options = CodeOptions {
            filter: Filter::default(),
            callers: NameList::default(),
            ..args.options()
        };
        let all = CodeRecording::open(reader, locator, options, &mut |_| {}).ok()?;
        let found = all.choose(self.wanted).ok()?;
        let samples = found.own.iter().map(|own| own.samples).sum();
        if samples == 0 {
            return None;
        }
        let samples = Counted::new(samples, "sample", "samples");
        let such = match (is_filtered, has_callers) {
            (_, false) => "but none that matches the filters",
            (true, true) => "but none that matches the filters with this caller",
            (false, true) => {
                "but none with this caller (frame pointers miss the callers of functions without a frame: use \
                 record --call-graph dwarf)"
            }
        };
        Some(format!("{} has {samples}, {such}", found.name))
    }

    /// Explains that it is only a caller: what has its code has no samples, or there is no code of it.
    fn only_caller(&self) -> Option<String> {
        let (reader, _) = self.opened;
        if !reader.has_call_chains() {
            return None;
        }
        below::sentence(self.args, reader, self.recording, self.wanted.name())
    }

    fn unknown(&self, known: &[String]) -> String {
        let name = self.wanted.name();
        let mut text = format!("no function '{name}' in the {}", self.recording.searched());
        let close = suggest(name, known.iter().cloned()).to_string();
        let wanted = name.to_lowercase();
        let has_it = |one: &&String| one.to_lowercase().contains(&wanted);
        let with_part: Vec<&String> = known.iter().filter(has_it).take(N_OFFERED).collect();
        let joined = |names: &[&String]| {
            let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
            names.join(", ")
        };
        if !with_part.is_empty() {
            text += &format!("; these names contain it: {}", joined(&with_part));
        } else if !close.is_empty() {
            text += &close;
        } else if !known.is_empty() {
            let hottest: Vec<&String> = known.iter().take(N_NAMED).collect();
            text += &format!("; the hottest functions are: {}", joined(&hottest));
        }
        for reason in self.recording.unnamed.iter().take(N_NAMED) {
            text += &format!("; {reason}");
        }
        text
    }

    fn several(&self, several: &[FoundFunction]) -> String {
        format!(
            "'{}' matches several functions: {}; choose one with NAME@0xSTART, or its binary with -d",
            self.wanted.name(),
            self.listed(several)
        )
    }

    fn elsewhere(&self, found: &[FoundFunction]) -> String {
        let name = self.wanted.name();
        let listed = self.listed(found);
        format!("no function '{name}' starts at this address: {listed}")
    }

    /// Functions with their start addresses, shares and images.
    fn listed(&self, functions: &[FoundFunction]) -> String {
        let one = |one: &FoundFunction| {
            let share = share_of_all(self.recording, &one.own);
            format!("{}@{:#x} ({share}%, {})", one.name, one.start, one.image)
        };
        let listed: Vec<String> = functions.iter().take(N_OFFERED).map(one).collect();
        let more = match functions.len().saturating_sub(N_OFFERED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        listed.join(", ") + &more
    }
}
