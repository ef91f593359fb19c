//! PMUs as sysfs describes them: type, CPUs, terms (`format/`) and named events (`events/`).
//!
//! Source: `Documentation/ABI/testing/sysfs-bus-event_source-devices-events` (v6.12).

use std::path::PathBuf;

use crate::format::TermFormat;
use crate::sources::{is_plain, list_dir, read_trimmed};
use crate::term::{Term, split_terms};
use crate::{EventError, Sources, parse_cpu_list};
use rprof_base::glob_matches;

/// One folder below `/sys/bus/event_source/devices`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pmu {
    pub(crate) name: String,
    /// `attr.type` of its events.
    pub(crate) kind: u32,
    /// Whether it is (one kind of) the CPUs' own.
    pub(crate) is_core: bool,
    /// Where its events can be opened; `None` if everywhere.
    pub(crate) cpus: Option<Vec<u32>>,
    dir: PathBuf,
}

impl Pmu {
    /// Every PMU that can be understood, ordered by type.
    pub(crate) fn load_all(sources: &Sources) -> Vec<Self> {
        // Without this folder the kernel has no PMUs to name; unknown names are told later.
        let names = list_dir(&sources.pmus()).unwrap_or_default();
        let mut pmus: Vec<Self> = names
            .into_iter()
            .filter_map(|name| Self::load(sources, name))
            .collect();
        pmus.sort_by_key(|pmu| pmu.kind);
        pmus
    }

    pub(crate) fn load(sources: &Sources, name: String) -> Option<Self> {
        let dir = sources.pmus().join(&name);
        let kind = read_trimmed(&dir.join("type")).ok()?.parse().ok()?;
        // `cpus` marks a core PMU, `cpumask` says where an uncore PMU is opened: one CPU of
        // each package.
        let cpu_list = |file| parse_cpu_list(&read_trimmed(&dir.join(file)).ok()?).ok();
        let own_cpus = cpu_list("cpus");
        let is_core = own_cpus.is_some() || matches!(name.as_str(), "cpu" | "cpum_cf");
        let cpus = own_cpus.or_else(|| cpu_list("cpumask"));
        Some(Self {
            name,
            kind,
            is_core,
            cpus,
            dir,
        })
    }

    /// Whether the user means this PMU, by a pattern as well.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        glob_matches(name, &self.name)
    }

    /// Whether it is a core PMU with a CPU on line.
    pub(crate) fn is_usable_core(&self) -> bool {
        self.is_core && self.cpus.as_ref().is_none_or(|cpus| !cpus.is_empty())
    }

    /// The terms of a named event; `None` if there is none of this name.
    ///
    /// # Errors
    /// [`EventError::Read`] if there is but it cannot be read.
    pub(crate) fn alias(&self, name: &str) -> Option<Result<String, EventError>> {
        let path = self.dir.join("events").join(name);
        // Dots are in the names of files about an event: `.scale`, `.unit`.
        let is_there = is_plain(name) && !name.contains('.') && path.is_file();
        is_there.then(|| read_trimmed(&path))
    }

    /// The bits of a term; `None` if there is none of this name.
    ///
    /// # Errors
    /// [`EventError::Read`] and [`EventError::BadFile`] if there is but it makes no sense.
    pub(crate) fn format(&self, term: &str) -> Option<Result<TermFormat, EventError>> {
        let path = self.dir.join("format").join(term);
        if !is_plain(term) || !path.is_file() {
            return None;
        }
        Some(
            read_trimmed(&path).and_then(|text| {
                TermFormat::parse(&text).ok_or(EventError::BadFile { path, text })
            }),
        )
    }

    /// What sysfs says of a term's bits, as it is written there.
    pub(crate) fn format_text(&self, term: &str) -> Option<String> {
        read_trimmed(&self.dir.join("format").join(term)).ok()
    }

    /// What a file beside a named event says of it: its unit or scale, or a description.
    pub(crate) fn about_alias(&self, name: &str, folder: &str, suffix: &str) -> Option<String> {
        let path = self.dir.join(folder).join(format!("{name}{suffix}"));
        let text = read_trimmed(&path).ok();
        text.filter(|text| !text.is_empty())
    }

    /// `terms` with named events replaced by their terms.
    ///
    /// # Errors
    /// Terms that cannot be cut, or an event that cannot be read.
    pub(crate) fn expand(&self, terms: &str, event: &str) -> Result<String, EventError> {
        let expanded = split_terms(terms, event)?.into_iter().map(|term| {
            let Term { key, value } = term;
            match (value, self.alias(key)) {
                (Some(value), _) => Ok(format!("{key}={value}")),
                (None, Some(alias)) => alias,
                (None, None) => Ok(key.to_owned()),
            }
        });
        Ok(expanded.collect::<Result<Vec<_>, _>>()?.join(","))
    }

    /// Names of its events.
    pub(crate) fn alias_names(&self) -> impl Iterator<Item = String> + use<> {
        let names = list_dir(&self.dir.join("events")).unwrap_or_default();
        names.into_iter().filter(|name| !name.contains('.'))
    }

    /// Names of its terms.
    pub(crate) fn format_names(&self) -> Vec<String> {
        list_dir(&self.dir.join("format")).unwrap_or_default()
    }
}
