//! Events of one PMU: what its terms mean.

use rprof_abi::event_type;

use crate::pmu::Pmu;
use crate::suggest::suggest;
use crate::symbol::Symbol;
use crate::term::{GENERAL, General, Term, parse_number, split_terms};
use crate::{Event, EventError};

/// The PMU's type sits above the generic config on machines with several core PMUs.
///
/// Source: `PERF_PMU_TYPE_SHIFT`, `include/uapi/linux/perf_event.h` (v5.13).
const PMU_TYPE_SHIFT: u32 = 32;

/// One event to be made of one PMU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PmuEvent<'a> {
    pub(crate) pmu: &'a Pmu,
    /// Whether there are other core PMUs beside this one.
    pub(crate) is_hybrid: bool,
    /// What was given, for messages.
    pub(crate) text: &'a str,
}

impl PmuEvent<'_> {
    /// The event that `terms` describe.
    ///
    /// # Errors
    /// Terms that this PMU does not have, and values that do not fit.
    pub(crate) fn with_terms(&self, name: String, terms: &str) -> Result<Event, EventError> {
        let expanded = self.pmu.expand(terms, self.text)?;
        let mut general = General::default();
        let mut own = Vec::new();
        for term in split_terms(&expanded, self.text)? {
            if !general.take(term, self.text)? {
                own.push(term);
            }
        }
        let mut event = Event::new(name, self.pmu.kind, 0);
        event.cpus.clone_from(&self.pmu.cpus);
        general.apply(&mut event);
        match *own.as_slice() {
            [Term { key, value: None }] if self.sets_whole_event(key, &mut event)? => {}
            _ => {
                for term in &own {
                    self.set_bits(*term, &own, &mut event)?;
                }
            }
        }
        Ok(event)
    }

    /// The generic event on this core PMU of several.
    pub(crate) fn generic(&self, symbol: Symbol, event: &mut Event) {
        event.cpus.clone_from(&self.pmu.cpus);
        match symbol.kind {
            event_type::RAW => event.attr.kind = self.pmu.kind,
            _ => event.attr.config |= u64::from(self.pmu.kind) << PMU_TYPE_SHIFT,
        }
    }

    /// `cpu/cycles/` and `cpu/r1a8/`: generic and raw events of a core PMU, in no file.
    fn sets_whole_event(&self, key: &str, event: &mut Event) -> Result<bool, EventError> {
        if self.pmu.format(key).is_some() {
            return Ok(false);
        }
        if let Some(raw) = Symbol::raw(key) {
            event.attr.config |= raw?.config;
            return Ok(true);
        }
        match Symbol::named(key).filter(|symbol| self.pmu.is_core && symbol.is_core()) {
            Some(symbol) => {
                event.attr.kind = symbol.kind;
                event.attr.config |= symbol.config;
                if self.is_hybrid {
                    self.generic(symbol, event);
                }
                Ok(true)
            }
            None => Ok(false),
        }
    }

    fn set_bits(
        &self,
        term: Term<'_>,
        all: &[Term<'_>],
        event: &mut Event,
    ) -> Result<(), EventError> {
        let format = self
            .pmu
            .format(term.key)
            .ok_or_else(|| self.unknown(term.key))??;
        let value = match term.value {
            None => 1,
            // A named event leaves this to the user: hv_24x7/PM_X,core=1/.
            Some("?") if is_given(term.key, all) => return Ok(()),
            Some("?" | "") => {
                return Err(EventError::MissingValue {
                    term: term.key.to_owned(),
                    event: self.text.to_owned(),
                });
            }
            Some(value) => parse_number(value, self.text)?,
        };
        if value > format.max() {
            return Err(EventError::ValueTooBig {
                term: term.key.to_owned(),
                value,
                max: format.max(),
                event: self.text.to_owned(),
            });
        }
        format.set(&mut event.attr, value);
        Ok(())
    }

    fn unknown(&self, term: &str) -> EventError {
        let known = self.pmu.alias_names().chain(self.pmu.format_names());
        let general = GENERAL.iter().map(|name| (*name).to_owned());
        EventError::UnknownTerm {
            term: term.to_owned(),
            event: self.text.to_owned(),
            suggestions: suggest(term, known.chain(general)),
        }
    }
}

fn is_given(key: &str, all: &[Term<'_>]) -> bool {
    all.iter()
        .any(|term| term.key == key && term.value.is_some_and(|value| value != "?"))
}
