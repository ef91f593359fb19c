//! What amounts are divided by, so that recordings can be compared.

use crate::error::DiffError;
use crate::recordings::{NamedRun, Recordings, event_of, span_ns};
use crate::statistics::weight;
use rprof_profile::EventKind;
use rprof_profile::run::{Block, RunEvent};
use std::fmt;

/// What amounts are divided by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Per {
    /// All of the event: shares, as perf has them.
    Event,
    /// Nothing: a recording is one run, as it was counted.
    Run,
    /// The time from the first sample to the last.
    Time,
    /// The time on CPUs, by an event of the same recordings.
    CpuTime,
    /// How often something happened: an event of the same recordings.
    Count(String),
}

impl Per {
    /// The measure with a name.
    pub fn parse(text: &str) -> Self {
        match text {
            "event" => Self::Event,
            "run" => Self::Run,
            "time" => Self::Time,
            "cpu-time" => Self::CpuTime,
            event => Self::Count(event.to_owned()),
        }
    }

    /// What is used where nobody says: what a command that ran to its end took; of recordings that somebody
    /// ended, what each second took. Not shares: if one function takes more, all others have less of them.
    pub fn default_of(recordings: &Recordings) -> Self {
        let ran = |one: &NamedRun| ran_to_its_end(&one.run.about.command);
        if recordings.all().all(|(_, one)| ran(one)) {
            Self::Run
        } else {
            Self::Time
        }
    }

    /// In words.
    pub fn about(&self) -> String {
        match self {
            Self::Event => "share of the event".to_owned(),
            Self::Run => "amount per run".to_owned(),
            Self::Time => "amount per second recorded".to_owned(),
            Self::CpuTime => "amount per second on a CPU".to_owned(),
            Self::Count(event) => format!("amount per {event}"),
        }
    }

    /// The number of the event of a run that amounts are divided by, if it is one.
    pub(crate) fn event(&self, run: &NamedRun) -> Result<Option<usize>, DiffError> {
        let events = &run.run.events;
        let missing = |what: String| DiffError::NothingToDivideBy {
            per: self.to_string(),
            run: run.name.clone(),
            what,
        };
        match self {
            Self::Event | Self::Run | Self::Time => Ok(None),
            Self::CpuTime => {
                let of_time = |event: &RunEvent| event.kind == EventKind::CpuTime;
                let found = events.iter().position(of_time).map(Some);
                found.ok_or_else(|| {
                    missing(
                        "cpu-clock or task-clock: record with one (-e task-clock), or use --per run"
                            .to_owned(),
                    )
                })
            }
            Self::Count(name) => event_of(&run.run, name).map(Some).ok_or_else(|| {
                let names: Vec<&str> = events.iter().map(|event| event.name.as_str()).collect();
                missing(format!(
                    "such event (it has {}); --per also takes event, run, time and cpu-time",
                    names.join(", ")
                ))
            }),
        }
    }

    /// What the amounts of an event are divided by in a run.
    pub(crate) fn divisor(&self, run: &NamedRun, event: &RunEvent) -> Result<Divisor, DiffError> {
        let of_blocks = |blocks: &[Block]| Divisor {
            whole: blocks.iter().map(|block| weight(block.all.weight)).sum(),
            blocks: blocks
                .iter()
                .map(|block| weight(block.all.weight))
                .collect(),
        };
        let divisor = match self {
            Self::Event => of_blocks(&event.blocks),
            Self::Run => {
                // A command takes what it takes, whenever the machine lets it run: noise is what a row has beyond its
                // part of what all did in a block.
                let all = of_blocks(&event.blocks);
                let part = 1.0 / all.whole.max(1.0);
                Divisor {
                    whole: 1.0,
                    ..all.scaled(part)
                }
            }
            Self::Time => Divisor::one(seconds(event)),
            Self::CpuTime | Self::Count(_) => {
                let of = self.event(run)?.and_then(|at| run.run.events.get(at));
                let scale = match self {
                    Self::CpuTime => 1e-9,
                    _ => 1.0,
                };
                of.map_or(Divisor::one(0.0), |of| of_blocks(&of.blocks).scaled(scale))
            }
        };
        let is_needed = event.all.weight > 0;
        if divisor.whole > 0.0 || !is_needed {
            Ok(divisor)
        } else {
            Err(DiffError::NothingToDivideBy {
                per: self.to_string(),
                run: run.name.clone(),
                what: match self {
                    Self::Time => "times: use --per run or event".to_owned(),
                    _ => "samples of it: use --per run or event".to_owned(),
                },
            })
        }
    }
}

impl fmt::Display for Per {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Event => "event",
            Self::Run => "run",
            Self::Time => "time",
            Self::CpuTime => "cpu-time",
            Self::Count(event) => event,
        })
    }
}

/// What amounts of one event are divided by.
#[derive(Clone, Debug)]
pub(crate) struct Divisor {
    pub(crate) whole: f64,
    /// By block, if it is not the same in each.
    pub(crate) blocks: Vec<f64>,
}

impl Divisor {
    fn one(whole: f64) -> Self {
        Self {
            whole,
            blocks: Vec::new(),
        }
    }

    fn scaled(mut self, factor: f64) -> Self {
        self.whole *= factor;
        self.blocks.iter_mut().for_each(|block| *block *= factor);
        self
    }

    /// An amount, divided.
    pub(crate) fn of(&self, amount: f64) -> f64 {
        if self.whole > 0.0 {
            amount / self.whole
        } else {
            0.0
        }
    }
}

/// How long was recorded.
fn seconds(event: &RunEvent) -> f64 {
    weight(span_ns(event)) / 1e9
}

/// Whether a recorder's command line has a command to run and to sample, and nobody else.
fn ran_to_its_end(command: &[String]) -> bool {
    let words = command.iter().skip_while(|word| *word != "record").skip(1);
    // What follows is its value.
    let mut was_flag = false;
    for word in words {
        match word.starts_with('-') {
            _ if word == "--" => return true,
            true if samples_others(word) => return false,
            true => was_flag = takes_value(word),
            false if was_flag => was_flag = false,
            false => return true,
        }
    }
    true
}

/// Whether a flag of the recorder asks for CPUs, processes or users.
fn samples_others(flag: &str) -> bool {
    const LONG: [&str; 5] = ["--all-cpus", "--pid", "--tid", "--uid", "--cpu"];
    if flag.starts_with("--") {
        LONG.iter().any(|long| flag.starts_with(long))
    } else {
        deciding_letter(flag).is_some_and(|letter| "aptuC".contains(letter))
    }
}

/// Whether the word after a flag of the recorder is its value.
fn takes_value(flag: &str) -> bool {
    if flag.starts_with("--") {
        return !flag.starts_with("--no-") && !flag.contains('=');
    }
    let letter = deciding_letter(flag);
    letter.is_some_and(|letter| "eFcomDrjkG".contains(letter) && flag.ends_with(letter))
}

/// The first letter of a word of flags that asks for CPUs or has a value, which is what follows; else its last one.
fn deciding_letter(flag: &str) -> Option<char> {
    const ALONE: &str = "gvqsdinNATRbBSPWIz";
    let mut letters = flag.chars().skip(1);
    letters
        .find(|&letter| !ALONE.contains(letter))
        .or_else(|| flag.chars().last())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_sampled_is_said_by_the_recorder() {
        for (line, expected) in [
            ("perf record -F 999 -g ./prog -a", true),
            ("rprof record -F 999 -- ./prog -p 4", true),
            ("perf record -a sleep 10", false),
            ("rprof record -p 17", false),
            ("perf record -p17 -g", false),
            ("perf record -F 999 -ga sleep 1", false),
            ("perf record -ag sleep 1", false),
            ("perf record -gp 17", false),
            ("perf record -F 999 -gvF 99 ./prog -a", true),
            ("perf record -F99 ./prog -a", true),
            ("perf record -ge cpu-clock ./prog -a", true),
            ("perf record -ecpu-clock:pa ./prog", true),
            ("rprof record --all-cpus -- sleep 1", false),
            ("", true),
        ] {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            assert_eq!(ran_to_its_end(&words), expected, "{line}");
        }
    }

    #[test]
    fn measures_are_called_as_they_are_typed() {
        for name in ["event", "run", "time", "cpu-time", "probe:request"] {
            assert_eq!(Per::parse(name).to_string(), name);
        }
    }
}
