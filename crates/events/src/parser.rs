//! From a list of events to attrs: which kind of event each text is.

use crate::breakpoint::parse_breakpoint;
use crate::group::{Group, Parsed};
use crate::item::{Item, split_list};
use crate::modifier::Modifiers;
use crate::pmu::Pmu;
use crate::pmu_event::PmuEvent;
use crate::probe::parse_probe;
use crate::suggest::suggest;
use crate::symbol::{Symbol, symbol_names};
use crate::term::General;
use crate::tracepoint::Tracepoints;
use crate::{Event, EventError, Sources};

/// Reads a list of events as perf's `-e` takes it, for example
/// `cycles:u,cpu/event=0x3c,umask=1/,r1a8,sched:sched_switch,mem:0x1000:rw`.
///
/// Patterns give several events; so do generic events on machines with several core PMUs, one
/// for each. Events between braces are a group: the first of them leads it, the others follow.
///
/// # Errors
/// The first event that cannot be understood, and why.
pub fn parse_events(list: &str, sources: &Sources) -> Result<Vec<Event>, EventError> {
    let parser = Parser {
        sources,
        pmus: Pmu::load_all(sources),
    };
    let mut events = Vec::new();
    for text in split_list(list)? {
        events.extend(match Group::cut(text)? {
            Some(group) => parser.group(&group)?,
            None => parser.parse_one(text)?.with_own_modifiers(),
        });
    }
    Ok(events)
}

/// perf's tool events, which are no events of the kernel.
const OF_PERF_STAT: &[&str] = &["duration_time", "user_time", "system_time"];

struct Parser<'a> {
    sources: &'a Sources,
    pmus: Vec<Pmu>,
}

impl Parser<'_> {
    fn group(&self, group: &Group<'_>) -> Result<Vec<Event>, EventError> {
        let members = group.members.iter().map(|text| self.parse_one(text));
        group.of(members.collect::<Result<_, _>>()?)
    }

    fn parse_one(&self, text: &str) -> Result<Parsed, EventError> {
        if let Some(rest) = text.strip_prefix("mem:") {
            let (event, modifiers) = parse_breakpoint(text, rest)?;
            return Ok(Parsed::new(text, vec![event], modifiers));
        }
        if !self.has_tracepoints(text)
            && let Some((event, modifiers)) = parse_probe(text, self.sources)?
        {
            return Ok(Parsed::new(text, vec![event], modifiers));
        }
        let item = Item::cut(text)?;
        let has_colon = item.terms.is_none() && text.contains(':');
        if has_colon && !self.is_known(item.head) {
            return self.tracepoints(item);
        }
        let modifiers = Modifiers::parse(item.modifiers, text)?;
        let events = match item.terms {
            Some(terms) => self.with_terms(item, terms)?,
            None => self.by_name(item)?,
        };
        Ok(Parsed::new(text, events, modifiers))
    }

    /// A look-up of tracepoints; `event` is what was given, for messages.
    fn tracefs<'t>(&'t self, event: &'t str) -> Tracepoints<'t> {
        let sources = self.sources;
        Tracepoints { sources, event }
    }

    /// Whether what stands before the first colon is a system of tracepoints, such as perf makes of markers.
    fn has_tracepoints(&self, text: &str) -> bool {
        let system = text.split(':').next().unwrap_or_default();
        self.tracefs(text).has_system(system)
    }

    /// Whether what follows the colon are modifiers, not the name of a tracepoint.
    fn is_known(&self, name: &str) -> bool {
        Symbol::named(name).is_some()
            || Symbol::raw(name).is_some()
            || (!self.tracefs(name).has_system(name) && self.with_alias(name).next().is_some())
    }

    fn tracepoints(&self, item: Item<'_>) -> Result<Parsed, EventError> {
        let (name, letters) = match item.modifiers.split_once(':') {
            Some((name, letters)) => (name, letters),
            None => (item.modifiers, ""),
        };
        let tracepoints = self.tracefs(item.text);
        // `cycels:u` is a slip in the name of an event, not in that of a system.
        if Modifiers::are(name) && !tracepoints.has_system(item.head) {
            return Err(self.unknown(item.head));
        }
        if name.is_empty() {
            return Err(EventError::empty("the name of a tracepoint", item.text));
        }
        let modifiers = Modifiers::parse(letters, item.text)?;
        let events = tracepoints.find(item.head, name)?;
        Ok(Parsed::new(item.text, events, modifiers))
    }

    /// `cycles`, `mem-loads` (an event that a PMU names), `r1a8`.
    fn by_name(&self, item: Item<'_>) -> Result<Vec<Event>, EventError> {
        if let Some(symbol) = Symbol::named(item.head) {
            return self.generic(item, symbol);
        }
        let pmus: Vec<&Pmu> = self.with_alias(item.head).collect();
        let events = pmus.iter().map(|pmu| {
            let name = match pmus.len() {
                1 => item.name(),
                _ => item.name_on(&pmu.name),
            };
            self.on(pmu, item).with_terms(name, item.head)
        });
        match Symbol::raw(item.head) {
            _ if !pmus.is_empty() => events.collect(),
            Some(symbol) => self.generic(item, symbol?),
            None => Err(self.unknown(item.head)),
        }
    }

    /// `cpu/event=0x3c/`, `uncore_*/clockticks/`, `cycles/period=1000/`.
    fn with_terms(&self, item: Item<'_>, terms: &str) -> Result<Vec<Event>, EventError> {
        let pmus = self.named(item.head);
        if let (true, Some((system, name))) = (pmus.is_empty(), item.head.split_once(':')) {
            return self.tracepoints_with_terms(item, system, name);
        }
        if pmus.is_empty() {
            return match (Symbol::named(item.head), Symbol::raw(item.head)) {
                (Some(symbol), _) => self.generic(item, symbol),
                (None, Some(symbol)) => self.generic(item, symbol?),
                (None, None) => Err(self.unknown_pmu(item)),
            };
        }
        let events = pmus.into_iter().map(|pmu| {
            let own = Item {
                head: &pmu.name,
                ..item
            };
            self.on(pmu, item).with_terms(own.name(), terms)
        });
        events.collect()
    }

    /// `sched:sched_switch/call-graph=no/`.
    fn tracepoints_with_terms(
        &self,
        item: Item<'_>,
        system: &str,
        name: &str,
    ) -> Result<Vec<Event>, EventError> {
        let general = General::of(item.terms.unwrap_or_default(), item.text)?;
        let tracepoints = self.tracefs(item.text);
        let mut events = tracepoints.find(system, name)?;
        for event in &mut events {
            general.apply(event);
        }
        Ok(events)
    }

    /// A generic event: one, or one for each kind of core that this machine has.
    fn generic(&self, item: Item<'_>, symbol: Symbol) -> Result<Vec<Event>, EventError> {
        let general = General::of(item.terms.unwrap_or_default(), item.text)?;
        let event_named = |name| {
            let mut event = Event::new(name, symbol.kind, symbol.config);
            general.apply(&mut event);
            event
        };
        if !symbol.is_core() || !self.is_hybrid() {
            return Ok(vec![event_named(item.name())]);
        }
        let events = self.cores().map(|pmu| {
            let mut event = event_named(item.name_on(&pmu.name));
            self.on(pmu, item).generic(symbol, &mut event);
            event
        });
        Ok(events.collect())
    }

    fn on<'a>(&self, pmu: &'a Pmu, item: Item<'a>) -> PmuEvent<'a> {
        PmuEvent {
            pmu,
            is_hybrid: self.is_hybrid(),
            text: item.text,
        }
    }

    fn cores(&self) -> impl Iterator<Item = &Pmu> {
        self.pmus.iter().filter(|pmu| pmu.is_usable_core())
    }

    fn is_hybrid(&self) -> bool {
        self.cores().nth(1).is_some()
    }

    /// The PMUs of this name or pattern; `cpu` means the core PMUs, whatever they are called.
    fn named(&self, name: &str) -> Vec<&Pmu> {
        let named = self.pmus.iter().filter(|pmu| pmu.is_named(name));
        let found: Vec<&Pmu> = named.collect();
        match name {
            "cpu" if found.is_empty() => self.cores().collect(),
            _ => found,
        }
    }

    fn with_alias<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Pmu> {
        self.pmus.iter().filter(|pmu| pmu.alias(name).is_some())
    }

    fn unknown(&self, name: &str) -> EventError {
        if OF_PERF_STAT.contains(&name) {
            let name = name.to_owned();
            return EventError::OnlyCounted { name };
        }
        if name.contains([' ', ';']) {
            let name = name.to_owned();
            return EventError::NotOne { name };
        }
        let known = symbol_names().chain(self.pmus.iter().flat_map(Pmu::alias_names));
        EventError::UnknownEvent {
            name: name.to_owned(),
            suggestions: suggest(name, known),
        }
    }

    fn unknown_pmu(&self, item: Item<'_>) -> EventError {
        let known = self.pmus.iter().map(|pmu| pmu.name.clone());
        EventError::UnknownPmu {
            name: item.head.to_owned(),
            event: item.text.to_owned(),
            suggestions: suggest(item.head, known.chain(symbol_names())),
        }
    }
}
