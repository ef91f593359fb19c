//! Which parts of a sample are printed: perf's names of them.

use rprof_abi::{PerfEventAttr, SampleType, event_type};

macro_rules! columns {
    ($($column:ident = $name:literal, $needs:expr;)*) => {
        /// One part of a sample.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Column {
            $($column,)*
        }

        impl Column {
            const ALL: &[(Self, &str, Option<SampleType>)] = &[
                $((Self::$column, $name, $needs),)*
            ];
        }
    };
}

columns! {
    Comm = "comm", None;
    Tid = "tid", Some(SampleType::TID);
    Pid = "pid", Some(SampleType::TID);
    Time = "time", Some(SampleType::TIME);
    Cpu = "cpu", Some(SampleType::CPU);
    Event = "event", None;
    Trace = "trace", None;
    Ip = "ip", Some(SampleType::IP);
    Sym = "sym", None;
    Symoff = "symoff", None;
    Dso = "dso", None;
    Addr = "addr", Some(SampleType::ADDR);
    Period = "period", None;
    Weight = "weight", Some(SampleType::WEIGHT);
    PhysAddr = "phys_addr", Some(SampleType::PHYS_ADDR);
    DataPageSize = "data_page_size", Some(SampleType::DATA_PAGE_SIZE);
    CodePageSize = "code_page_size", Some(SampleType::CODE_PAGE_SIZE);
}

/// A choice of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Columns(u32);

/// A choice of columns cannot be read, or not be printed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnsError {
    /// No column has this name.
    #[error("unknown field '{name}'; known are {known}")]
    Unknown {
        /// The name.
        name: String,
        /// All names.
        known: String,
    },
    /// Columns are added and taken away, and others named without a sign.
    #[error("fields are either all named, or all begin with + or -: '{0}'")]
    Mixed(String),
    /// No event records it.
    #[error("samples of '{event}' do not have {what} recorded: cannot print '{name}'")]
    NotRecorded {
        /// The event.
        event: String,
        /// The kernel's name of what is missing.
        what: &'static str,
        /// The column.
        name: &'static str,
    },
}

/// perf's `-F`: a list, or changes to what is printed by default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// What perf prints by default, by kind of event.
    Default,
    /// These.
    Named(Columns),
    /// The default and these, without those.
    Changed {
        /// With these.
        with: Columns,
        /// Without these.
        without: Columns,
    },
}

impl Columns {
    pub(super) fn has(self, column: Column) -> bool {
        self.0 & 1 << column as u32 != 0
    }

    /// Whether more of a sample is needed than every reader wants.
    pub(super) fn need_whole(self) -> bool {
        use Column as C;
        let more = [
            C::Trace,
            C::Addr,
            C::Weight,
            C::PhysAddr,
            C::DataPageSize,
            C::CodePageSize,
        ];
        self.0 & Self::of(&more).0 != 0
    }

    fn with(self, column: Column) -> Self {
        Self(self.0 | 1 << column as u32)
    }

    fn of(columns: &[Column]) -> Self {
        columns
            .iter()
            .fold(Self::default(), |all, &one| all.with(one))
    }

    /// What perf prints of an event if not told otherwise; `chains` are shown or not.
    fn default_of(attr: &PerfEventAttr, chains: bool) -> Self {
        use Column as C;
        let task = [C::Comm, C::Tid, C::Cpu, C::Time, C::Event];
        let code = [C::Ip, C::Sym, C::Symoff, C::Dso];
        let is_tracepoint = attr.kind == event_type::TRACEPOINT;
        let own = if is_tracepoint { C::Trace } else { C::Period };
        let has_chains = chains && attr.sample_type.has(SampleType::CALLCHAIN);
        let shows_code = !is_tracepoint || has_chains;
        let code: &[Column] = if shows_code { &code } else { &[] };
        Self::of(&task)
            .union(Self::of(&[own]))
            .union(Self::of(code))
    }

    fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Those of the columns that an event records.
    fn recorded_in(self, attr: &PerfEventAttr) -> Self {
        let mut all = self;
        for &(column, _, needs) in Column::ALL {
            if needs.is_some_and(|needs| !attr.sample_type.has(needs)) {
                all.0 &= !(1 << column as u32);
            }
        }
        all
    }
}

impl Choice {
    /// Reads `-F`: names separated by commas, each with a + or - before it or none.
    ///
    /// # Errors
    /// [`ColumnsError`].
    pub fn parse(text: &str) -> Result<Self, ColumnsError> {
        let (mut named, mut with, mut without) = <(Columns, Columns, Columns)>::default();
        for word in text
            .split(',')
            .map(str::trim)
            .filter(|word| !word.is_empty())
        {
            let (list, name) = match word.as_bytes().first() {
                Some(b'+') => (&mut with, &word[1..]),
                Some(b'-') => (&mut without, &word[1..]),
                _ => (&mut named, word),
            };
            *list = list.with(column_named(name)?);
        }
        let is_changed = with != Columns::default() || without != Columns::default();
        match (named == Columns::default(), is_changed) {
            (false, true) => Err(ColumnsError::Mixed(text.to_owned())),
            (true, true) => Ok(Self::Changed { with, without }),
            _ => Ok(Self::Named(named)),
        }
    }

    /// The columns of each event. What was asked for must be recorded by one event at least.
    ///
    /// # Errors
    /// [`ColumnsError::NotRecorded`].
    pub(super) fn of_events<'e>(
        &self,
        events: impl Iterator<Item = (&'e str, &'e PerfEventAttr, bool)> + Clone,
        chains: bool,
    ) -> Result<Vec<Columns>, ColumnsError> {
        let asked = match self {
            Self::Default => Columns::default(),
            Self::Named(columns) => *columns,
            Self::Changed { with, .. } => *with,
        };
        for &(column, name, needs) in Column::ALL {
            let Some(needs) = needs.filter(|_| asked.has(column)) else {
                continue;
            };
            let mut sampled = events.clone().filter(|(_, _, is_dummy)| !is_dummy);
            let first = sampled.clone().next();
            if let Some((event, ..)) = first
                && !sampled.any(|(_, attr, _)| attr.sample_type.has(needs))
            {
                let mut names = SampleType::NAMES.iter();
                let what = names.find(|(bit, _)| *bit == needs.0);
                return Err(ColumnsError::NotRecorded {
                    event: event.to_owned(),
                    what: what.map_or("it", |(_, name)| name),
                    name,
                });
            }
        }
        let of_event = |(_, attr, _): (&str, &PerfEventAttr, bool)| {
            let columns = match self {
                Self::Default => Columns::default_of(attr, chains),
                Self::Named(columns) => *columns,
                Self::Changed { with, without } => {
                    Columns(Columns::default_of(attr, chains).union(*with).0 & !without.0)
                }
            };
            columns.recorded_in(attr)
        };
        Ok(events.map(of_event).collect())
    }
}

fn column_named(name: &str) -> Result<Column, ColumnsError> {
    let found = Column::ALL.iter().find(|(_, own, _)| *own == name);
    found.map(|&(column, ..)| column).ok_or_else(|| {
        let known: Vec<&str> = Column::ALL.iter().map(|&(_, name, _)| name).collect();
        ColumnsError::Unknown {
            name: name.to_owned(),
            known: known.join(", "),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attr(sample_type: SampleType) -> PerfEventAttr {
        PerfEventAttr {
            sample_type,
            kind: event_type::SOFTWARE,
            ..PerfEventAttr::default()
        }
    }

    #[test]
    fn fields_are_named_or_changed_but_not_both() {
        let named = Choice::parse("comm,ip").unwrap();
        assert_eq!(
            named,
            Choice::Named(Columns::of(&[Column::Comm, Column::Ip]))
        );
        assert!(matches!(
            Choice::parse("+addr,-sym"),
            Ok(Choice::Changed { .. })
        ));
        assert!(matches!(
            Choice::parse("comm,+addr"),
            Err(ColumnsError::Mixed(_))
        ));
        let unknown = Choice::parse("com").unwrap_err().to_string();
        assert!(
            unknown.contains("'com'") && unknown.contains("comm, tid"),
            "{unknown}"
        );
    }

    #[test]
    fn what_is_not_recorded_is_left_out_by_default_and_refused_if_asked_for() {
        let attr = attr(SampleType::IP.with(SampleType::TID));
        let events = [("cpu-clock", &attr, false)];
        let default = Choice::Default
            .of_events(events.iter().copied(), true)
            .unwrap();
        assert!(default[0].has(Column::Ip) && !default[0].has(Column::Time));
        let asked = Choice::parse("ip,time").unwrap();
        let error = asked.of_events(events.iter().copied(), true).unwrap_err();
        assert!(error.to_string().contains("TIME"), "{error}");
    }
}
