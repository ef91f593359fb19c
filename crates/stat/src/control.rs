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

/// Words that were not obeyed: the first are named, the others counted.
#[derive(Debug, Default)]
pub(crate) struct Refused {
    named: Vec<String>,
    n_more: u64,
}

const MOST_NAMED: usize = 10;

impl Refused {
    pub(crate) fn add(&mut self, word: &Word) {
        if self.named.len() < MOST_NAMED {
            self.named.push(word.refused())
        } else {
            self.n_more = self.n_more.saturating_add(1)
        }
    }

    pub(crate) fn in_words(self) -> Vec<String> {
        let more = format!("--control: {} more commands were ignored", self.n_more);
        let more = (self.n_more > 0).then_some(more);
        self.named.into_iter().chain(more).collect()
    }
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
            Self::Enable(_, Some(event)) => format!("--control: event '{event}' is not counted"),
            Self::Unknown(word) => format!(
                "--control: unknown command '{word}' (known: enable [EVENT], disable [EVENT], ping, stop)"
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
    fn a_flood_of_words_is_ten_and_a_number() {
        let mut refused = Refused::default();
        for nth in 0..1000 {
            refused.add(&Word::of(&format!("word{nth}")));
        }
        let said = refused.in_words();
        assert_eq!(said.len(), 11);
        assert!(said[9].contains("'word9'"), "{said:?}");
        assert_eq!(said[10], "--control: 990 more commands were ignored");
    }

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
