//! One filter for everything that reads samples.

mod account;
mod events;
mod names;
mod span_speed;
mod split;
mod switches;
mod times;

pub use account::{Account, CountedTime};
pub use events::EventChoice;
pub use names::NameList;
pub use span_speed::{SpanLimit, SpanSide, SpanSpeed};
pub use switches::EventSwitches;
pub use times::TimeSlices;

/// Which samples count. An empty list lets everything through.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// Which part of the time of threads is counted.
    pub account: Account,
    /// Of which events, where samples are those that were recorded.
    pub events: EventChoice,
    /// When that time is counted; `None` for all that its records are of.
    pub counted: Option<CountedTime>,
    /// Only time on this critical path, if any.
    pub critical: Option<PathEnd>,
    /// Names of threads.
    pub comms: NameList,
    /// Images that the innermost function must be in, by short name or path.
    pub dsos: NameList,
    /// Names that the innermost function must have.
    pub symbols: NameList,
    /// A part of its name.
    pub symbol_part: Option<String>,
    /// Not what has no name, be it a sample's innermost function, which is in no total then, or one further out.
    pub hide_unresolved: bool,
    /// Processes.
    pub pids: Vec<i32>,
    /// One process and all that it, and they, started: others are not in any total.
    pub descendants_of: Option<Ancestor>,
    /// Threads.
    pub tids: Vec<i32>,
    /// CPUs: samples of others are not in any total.
    pub cpus: Vec<u32>,
    /// Numbers of threads of the recording that run at the time.
    pub parallelism: Vec<u32>,
    /// A socket that the CPU must be on.
    pub socket: Option<u32>,
    /// Times: samples of others are not in any total.
    pub times: Option<TimeSlices>,
    /// Events that switch samples on and off: those in between are in no total.
    pub switches: EventSwitches,
    /// How fast the spans are that samples are in: those of others, or in none, are in no total.
    pub span_speed: Option<SpanSpeed>,
    /// Not the idle tasks: their samples are not in any total.
    pub no_idle: bool,
    /// At most this many frames of a stack, innermost first.
    pub max_stack: Option<usize>,
}

/// Whose descendants are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ancestor {
    /// The command that was recorded.
    Command,
    /// A process.
    Process(i32),
}

/// Whose critical path is meant: it ends where the thread does.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum PathEnd {
    /// That of the main thread of the recorded command.
    #[default]
    Command,
    /// That of the thread that ends last, of those that fit all of these.
    Threads {
        /// Names of threads.
        comms: NameList,
        /// Processes.
        pids: Vec<i32>,
        /// Threads.
        tids: Vec<i32>,
    },
    /// Those of all spans with these names: each begins and ends with its span.
    Spans(NameList),
}

impl PathEnd {
    /// Of threads with some ids or names; of the command if there are none.
    pub fn of(comms: NameList, pids: Vec<i32>, tids: Vec<i32>) -> Self {
        if comms.is_empty() && pids.is_empty() && tids.is_empty() {
            Self::Command
        } else {
            Self::Threads { comms, pids, tids }
        }
    }
}

/// A filter's text cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterError(pub String);

impl std::fmt::Display for FilterError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for FilterError {}

impl Filter {
    /// What a title says of it: samples that it leaves out are nowhere to be seen.
    pub fn title(&self) -> Option<String> {
        match &self.times {
            Some(times) => Some(format!("--time {}", times.text())),
            None => (!self.accepts_all()).then(|| "filtered".to_owned()),
        }
    }

    /// Whether it leaves out any part of a recording, beside the part of threads' time that is not counted.
    pub fn leaves_out(&self) -> bool {
        let all = Self {
            account: self.account,
            events: self.events.clone(),
            ..Self::default()
        };
        *self != all
    }

    /// Whether samples of a CPU exist at all: others are not in any total.
    #[inline]
    pub fn accepts_cpu(&self, cpu: Option<u32>) -> bool {
        self.cpus.is_empty() || cpu.is_some_and(|cpu| self.cpus.contains(&cpu))
    }

    /// Whether samples of a task exist at all: the idle tasks alone have neither process nor thread.
    #[inline]
    pub fn accepts_idle(&self, pid: i32, tid: i32) -> bool {
        !self.no_idle || (pid, tid) != (0, 0)
    }

    /// Whether a task's samples are shown.
    pub fn accepts_task(&self, pid: i32, tid: i32, comm: &str) -> bool {
        let has = |list: &[i32], id| list.is_empty() || list.contains(&id);
        has(&self.pids, pid) && has(&self.tids, tid) && self.comms.accepts(&[comm])
    }

    /// Whether no sample of the chosen events is left out.
    pub fn accepts_all(&self) -> bool {
        let all = Self {
            account: self.account,
            events: self.events.clone(),
            counted: self.counted,
            critical: self.critical.clone(),
            max_stack: self.max_stack,
            ..Self::default()
        };
        *self == all
    }

    /// Whether it asks for functions or images.
    pub fn has_functions(&self) -> bool {
        let has_names = !self.dsos.is_empty() || !self.symbols.is_empty();
        has_names || self.symbol_part.is_some() || self.hide_unresolved
    }

    /// Whether samples whose innermost function is this one are shown; the image goes by all of these names. What stands
    /// for a name (`[sort+0x9ad0]`) is one, but for what is hidden without any: that has no frame.
    pub fn accepts_function(&self, image: &[&str], name: Option<&str>) -> bool {
        let part = self.symbol_part.as_deref();
        (name.is_some() || !self.hide_unresolved)
            && self.dsos.accepts(image)
            && self.symbols.accepts(name.as_slice())
            && part.is_none_or(|part| name.is_some_and(|name| name.contains(part)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_lists_let_everything_through() {
        let all = Filter::default();
        assert!(
            all.accepts_cpu(None)
                && all.accepts_task(1, 2, "x")
                && all.accepts_function(&["a"], None)
        );
        let some = Filter {
            symbols: NameList::of(["main"]),
            cpus: vec![1],
            ..Filter::default()
        };
        assert!(
            some.accepts_function(&["a"], Some("main")) && !some.accepts_function(&["a"], None)
        );
        assert!(some.accepts_cpu(Some(1)) && !some.accepts_cpu(None));
    }

    #[test]
    fn what_has_no_name_can_be_hidden() {
        let named = Filter {
            hide_unresolved: true,
            ..Filter::default()
        };
        assert!(named.has_functions() && !named.accepts_all());
        assert!(named.accepts_function(&[], Some("main")) && !named.accepts_function(&[], None));
    }

    #[test]
    fn a_part_of_a_name_is_enough() {
        let some = Filter {
            symbol_part: Some("lock".to_owned()),
            ..Filter::default()
        };
        assert!(some.has_functions() && !some.accepts_all());
        assert!(some.accepts_function(&[], Some("unlock_all")));
        assert!(!some.accepts_function(&[], Some("main")) && !some.accepts_function(&[], None));
    }
}
