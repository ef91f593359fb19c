//! `-M`: metrics, and the events that they need.

use crate::args::StatArgs;
use crate::usage::{of_event, usage};
use anyhow::{Context, Result, ensure};
use rprof_events::{Event, Sources, online_cpus, parse_events};
use rprof_stat::{DefinedMetric, MetricOfEvents, Names};
use std::io::Read;
use std::path::Path;

/// Reads metrics. The events of each are counted together, behind the others.
pub(super) fn metrics(
    args: &StatArgs,
    sources: &Sources,
    events: &mut Vec<Event>,
) -> Result<Vec<MetricOfEvents>> {
    let mut metrics: Vec<DefinedMetric> = Vec::new();
    let is_event = |name: &str| parse_events(name, sources).is_ok();
    let n_cpus = online_cpus(sources).map_or(1, |cpus| cpus.len());
    for text in &args.events.metrics {
        let names = Names {
            metrics: &metrics,
            is_event: &is_event,
            n_cpus: n_cpus.try_into().unwrap_or(u32::MAX),
        };
        let parsed = if text.contains('=') {
            vec![DefinedMetric::parse(text, names).map_err(usage)?]
        } else {
            let file = file(text).with_context(|| {
                format!("-M {text}: a metric is NAME=EXPRESSION, or a file of such lines")
            })?;
            let parsed = DefinedMetric::parse_file(&file, names);
            parsed.map_err(|error| usage(format_args!("{text}, {error}")))?
        };
        metrics.extend(parsed);
    }
    metrics
        .into_iter()
        .map(|metric| place(metric, sources, events))
        .collect()
}

/// Adds a metric's events, as a group that may be taken apart.
fn place(
    metric: DefinedMetric,
    sources: &Sources,
    events: &mut Vec<Event>,
) -> Result<MetricOfEvents> {
    if metric.events.is_empty() {
        let name = metric.name;
        return Err(usage(format_args!("metric '{name}' uses no event")));
    }
    let group = format!("{{{}}}:W", metric.events.join(","));
    let counted = parse_events(&group, sources).map_err(of_event)?;
    let mut own = Vec::new();
    for name in &metric.events {
        // Several, where there are several kinds of cores.
        let wanted = parse_events(name, sources).map_err(of_event)?;
        let is_it = |event: &Event| wanted.iter().any(|one| is_same(one, event));
        let found = counted.iter().enumerate().filter(|(_, one)| is_it(one));
        own.push(found.map(|(nth, _)| events.len() + nth).collect());
    }
    events.extend(counted);
    Ok(MetricOfEvents {
        metric,
        events: own,
    })
}

/// Whether two are the same but for their group.
fn is_same(a: &Event, b: &Event) -> bool {
    a.name == b.name && a.attr.kind == b.attr.kind && a.attr.config == b.attr.config
}

/// No file of metrics is longer.
const MOST_BYTES: u64 = 1 << 20;

fn file(path: &str) -> Result<String> {
    let (file, _) = rprof_untrusted::open(Path::new(path))?;
    let mut text = String::new();
    file.take(MOST_BYTES + 1).read_to_string(&mut text)?;
    ensure!(text.len() as u64 <= MOST_BYTES, "it is larger than 1 MiB");
    Ok(text)
}
