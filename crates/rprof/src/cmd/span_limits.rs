//! Percentiles of spans (`--slower-than p99`) of several recordings together.

use rprof_analysis::span_times;
use rprof_perfdata::Reader;
use rprof_profile::{SpanLimit, SpanSpeed, SpanTimes};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How long the spans of recordings took, by name.
#[derive(Debug, Default)]
pub(super) struct SpanLimits(BTreeMap<String, SpanTimes>);

impl SpanLimits {
    /// Adds those of a recording.
    pub(super) fn add(&mut self, reader: &Reader) -> Result<(), rprof_analysis::Error> {
        for times in span_times(reader)? {
            match self.0.get_mut(times.name.raw()) {
                Some(known) => known.add(&times),
                None => {
                    self.0.insert(times.name.raw().to_owned(), times);
                }
            }
        }
        Ok(())
    }

    /// Makes a percentile the times that it comes to; other limits stay.
    pub(super) fn put_into(&self, speed: &mut SpanSpeed) {
        if let SpanLimit::Percentile(percent) = speed.limit {
            let limits = self.0.iter();
            let limits = limits.map(|(name, times)| (name.clone(), times.percentile_ns(percent)));
            speed.limit = SpanLimit::OfNames(Arc::new(limits.collect()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_untrusted::Untrusted;

    #[test]
    fn percentiles_are_those_of_all_recordings() {
        let mut limits = SpanLimits::default();
        for ns in [vec![1, 2, 3], vec![100; 97]] {
            let times = SpanTimes::new(Untrusted::new("request".to_owned()), ns, 0);
            match limits.0.get_mut("request") {
                Some(known) => known.add(&times),
                None => {
                    limits.0.insert("request".to_owned(), times);
                }
            }
        }
        let mut speed = SpanSpeed::slower("p2").unwrap();
        limits.put_into(&mut speed);
        let SpanLimit::OfNames(of_names) = &speed.limit else {
            panic!("{speed:?}");
        };
        assert_eq!(of_names.get("request"), Some(&2));
        let mut by_time = SpanSpeed::slower("10ms").unwrap();
        limits.put_into(&mut by_time);
        assert_eq!(by_time.limit, SpanLimit::Ns(10_000_000));
    }
}
