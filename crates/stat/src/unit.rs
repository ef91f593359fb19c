//! Units of counts, and what a count is multiplied with.

use rprof_abi::event_type;
use rprof_events::{Event, Sources};

/// A unit; most events have none.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unit {
    /// Its name; empty if there is none.
    pub(crate) name: String,
    /// Units for one count.
    pub(crate) scale: f64,
}

impl Unit {
    /// Milliseconds of clocks; what sysfs says of others.
    pub(crate) fn of(event: &Event, sources: &Sources) -> Self {
        if event.attr.kind == event_type::SOFTWARE && event.attr.config <= 1 {
            return Self {
                name: "msec".to_owned(),
                scale: 1e-6,
            };
        }
        let said = |kind: &str| {
            let mut parts = event.name.split('/');
            let (pmu, alias) = (parts.next()?, parts.next()?);
            let is_plain = |name: &str| !name.is_empty() && !name.contains(['.', ',', '=']);
            if !is_plain(pmu) || !is_plain(alias) {
                return None;
            }
            let folder = sources.sysfs.join("bus/event_source/devices").join(pmu);
            let path = folder.join("events").join(format!("{alias}.{kind}"));
            std::fs::read_to_string(path).ok()
        };
        let scale = said("scale").and_then(|text| text.trim().parse().ok());
        Self {
            name: said("unit").map_or_else(String::new, |text| text.trim().to_owned()),
            scale: scale
                .filter(|scale: &f64| scale.is_finite() && *scale > 0.0)
                .unwrap_or(1.0),
        }
    }

    /// Whether counts in it have decimals.
    pub(crate) fn has_decimals(&self) -> bool {
        self.scale.fract() != 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_events::parse_events;
    use std::fs;

    #[test]
    fn clocks_are_in_milliseconds_and_sysfs_says_the_rest() {
        let dir = tempfile::tempdir().unwrap();
        let pmu = dir.path().join("bus/event_source/devices/power");
        fs::create_dir_all(pmu.join("events")).unwrap();
        for (name, text) in [
            ("type", "12\n"),
            ("events/energy-pkg", "event=0x02\n"),
            ("events/energy-pkg.scale", "2.3283064365386962890625e-10\n"),
            ("events/energy-pkg.unit", "Joules\n"),
        ] {
            fs::write(pmu.join(name), text).unwrap();
        }
        fs::create_dir(pmu.join("format")).unwrap();
        fs::write(pmu.join("format/event"), "config:0-7\n").unwrap();
        let sources = Sources {
            sysfs: dir.path().to_owned(),
            tracefs: dir.path().join("tracing"),
        };
        let unit = |text: &str| Unit::of(&parse_events(text, &sources).unwrap()[0], &sources);
        assert_eq!(
            (unit("task-clock").name, unit("cs").name),
            ("msec".into(), String::new())
        );
        let joules = unit("power/energy-pkg/");
        assert_eq!(joules.name, "Joules");
        assert!(joules.has_decimals() && (joules.scale - 2.3283e-10).abs() < 1e-13);
        assert!(!unit("cs").has_decimals());
    }
}
