//! perf's words on a pipe (`--control`): enable, disable, snapshot, stop, ping, evlist.

use rprof_targets::ControlLines;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// Samples of one event, or of all.
    Enable(Option<String>),
    Disable(Option<String>),
    Snapshot,
    Stop,
    Ping,
    /// The events, with all that was asked of the kernel or only their names.
    Evlist {
        is_detailed: bool,
    },
    Unknown(String),
}

/// Words that have come by now.
pub(super) fn words(pipes: &mut ControlLines) -> Vec<Word> {
    pipes.take().iter().map(|line| Word::parse(line)).collect()
}

impl Word {
    fn parse(line: &str) -> Self {
        let (word, rest) = match line.split_once(' ') {
            Some((word, rest)) => (word, rest.trim()),
            None => (line, ""),
        };
        let event = (!rest.is_empty()).then(|| rest.to_owned());
        match (word, rest) {
            ("enable", _) => Self::Enable(event),
            ("disable", _) => Self::Disable(event),
            ("snapshot", "") => Self::Snapshot,
            ("stop", "") => Self::Stop,
            ("ping", "") => Self::Ping,
            ("evlist", "" | "-v") => Self::Evlist {
                is_detailed: !rest.is_empty(),
            },
            _ => Self::Unknown(line.chars().take(60).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_perfs() {
        let unknown = |word: &str| Word::Unknown(word.to_owned());
        let event = Some("cpu-clock:u".to_owned());
        for (line, word) in [
            ("enable", Word::Enable(None)),
            ("enable cpu-clock:u", Word::Enable(event.clone())),
            ("disable  cpu-clock:u ", Word::Disable(event)),
            ("snapshot", Word::Snapshot),
            ("stop", Word::Stop),
            ("ping", Word::Ping),
            ("evlist", Word::Evlist { is_detailed: false }),
            ("evlist -v", Word::Evlist { is_detailed: true }),
            ("evlist -x", unknown("evlist -x")),
            ("enabled", unknown("enabled")),
            ("stop now", unknown("stop now")),
            ("\u{fffd}", unknown("\u{fffd}")),
        ] {
            assert_eq!(Word::parse(line), word, "{line}");
        }
        assert_eq!(Word::parse(&"x".repeat(4096)), unknown(&"x".repeat(60)));
    }
}
