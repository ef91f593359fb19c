//! Events whose samples nobody asked for: those that waits are derived from, and all but the one that is named.

use crate::about::command_line;
use rprof_abi::waits::{BLOCKED, SWITCH, SWITCHED_OUT, WAKING};
use rprof_base::glob_matches;
use rprof_perfdata::{Reader, RecordedEvent};
use rprof_profile::{About, Account, EventChoice, Filter};

/// What `record --off-cpu` adds, by the names that users would ask for it by.
const OF_WAITS: [&str; 4] = [SWITCH, WAKING, SWITCHED_OUT, BLOCKED];

/// By event, whether its samples are left out; empty if none are.
pub(super) fn hidden(reader: &Reader, filter: &Filter) -> Vec<bool> {
    let events = reader.events().iter();
    match &filter.events {
        // Waits are derived from samples of any event.
        _ if filter.account != Account::OnCpu => Vec::new(),
        EventChoice::All => Vec::new(),
        EventChoice::Asked => {
            let added = bookkeeping_events(reader);
            (0..events.len()).map(|at| added.contains(&at)).collect()
        }
        EventChoice::Named(name) => {
            let is_other = |event: &RecordedEvent| event.name.raw() != name;
            // Dummies have no samples, but lose mappings and names.
            events
                .map(|event| is_other(event) && !event.is_dummy())
                .collect()
        }
    }
}

/// The events that were recorded only to derive waiting time from them, by number: those that `record --off-cpu` added,
/// where others were sampled, too.
pub fn bookkeeping_events(reader: &Reader) -> Vec<usize> {
    let words = command_line(reader);
    let command = words
        .iter()
        .map(|word| String::from_utf8_lossy(word).into_owned());
    let about = About {
        command: command.collect(),
        ..About::default()
    };
    if about.off_cpu().is_none() {
        return Vec::new();
    }
    let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    let events = || reader.events().iter().enumerate();
    let is_added = |event: &RecordedEvent| {
        let name = event.name.raw();
        OF_WAITS.contains(&name) && !is_asked(&words, name)
    };
    let is_other = |event: &RecordedEvent| !is_added(event) && !event.is_dummy();
    if !events().any(|(_, event)| is_other(event)) {
        return Vec::new();
    }
    let added = events().filter(|(_, event)| is_added(event));
    added.map(|(at, _)| at).collect()
}

/// Whether the words of a recorder, or of its command, name an event, or have a pattern that it matches.
fn is_asked(words: &[&[u8]], name: &str) -> bool {
    let names = |part: &[u8]| {
        let pattern = String::from_utf8_lossy(part);
        pattern.contains(':') && glob_matches(&pattern, name)
    };
    let has = |word: &&[u8]| {
        let is_part = |part: &[u8]| part == name.as_bytes();
        word.windows(name.len()).any(is_part) || word.split(|&byte| byte == b',').any(names)
    };
    words.iter().any(has)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<&[u8]> {
        line.split(' ').map(str::as_bytes).collect()
    }

    #[test]
    fn an_event_that_is_named_was_asked_for() {
        let asked = words("rprof record --off-cpu -e cpu-clock,sched:sched_switch -- ls");
        assert!(is_asked(&asked, "sched:sched_switch"));
        assert!(!is_asked(&asked, "sched:sched_waking"));
        let asked = words("rprof record --off-cpu -e cpu-clock,sched:* -- ls *");
        assert!(is_asked(&asked, "sched:sched_waking"));
        assert!(!is_asked(&asked, "context-switches"));
    }
}
