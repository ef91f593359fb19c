//! perf's `-F`: which fields of which kind of event.

use crate::fields::{Field, FieldSet, is_recorded};
use rprof_abi::{PerfEventAttr, SampleType, event_type};

/// Kinds of events that have fields of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Hardware,
    Software,
    Tracepoint,
    Cache,
    Raw,
    Breakpoint,
    /// Of a PMU that is not the core's.
    Other,
}

impl Kind {
    const N: usize = 7;

    /// Those that `-F` can name, and what perf calls them.
    const NAMED: &[(&str, Self, &str)] = &[
        ("hw", Self::Hardware, "hardware"),
        ("sw", Self::Software, "software"),
        ("trace", Self::Tracepoint, "tracepoint"),
        ("raw", Self::Raw, "raw"),
        ("break", Self::Breakpoint, "breakpoint"),
    ];

    pub(crate) fn of(attr: &PerfEventAttr) -> Self {
        match attr.kind {
            event_type::HARDWARE => Self::Hardware,
            event_type::SOFTWARE => Self::Software,
            event_type::TRACEPOINT => Self::Tracepoint,
            event_type::HW_CACHE => Self::Cache,
            event_type::RAW => Self::Raw,
            event_type::BREAKPOINT => Self::Breakpoint,
            _ => Self::Other,
        }
    }

    /// Fields that such events never have.
    fn never(self) -> FieldSet {
        match self {
            Self::Tracepoint => FieldSet::default(),
            Self::Software => FieldSet::of(&[Field::Trace]),
            _ => FieldSet::of(&[Field::Trace, Field::BpfOutput]),
        }
    }
}

/// A choice of fields cannot be read, or not be printed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FieldsError {
    /// No field has this name.
    #[error("unknown field '{name}'; known fields: {known}")]
    Unknown {
        /// The name.
        name: String,
        /// All names.
        known: String,
    },
    /// Some fields have a sign, others none.
    #[error("either name all fields, or prefix all of them with + or -: '{0}'")]
    Mixed(String),
    /// Before a colon there is no kind of event.
    #[error(
        "unknown kind of event '{0}' before the fields; known kinds: hw, sw, trace, raw, break"
    )]
    UnknownKind(String),
    /// Nothing at all was named for events of every kind.
    #[error("no fields named: nothing would be printed")]
    Nothing,
    /// Such events never have it.
    #[error("{kind} events have no field '{name}'")]
    Never {
        /// perf's name for the kind.
        kind: &'static str,
        /// The field.
        name: &'static str,
    },
    /// Fields of events that are not in the recording.
    #[error("the recording has no {0} events: omit their fields")]
    NoSuchEvents(&'static str),
    /// Lines are shown with addresses only.
    #[error("'srcline' is the line of an address: add 'ip'")]
    LineWithoutAddress,
    /// JSON has other fields.
    #[error("--json has no field '{0}'")]
    NotInJson(&'static str),
    /// The clock's moments have no wall time.
    #[error("the recording has no time of day: cannot print 'tod'")]
    NoWallTime,
    /// No event records it.
    #[error("samples of '{event}' do not have {what} recorded: cannot print '{name}'")]
    NotRecorded {
        /// The event.
        event: String,
        /// The kernel's name of what is missing.
        what: &'static str,
        /// The field.
        name: &'static str,
    },
}

/// What to print of one kind of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
struct Selection {
    /// These instead of the default.
    named: Option<FieldSet>,
    /// These, too.
    with: FieldSet,
    /// But not those.
    without: FieldSet,
    /// Named for this kind alone: such events must be in the recording.
    is_own: bool,
}

/// One field of a list, with its sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Named,
    Plus,
    Minus,
}

/// perf's `-F`, given any number of times: a later one changes, or replaces, what was before.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct FieldSelection([Selection; Kind::N]);

impl FieldSelection {
    /// Reads what one `-F` says: names separated by commas, each with a + or - before it or none,
    /// and before all of them perhaps the kind of event with a colon.
    ///
    /// # Errors
    /// [`FieldsError`].
    pub fn add(&mut self, text: &str) -> Result<(), FieldsError> {
        let (own, list) = match text.split_once(':') {
            Some((kind, list)) => (Some(kind_named(kind)?), list),
            None => (None, text),
        };
        let mut words = Vec::new();
        for word in list.split(',').map(str::trim).filter(|w| !w.is_empty()) {
            let (sign, name) = match word.as_bytes().first() {
                Some(b'+') => (Sign::Plus, &word[1..]),
                Some(b'-') => (Sign::Minus, &word[1..]),
                _ => (Sign::Named, word),
            };
            let (field, name) = field_named(name)?;
            if let Some((kind, what)) = own
                && kind.never().has(field)
            {
                return Err(FieldsError::Never { kind: what, name });
            }
            words.push((sign, field));
        }
        let are_named = words.iter().filter(|(sign, _)| *sign == Sign::Named);
        let replaces = match are_named.count() {
            0 => words.is_empty(),
            n if n == words.len() => true,
            _ => return Err(FieldsError::Mixed(text.to_owned())),
        };
        if own.is_none() && words.is_empty() {
            return Err(FieldsError::Nothing);
        }
        for (idx, selection) in self.0.iter_mut().enumerate() {
            if own.is_none_or(|(kind, _)| kind as usize == idx) {
                selection.change(&words, replaces, own.is_some());
            }
        }
        Ok(())
    }

    /// The fields of each event. What was asked for must be recorded by one event at least.
    ///
    /// # Errors
    /// [`FieldsError`].
    pub(crate) fn of_events<'e>(
        &self,
        events: impl Iterator<Item = (&'e str, &'e PerfEventAttr, bool)> + Clone,
        chains: bool,
    ) -> Result<Vec<FieldSet>, FieldsError> {
        let sampled = events.clone().filter(|(_, _, is_dummy)| !is_dummy);
        let sampled: Vec<_> = sampled.map(|(name, attr, _)| (name, attr)).collect();
        for &(_, kind, what) in Kind::NAMED {
            let exists = sampled.iter().any(|(_, attr)| Kind::of(attr) == kind);
            if self.of_kind(kind).is_own && !exists {
                return Err(FieldsError::NoSuchEvents(what));
            }
        }
        for &(field, name, needs) in Field::ALL {
            if let Some(needs) = needs {
                self.check_recorded(&sampled, field, name, needs)?;
            }
        }
        let of_event = |(_, attr, _): (&str, &PerfEventAttr, bool)| {
            let Selection {
                named,
                with,
                without,
                ..
            } = *self.of_kind(Kind::of(attr));
            let base = named.unwrap_or_else(|| FieldSet::default_of(attr, chains));
            let all = base.union(with).minus(without);
            all.minus(Kind::of(attr).never()).recorded_in(attr)
        };
        let all: Vec<FieldSet> = events.clone().map(of_event).collect();
        let lacks_ip = |one: &FieldSet| one.has(Field::Srcline) && !one.has(Field::Ip);
        // What carries sideband only has no samples, and no addresses.
        let has_samples = events.map(|(_, _, is_dummy)| !is_dummy);
        if has_samples.zip(&all).any(|(has, one)| has && lacks_ip(one)) {
            Err(FieldsError::LineWithoutAddress)
        } else {
            Ok(all)
        }
    }

    /// Refuses what JSON has not.
    pub(crate) fn check_json(&self) -> Result<(), FieldsError> {
        let has = |field| self.0.iter().any(|selection| selection.asked().has(field));
        let refused =
            |&&(field, ..): &&(Field, _, _)| !FieldSet::OF_JSON.contains(&field) && has(field);
        match Field::ALL.iter().find(refused) {
            Some(&(_, name, _)) => Err(FieldsError::NotInJson(name)),
            None => Ok(()),
        }
    }

    /// What a `-` removes from the fields of an event.
    pub(crate) fn removed(&self, attr: &PerfEventAttr) -> FieldSet {
        self.of_kind(Kind::of(attr)).without
    }

    fn of_kind(&self, kind: Kind) -> &Selection {
        &self.0[kind as usize]
    }

    fn check_recorded(
        &self,
        sampled: &[(&str, &PerfEventAttr)],
        field: Field,
        name: &'static str,
        needs: SampleType,
    ) -> Result<(), FieldsError> {
        let asks = |attr| self.of_kind(Kind::of(attr)).asked().has(field);
        let mut asked = sampled.iter().filter(|(_, attr)| asks(attr));
        let Some((event, _)) = asked.clone().next() else {
            return Ok(());
        };
        if asked.any(|(_, attr)| is_recorded(attr, needs)) {
            return Ok(());
        }
        let what = SampleType::NAMES.iter().find(|(bit, _)| needs.0 & bit != 0);
        Err(FieldsError::NotRecorded {
            event: (*event).to_owned(),
            what: what.map_or("it", |(_, name)| name),
            name,
        })
    }
}

impl Selection {
    /// Fields that somebody asked for.
    fn asked(&self) -> FieldSet {
        self.named.unwrap_or_default().union(self.with)
    }

    fn change(&mut self, words: &[(Sign, Field)], replaces: bool, is_own: bool) {
        if replaces {
            *self = Self {
                named: Some(FieldSet::default()),
                is_own,
                ..Self::default()
            };
        }
        for &(sign, field) in words {
            if sign == Sign::Minus {
                self.with = self.with.without(field);
                self.without = self.without.with(field);
            } else {
                self.with = self.with.with(field);
                self.without = self.without.without(field);
            }
        }
    }
}

fn kind_named(name: &str) -> Result<(Kind, &'static str), FieldsError> {
    let found = Kind::NAMED.iter().find(|(own, ..)| *own == name);
    found
        .map(|&(_, kind, what)| (kind, what))
        .ok_or_else(|| FieldsError::UnknownKind(name.to_owned()))
}

fn field_named(name: &str) -> Result<(Field, &'static str), FieldsError> {
    let found = Field::ALL.iter().find(|(_, own, _)| *own == name);
    found.map(|&(field, name, _)| (field, name)).ok_or_else(|| {
        let known: Vec<&str> = Field::ALL.iter().map(|&(_, name, _)| name).collect();
        FieldsError::Unknown {
            name: name.to_owned(),
            known: known.join(", "),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attr(kind: u32, sample_type: SampleType) -> PerfEventAttr {
        PerfEventAttr {
            sample_type,
            kind,
            ..PerfEventAttr::default()
        }
    }

    fn choice(texts: &[&str]) -> Result<FieldSelection, FieldsError> {
        let mut choice = FieldSelection::default();
        texts.iter().try_for_each(|text| choice.add(text))?;
        Ok(choice)
    }

    /// The fields of a software event and of a tracepoint.
    fn fields(texts: &[&str]) -> Result<Vec<FieldSet>, FieldsError> {
        let sample_type = SampleType::IP.with(SampleType::TID).with(SampleType::ADDR);
        let clock = attr(event_type::SOFTWARE, sample_type);
        let switch = attr(event_type::TRACEPOINT, sample_type);
        let events = [("cpu-clock", &clock, false), ("switch", &switch, false)];
        choice(texts)?.of_events(events.into_iter(), true)
    }

    #[test]
    fn fields_are_named_or_changed_but_not_both() {
        use Field as C;
        assert_eq!(
            fields(&["comm,ip"]).unwrap(),
            [FieldSet::of(&[C::Comm, C::Ip]); 2]
        );
        let changed = fields(&["+addr,-sym"]).unwrap()[0];
        assert!(changed.has(C::Addr) && changed.has(C::Comm) && !changed.has(C::Sym));
        assert!(matches!(
            choice(&["comm,+addr"]),
            Err(FieldsError::Mixed(_))
        ));
        let unknown = choice(&["com"]).unwrap_err().to_string();
        assert!(
            unknown.contains("'com'") && unknown.contains("comm, tid"),
            "{unknown}"
        );
        assert_eq!(choice(&[""]), Err(FieldsError::Nothing));
    }

    #[test]
    fn kinds_of_events_have_fields_of_their_own() {
        use Field as C;
        let own = fields(&["sw:comm,tid", "trace:comm,trace"]).unwrap();
        assert_eq!(own[0], FieldSet::of(&[C::Comm, C::Tid]));
        assert_eq!(own[1], FieldSet::of(&[C::Comm, C::Trace]));
        let hidden = fields(&["trace:"]).unwrap();
        assert!(hidden[0].has(C::Ip) && hidden[1].is_empty());
        // A list for all replaces what was before, a sign changes it.
        let replaced = fields(&["trace:", "comm"]).unwrap();
        assert_eq!(replaced, [FieldSet::of(&[C::Comm]); 2]);
        let changed = fields(&["comm", "sw:+tid,-comm"]).unwrap();
        assert_eq!(changed, [FieldSet::of(&[C::Tid]), FieldSet::of(&[C::Comm])]);
    }

    #[test]
    fn kinds_are_checked() {
        assert_eq!(
            fields(&["hw:ip"]),
            Err(FieldsError::NoSuchEvents("hardware"))
        );
        assert!(matches!(
            choice(&["sw:trace"]),
            Err(FieldsError::Never { .. })
        ));
        assert!(matches!(
            choice(&["soft:ip"]),
            Err(FieldsError::UnknownKind(_))
        ));
    }

    #[test]
    fn what_is_not_recorded_is_left_out_by_default_and_refused_if_asked_for() {
        let default = fields(&[]).unwrap();
        assert!(default[0].has(Field::Ip) && !default[0].has(Field::Time));
        let error = fields(&["ip,time"]).unwrap_err();
        assert!(error.to_string().contains("TIME"), "{error}");
    }
}
