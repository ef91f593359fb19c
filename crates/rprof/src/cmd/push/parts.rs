//! What of a recording becomes one message: counts of one event, as many as the server takes.

use super::pushing::Settings;
use anyhow::Result;
use rprof_export::{Format, Otlp, Pprof, SampledTime, service_name};
use rprof_profile::{CountedStacks, CutStacks, EventKind, StackCount};
use rprof_push::{Labels, PartLimits, Protocol};
use std::ops::Range;

/// A message's content.
pub(super) struct Message {
    pub(super) body: Vec<u8>,
    pub(super) labels: Labels,
    pub(super) time: SampledTime,
    /// Samples whose stacks are too long for the server.
    pub(super) cut: CutStacks,
}

/// Hands over all messages of a recording, one at a time.
pub(super) fn each_message(
    stacks: &mut CountedStacks,
    settings: &Settings<'_>,
    take: &mut dyn FnMut(Message) -> Result<()>,
) -> Result<()> {
    let limits = settings.target.protocol.limits();
    let service = service_name(stacks);
    for event in (0u32..).take(stacks.profile.events.len()) {
        let counts = stacks.of_event(event);
        let mut todo = chunks(counts.len(), limits.samples);
        while let Some(range) = todo.pop() {
            let Some(part) = counts.get(range.clone()) else {
                continue;
            };
            let message = encoded(stacks, part, &service, settings)?;
            if message.body.len() > limits.bytes && range.len() > 1 {
                let middle = range.start + range.len() / 2;
                todo.extend([middle..range.end, range.start..middle]);
            } else {
                take(message)?;
            }
        }
    }
    Ok(())
}

/// Ranges of a length, the first one last.
fn chunks(len: usize, most: usize) -> Vec<Range<usize>> {
    let starts = (0..len).step_by(most).rev();
    starts.map(|start| start..len.min(start + most)).collect()
}

fn encoded(
    stacks: &mut CountedStacks,
    counts: &[StackCount],
    service: &str,
    settings: &Settings<'_>,
) -> Result<Message> {
    let protocol = settings.target.protocol;
    let PartLimits { depth, .. } = protocol.limits();
    stacks.with_part(counts, depth, |part, cut| {
        let labels = labels(part, service, &settings.labels);
        let mut body = Vec::new();
        match protocol {
            Protocol::Otlp => otlp(service, &settings.labels).write(part, &mut body)?,
            _ => Pprof.write(part, &mut body)?,
        }
        Ok(Message {
            body,
            labels,
            time: SampledTime::of(part),
            cut,
        })
    })
}

/// OTLP has the labels in its message.
fn otlp(service: &str, labels: &Labels) -> Otlp {
    let mut resource = Otlp::default().resource;
    resource.insert("service.name".to_owned(), service.to_owned());
    for (name, value) in labels.iter() {
        let name = match name {
            "service_name" => "service.name",
            name => name,
        };
        resource.insert(name.to_owned(), value.to_owned());
    }
    Otlp { resource }
}

/// What tells the series of a part from others: what users say, and what the recording says.
fn labels(part: &CountedStacks, service: &str, given: &Labels) -> Labels {
    let mut labels = given.in_prometheus_form();
    labels.add_default("service_name", service);
    if let Some(host) = &part.profile.about.host {
        labels.add_default("machine", host);
    }
    if let Some(event) = part.profile.events.first() {
        let name = event.name.raw();
        labels.add_default("event", name);
        let series = match event.kind {
            EventKind::CpuTime => "process_cpu".to_owned(),
            EventKind::WallTime => "wall".to_owned(),
            _ => {
                let name = event.kind.without_modifier(name);
                name.replace(|c: char| !c.is_ascii_alphanumeric(), "_")
            }
        };
        labels.add_default("__name__", &series);
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_in_order_and_leave_nothing_out() {
        assert_eq!(chunks(0, 3), []);
        assert_eq!(chunks(4, 3), [3..4, 0..3]);
        assert_eq!(chunks(7, 3), [6..7, 3..6, 0..3]);
    }
}
