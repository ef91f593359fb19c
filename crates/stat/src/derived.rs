//! What a count says beside others of the same CPUs, in perf's words and forms.
//!
//! Source: `perf_stat__print_shadow_stats` in `tools/perf/util/stat-shadow.c` (v6.1).

use crate::MetricOfEvents;
use crate::metric::NoValue;
use crate::opening::StatEvent;
use crate::role::{Role, are_alike};
use crate::rows::Row;
use rprof_ringbuf::count::Topdown;

/// All that was counted in one span of time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted<'c> {
    pub(crate) events: &'c [StatEvent],
    /// Of each event.
    pub(crate) rows: &'c [Vec<Row>],
    /// What users define.
    pub(crate) metrics: &'c [MetricOfEvents],
    /// How long it was.
    pub(crate) wall_ns: f64,
}

/// A number that was computed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Metric {
    /// `None` if it cannot be: what it would be divided by is 0.
    pub(crate) value: Option<f64>,
    /// Why there is none, if that is to be shown.
    pub(crate) why_none: Option<&'static str>,
    pub(crate) format: Format,
    pub(crate) unit: String,
}

impl Metric {
    /// As it is written for people: its value, or why there is none.
    pub(crate) fn text(&self) -> String {
        let text = self.value.map(|value| self.format.text(value));
        text.unwrap_or_else(|| self.why_none.unwrap_or_default().to_owned())
    }

    /// The same without blanks and signs of percent.
    pub(crate) fn bare_text(&self) -> String {
        let text = self.text();
        text.trim().trim_end_matches(['%', ' ']).to_owned()
    }
}

/// How it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// `%8.3f`
    Three,
    /// `%7.2f `
    Two,
    /// `%7.2f%%`
    Percent,
    /// `%8.3f %%`
    FinePercent,
    /// `%8.1f%%`
    CoarsePercent,
    /// `%8.2f`, and more digits for what is small.
    Free,
}

impl Format {
    pub(crate) fn text(self, value: f64) -> String {
        match self {
            Self::Three => format!("{value:8.3}"),
            Self::Two => format!("{value:7.2} "),
            Self::Percent => format!("{value:7.2}%"),
            Self::FinePercent => format!("{value:8.3} %"),
            Self::CoarsePercent => format!("{value:8.1}%"),
            Self::Free if value != 0.0 && value.abs() < 0.01 => format!("{value:8.3e}"),
            Self::Free => format!("{value:8.2}"),
        }
    }
}

/// What misses of caches are parts of, by the cache's number.
const CACHES: [&str; 5] = [
    "of all L1-dcache accesses",
    "of all L1-icache accesses",
    "of all LL-cache accesses",
    "of all dTLB cache accesses",
    "of all iTLB cache accesses",
];

impl Counted<'_> {
    /// What the nth event's count says, beside those with the same key. Which metrics there are is a matter of
    /// the events, not of their counts: columns stay where they are.
    pub(crate) fn metrics(&self, nth: usize, row: &Row) -> Vec<Metric> {
        let Some(event) = self.events.get(nth) else {
            return Vec::new();
        };
        let defined = self.defined(nth, row);
        if !defined.is_empty() {
            return defined;
        }
        let of = |role| self.count_of(event, row, role);
        let share = |role, unit: &str| ratio(Format::Percent, unit, 100.0 * row.count, of(role));
        let metric = match event.role {
            Some(Role::Clock) => ratio(
                Format::Three,
                "CPUs utilized",
                row.count,
                Some(self.wall_ns),
            ),
            Some(Role::Instructions) => return self.of_instructions(event, row),
            Some(Role::BranchMisses) => share(Role::Branches, "of all branches"),
            Some(Role::CacheMisses) => ratio(
                Format::FinePercent,
                "of all cache refs",
                100.0 * row.count,
                of(Role::CacheReferences),
            ),
            Some(Role::StalledFrontend) => share(Role::Cycles, "frontend cycles idle"),
            Some(Role::StalledBackend) => share(Role::Cycles, "backend cycles idle"),
            Some(Role::CacheMissesOf(cache)) if usize::from(cache) < CACHES.len() => {
                let unit = CACHES.get(usize::from(cache)).copied().unwrap_or_default();
                share(Role::CacheAccesses(cache), unit)
            }
            Some(Role::Cycles) if self.has_clock(event) => {
                ratio(Format::Three, "GHz", row.count, self.clock(event, row))
            }
            Some(Role::SlotsOf(byte)) => return self.of_slots(event, row, byte),
            Some(Role::Pipeline(_)) => return self.of_pipeline(event, row),
            _ => return self.per_second(event, row).into_iter().collect(),
        };
        vec![metric]
    }

    /// Metrics of users that are shown beside the nth event.
    fn defined(&self, nth: usize, row: &Row) -> Vec<Metric> {
        let here = self.metrics.iter().filter(|one| one.line() == Some(nth));
        here.map(|one| {
            let count = |event: usize| self.sum(one.events.get(event)?, row);
            let value = one.metric.value(&count, self.wall_ns / 1e9);
            Metric {
                value: value.ok(),
                why_none: match value {
                    Ok(_) => None,
                    Err(NoValue::DividedByZero) => Some("div by 0"),
                    Err(NoValue::NotFinite) => Some("not a number"),
                    Err(NoValue::NotCounted) => Some("not counted"),
                },
                format: Format::Free,
                unit: one.metric.name.clone(),
            }
        })
        .collect()
    }

    /// Counts of the same key; `None` if none of the events was counted.
    fn sum(&self, events: &[usize], row: &Row) -> Option<f64> {
        let counts = events.iter().filter_map(|&nth| {
            let is_same = |other: &&Row| other.key == row.key && other.is_counted();
            let found = self.rows.get(nth)?.iter().find(is_same)?;
            Some(found.count)
        });
        counts.reduce(|a, b| a + b)
    }

    fn of_instructions(&self, event: &StatEvent, row: &Row) -> Vec<Metric> {
        let of = |role| self.count_of(event, row, role);
        let cycles = of(Role::Cycles);
        let mut metrics = vec![ratio(Format::Two, "insn per cycle", row.count, cycles)];
        let stalled =
            [Role::StalledFrontend, Role::StalledBackend].map(|role| of(role).unwrap_or(0.0));
        let stalled = Some(stalled[0].max(stalled[1])).filter(|&stalled| stalled > 0.0);
        let is_stalled = |role| matches!(role, Role::StalledFrontend | Role::StalledBackend);
        if self.has(event, is_stalled) {
            let unit = "stalled cycles per insn";
            let whole = stalled.map(|_| row.count);
            metrics.push(ratio(Format::Two, unit, stalled.unwrap_or(0.0), whole));
        }
        metrics
    }

    /// The four shares add up to all; the other four are parts of them.
    fn of_slots(&self, event: &StatEvent, row: &Row, byte: usize) -> Vec<Metric> {
        const UNITS: [(&str, Option<&str>); 8] = [
            ("Retiring", None),
            ("Bad Speculation", None),
            ("Frontend Bound", None),
            ("Backend Bound", None),
            ("Heavy Operations", Some("Light Operations")),
            ("Branch Mispredict", Some("Machine Clears")),
            ("Fetch Latency", Some("Fetch Bandwidth")),
            ("Memory Bound", Some("Core Bound")),
        ];
        let counts: Vec<Option<f64>> = (0..8)
            .map(|nth| self.count_of(event, row, Role::SlotsOf(nth)))
            .collect();
        let level_1: Option<f64> = counts.iter().take(4).copied().sum();
        let has_all = (0..4).all(|nth| self.has(event, |role| role == Role::SlotsOf(nth)));
        let Some((unit, rest)) = UNITS.get(byte).filter(|_| has_all) else {
            return Vec::new();
        };
        let Some(all) = level_1.filter(|&all| all > 0.0) else {
            let none = |unit| ratio(Format::CoarsePercent, unit, 0.0, None);
            return [Some(*unit), *rest]
                .into_iter()
                .flatten()
                .map(none)
                .collect();
        };
        let topdown = Topdown::of(|nth| counts.get(nth).copied().flatten().unwrap_or(0.0) / all);
        let two = topdown.level_2;
        let rests = [
            two.light_operations,
            two.machine_clears,
            two.fetch_bandwidth,
            two.core_bound,
        ];
        let mut metrics = vec![percent(unit, row.count / all)];
        let left = byte.checked_sub(4).and_then(|nth| rests.get(nth));
        if let (Some(rest), Some(&left)) = (rest, left) {
            metrics.push(percent(rest, left));
        }
        metrics
    }

    /// CPUs before Ice Lake: four counts make the four shares.
    fn of_pipeline(&self, event: &StatEvent, row: &Row) -> Vec<Metric> {
        let of = |nth| self.count_of(event, row, Role::Pipeline(nth));
        if !self.has(event, |role| role == Role::Pipeline(0)) {
            return Vec::new();
        }
        let total = of(0).filter(|&total| total > 0.0);
        let part = |nth| Some(of(nth)? / total?);
        let (issued, retired, bubbles, recovery) = (part(1), part(2), part(3), part(4));
        let bad = || Some((issued? - retired? + recovery?).max(0.0));
        let (unit, share) = match event.role {
            Some(Role::Pipeline(3)) => ("frontend bound", bubbles),
            Some(Role::Pipeline(2)) => ("retiring", retired),
            Some(Role::Pipeline(4)) => ("bad speculation", bad()),
            Some(Role::Pipeline(1)) => {
                let all = || Some(bubbles? + bad()? + retired?);
                ("backend bound", all().map(|all| (1.0 - all).max(0.0)))
            }
            _ => return Vec::new(),
        };
        let none = || ratio(Format::CoarsePercent, unit, 0.0, None);
        vec![share.map_or_else(none, |share| percent(unit, share))]
    }

    /// The count of an event of this role, of the same key and the same instructions.
    fn count_of(&self, event: &StatEvent, row: &Row, role: Role) -> Option<f64> {
        let mut all = self.events.iter().zip(self.rows);
        all.find_map(|(other, rows)| {
            let is_it = other.role == Some(role)
                && other.cgroup == event.cgroup
                && are_alike(&event.attr, &other.attr);
            let found = rows.iter().find(|other| other.key == row.key);
            found.filter(|found| is_it && found.is_counted())
        })
        .map(|found| found.count)
    }

    /// Nanoseconds of the first clock, whatever it excludes.
    fn clock(&self, event: &StatEvent, row: &Row) -> Option<f64> {
        let mut all = self.events.iter().zip(self.rows);
        let found = all.find_map(|(other, rows)| {
            let is_it = other.role == Some(Role::Clock) && other.cgroup == event.cgroup;
            rows.iter().find(|other| is_it && other.key == row.key)
        });
        found.map(|found| found.count).filter(|&count| count > 0.0)
    }

    /// Whether there is a clock, whatever it says just now.
    fn has_clock(&self, event: &StatEvent) -> bool {
        self.events.iter().any(|other| {
            let is_clock = other.role == Some(Role::Clock);
            is_clock && other.is_counted() && other.cgroup == event.cgroup
        })
    }

    /// Whether an event of such a role is counted of the same.
    fn has(&self, event: &StatEvent, is_it: impl Fn(Role) -> bool) -> bool {
        self.events.iter().any(|other| {
            other.is_counted()
                && other.cgroup == event.cgroup
                && are_alike(&event.attr, &other.attr)
                && other.role.is_some_and(&is_it)
        })
    }

    fn per_second(&self, event: &StatEvent, row: &Row) -> Option<Metric> {
        let mut rate = 1e9 * row.count / self.clock(event, row)?;
        let mut prefix = "";
        for larger in ["K", "M", "G"] {
            if rate > 1000.0 {
                rate /= 1000.0;
                prefix = larger;
            }
        }
        Some(Metric {
            value: Some(rate),
            why_none: None,
            format: Format::Three,
            unit: format!("{prefix}/sec"),
        })
    }
}

fn ratio(format: Format, unit: &str, part: f64, whole: Option<f64>) -> Metric {
    let whole = whole.filter(|&whole| whole > 0.0);
    Metric {
        value: whole.map(|whole| part / whole),
        why_none: None,
        format,
        unit: unit.to_owned(),
    }
}

fn percent(unit: &str, share: f64) -> Metric {
    ratio(Format::CoarsePercent, unit, 100.0 * share, Some(1.0))
}

#[cfg(test)]
mod tests;
