//! perf's words on a pipe (`--control`): enable, disable, ping, stop.

use rprof_targets::ControlLines;
use rprof_untrusted::Untrusted;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// Counting goes on, or stops: of one event with its group, or of all.
    Enable(bool, Option<String>),
    Ping,
    Stop,
    /// Nothing that is known.
    Unknown(String),
}

/// Words that have come by now.
pub(crate) fn words(pipes: &mut ControlLines) -> Vec<Word> {
    let lines = pipes.take();
    let printable = lines
        .iter()
        .map(|line| Untrusted::of_bytes(line.as_bytes()).to_string());
    printable.map(|line| Word::of(&line)).collect()
}

impl Word {
    /// Why it is not obeyed.
    pub(crate) fn refused(&self) -> String {
        match self {
            Self::Enable(_, Some(event)) => format!("--control: no event '{event}' is counted"),
            Self::Unknown(word) => format!(
                "--control: '{word}' is none of enable [EVENT], disable [EVENT], ping, stop"
            ),
            _ => String::new(),
        }
    }

    fn of(line: &str) -> Self {
        let (word, event) = match line.trim().split_once(' ') {
            Some((word, event)) => (word, Some(event.trim().to_owned())),
            None => (line.trim(), None),
        };
        match (word, event) {
            ("enable", event) => Self::Enable(true, event),
            ("disable", event) => Self::Enable(false, event),
            ("ping", None) => Self::Ping,
            ("stop", None) => Self::Stop,
            _ => Self::Unknown(line.chars().take(60).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_perfs() {
        let event = || Some("cs:u".to_owned());
        for (line, word) in [
            ("enable", Word::Enable(true, None)),
            ("disable cs:u ", Word::Enable(false, event())),
            ("ping", Word::Ping),
            ("stop", Word::Stop),
            ("stop now", Word::Unknown("stop now".to_owned())),
            ("snapshot", Word::Unknown("snapshot".to_owned())),
        ] {
            assert_eq!(Word::of(line), word, "{line}");
        }
    }
}
