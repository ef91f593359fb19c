//! Names of events: from EVENT_UPDATE, EVENT_DESC, simpleperf's META_INFO or the formats of
//! tracepoints; where there is none of these, made of the attr.

use super::Reader;
use super::attrs::Described;
use crate::feature::{EventDesc, MetaInfo, SectionItem, TracingData};
use crate::{FeatureId, Warning};
use foldhash::HashMap;
use rprof_abi::{AttrFlags, PerfEventAttr, event_type};
use rprof_untrusted::Untrusted;
use std::cell::OnceCell;

impl Reader {
    /// Takes the events, with their names.
    pub(super) fn take_events(&mut self, described: Vec<Described>, updates: &[(u64, Vec<u8>)]) {
        let names = self.described_names();
        let others = OnceCell::new();
        // Of two with the same id, the first description and the last update count.
        let described_ids: HashMap<u64, &EventDesc> = names
            .iter()
            .rev()
            .flat_map(|desc| desc.ids.iter().map(move |&id| (id, desc)))
            .collect();
        let places = updates.iter().zip(0usize..);
        let updated_ids: HashMap<u64, usize> =
            places.map(|((id, _), place)| (*id, place)).collect();
        for (place, mut one) in described.into_iter().enumerate() {
            // Matched by id where there are ids, else by place.
            let same_id = one.ids.iter().find_map(|id| described_ids.get(id).copied());
            let by_place = || names.get(place).filter(|_| one.ids.is_empty());
            let desc = same_id.or_else(by_place);
            let update = one.ids.iter().filter_map(|id| updated_ids.get(id)).max();
            let update = update.and_then(|&place| updates.get(place));
            let name = update.map(|(_, name)| name);
            let name = name.or(desc.map(|desc| &desc.name));
            let name = name.map(|name| String::from_utf8_lossy(name).into_owned());
            let attr = &one.event.attr;
            if let Some(name) =
                name.or_else(|| others.get_or_init(|| OtherNames::of(self)).name(attr))
            {
                one.event.name = Untrusted::new(name);
            }
            self.event_by_id
                .extend(one.ids.iter().map(|&id| (id, place)));
            self.events.push(one.event);
        }
        self.find_id_layouts();
    }

    /// What EVENT_DESC says, or nothing and a warning.
    fn described_names(&mut self) -> Vec<EventDesc> {
        let what = match self.feature(FeatureId::EVENT_DESC) {
            Ok(None) => return Vec::new(),
            Ok(Some(section)) => match EventDesc::parse_all(&section, self.endian) {
                Ok(described) => return described,
                Err(error) => error.to_string(),
            },
            Err(error) => error.to_string(),
        };
        self.warnings.push(Warning::BadFeature {
            feature: FeatureId::EVENT_DESC.name(),
            what,
        });
        Vec::new()
    }
}

/// Names by what events count, for recordings that do not describe each event.
#[derive(Debug, Default)]
struct OtherNames {
    /// simpleperf's, by type and `config`.
    simpleperf: HashMap<(u32, u64), String>,
    /// Of tracepoints, by `config`.
    tracepoints: HashMap<u64, String>,
}

impl OtherNames {
    fn of(reader: &Reader) -> Self {
        let section = |id| reader.feature(id).ok().flatten();
        let pairs = section(FeatureId::SIMPLEPERF_META_INFO);
        let pairs = pairs.and_then(|section| MetaInfo::parse_all(&section, reader.endian()).ok());
        let info = pairs
            .iter()
            .flatten()
            .find(|pair| pair.key == b"event_type_info");
        let lines = info
            .into_iter()
            .flat_map(|info| info.value.split(|&byte| byte == b'\n'));
        let formats = section(FeatureId::TRACING_DATA);
        // What is wrong with it is said where fields are wanted.
        let formats = formats.and_then(|section| TracingData::parse(&section).ok());
        Self {
            simpleperf: lines.filter_map(named_type).collect(),
            tracepoints: formats.iter().flat_map(TracingData::names).collect(),
        }
    }

    fn name(&self, attr: &PerfEventAttr) -> Option<String> {
        if let Some(name) = self.simpleperf.get(&(attr.kind, attr.config)) {
            return Some(format!("{name}{}", simpleperf_modifier(attr.flags)));
        }
        let name = self.tracepoints.get(&attr.config);
        name.filter(|_| attr.kind == event_type::TRACEPOINT)
            .cloned()
    }
}

/// A line of `event_type_info`: `cpu-cycles,0,0` is name, type and `config`.
fn named_type(line: &[u8]) -> Option<((u32, u64), String)> {
    let line = std::str::from_utf8(line).ok()?;
    let mut parts = line.rsplitn(3, ',');
    let config = parts.next()?.parse().ok()?;
    let kind = parts.next()?.parse().ok()?;
    Some(((kind, config), parts.next()?.to_owned()))
}

/// As simpleperf shows it: the level alone.
fn simpleperf_modifier(flags: AttrFlags) -> &'static str {
    match (
        flags.has(AttrFlags::EXCLUDE_USER),
        flags.has(AttrFlags::EXCLUDE_KERNEL),
    ) {
        (true, false) => ":k",
        (false, true) => ":u",
        _ => "",
    }
}
