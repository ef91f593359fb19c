//! One filter for everything that reads samples.

use std::ops::RangeInclusive;

/// Which samples count. An empty list lets everything through.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// Names of threads.
    pub comms: Vec<String>,
    /// Short names of images that the innermost function must be in.
    pub dsos: Vec<String>,
    /// Names that the innermost function must have.
    pub symbols: Vec<String>,
    /// Processes.
    pub pids: Vec<i32>,
    /// One process and all that it, and they, started: others are not in any total.
    pub descendants_of: Option<Ancestor>,
    /// Threads.
    pub tids: Vec<i32>,
    /// CPUs.
    pub cpus: Vec<u32>,
    /// Times, nanoseconds of the recording's clock.
    pub time_ns: Option<RangeInclusive<u64>>,
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
    /// Whether a sample of this CPU and time exists at all: others are not in any total.
    pub fn accepts(&self, cpu: Option<u32>, time_ns: Option<u64>) -> bool {
        let on_cpu = self.cpus.is_empty() || cpu.is_some_and(|cpu| self.cpus.contains(&cpu));
        let in_time = match (&self.time_ns, time_ns) {
            (None, _) => true,
            (Some(span), Some(time)) => span.contains(&time),
            (Some(_), None) => false,
        };
        on_cpu && in_time
    }

    /// Whether a task's samples are shown.
    pub fn accepts_task(&self, pid: i32, tid: i32, comm: &str) -> bool {
        let has = |list: &[i32], id| list.is_empty() || list.contains(&id);
        has(&self.pids, pid)
            && has(&self.tids, tid)
            && (self.comms.is_empty() || self.comms.iter().any(|wanted| wanted == comm))
    }

    /// Whether no sample is left out.
    pub fn accepts_all(&self) -> bool {
        let all = Self {
            max_stack: self.max_stack,
            ..Self::default()
        };
        *self == all
    }

    /// Whether it asks for functions or images.
    pub fn has_functions(&self) -> bool {
        !self.dsos.is_empty() || !self.symbols.is_empty()
    }

    /// Whether samples whose innermost function is this one are shown.
    pub fn accepts_function(&self, image: &str, name: Option<&str>) -> bool {
        let has =
            |list: &[String], text: &str| list.is_empty() || list.iter().any(|one| one == text);
        has(&self.dsos, image)
            && (self.symbols.is_empty() || name.is_some_and(|name| has(&self.symbols, name)))
    }

    /// Reads perf's `--time` form: `start,stop` in seconds; either may be left out.
    ///
    /// # Errors
    /// [`FilterError`] if it is not of that form.
    pub fn parse_time(text: &str) -> Result<RangeInclusive<u64>, FilterError> {
        let bad = || FilterError(format!("time '{text}' is not START,STOP in seconds"));
        let (start, stop) = text.split_once(',').ok_or_else(bad)?;
        let bound = |text: &str, default| match text.trim() {
            "" => Ok(default),
            text => parse_seconds(text).ok_or_else(bad),
        };
        let (start, stop) = (bound(start, 0)?, bound(stop, u64::MAX)?);
        if start > stop {
            return Err(FilterError(format!("time '{text}' ends before it starts")));
        }
        Ok(start..=stop)
    }
}

/// Decimal seconds to nanoseconds, without rounding.
fn parse_seconds(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if fraction.len() > 9 || !fraction.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let nanos: u64 = format!("{fraction:0<9}").parse().ok()?;
    let seconds: u64 = whole.parse().ok()?;
    seconds.checked_mul(1_000_000_000)?.checked_add(nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_without_rounding() {
        assert_eq!(
            Filter::parse_time("1.5,2"),
            Ok(1_500_000_000..=2_000_000_000)
        );
        assert_eq!(Filter::parse_time(",0.000000001"), Ok(0..=1));
        assert_eq!(Filter::parse_time("7,"), Ok(7_000_000_000..=u64::MAX));
        for bad in ["1", "2,1", "a,b", "1.0000000001,", "-1,2"] {
            assert!(Filter::parse_time(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn empty_lists_let_everything_through() {
        let all = Filter::default();
        assert!(
            all.accepts(None, None)
                && all.accepts_task(1, 2, "x")
                && all.accepts_function("a", None)
        );
        let some = Filter {
            symbols: vec!["main".to_owned()],
            cpus: vec![1],
            ..Filter::default()
        };
        assert!(some.accepts_function("a", Some("main")) && !some.accepts_function("a", None));
        assert!(some.accepts(Some(1), None) && !some.accepts(None, None));
    }
}
