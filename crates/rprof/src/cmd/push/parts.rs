//! What of a recording becomes one message: counts of one event, as many as the server takes.

use super::pushing::Settings;
use anyhow::Result;
use rprof_export::{
    Format, Otlp, SampleLabels, SampledTime, StorePprof, service_name, store_series,
};
use rprof_profile::{CountedStacks, CutStacks, PartOf};
use rprof_push::{Labels, Protocol};
use std::ops::Range;

/// A message's content.
pub(super) struct Message {
    pub(super) body: Vec<u8>,
    pub(super) labels: Labels,
    pub(super) time: SampledTime,
    /// Samples whose stacks are too long for the server.
    pub(super) cut: CutStacks,
    /// It can be made two of.
    pub(super) is_divisible: bool,
}

/// What came of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// On to the next one.
    Done,
    /// It is too large for the server: its halves come next.
    Halve,
    /// No other one is wanted.
    Enough,
}

/// Hands over all messages of a recording, one at a time.
pub(super) fn each_message(
    stacks: &mut CountedStacks,
    settings: &Settings<'_>,
    take: &mut dyn FnMut(Message) -> Result<Taken>,
) -> Result<()> {
    let protocol = settings.target.protocol;
    let limits = protocol.limits();
    let service = service_name(stacks);
    for event in (0u32..).take(stacks.profile.events.len()) {
        let counts = match labels_of(protocol) {
            Some(SampleLabels::Comm) => stacks.of_event_by_comm(event),
            _ => stacks.of_event(event),
        };
        let mut todo = chunks(counts.len(), limits.samples);
        while let Some(range) = todo.pop() {
            let Some(part) = counts.get(range.clone()) else {
                continue;
            };
            let of = PartOf {
                counts: part,
                max_depth: limits.depth,
                has_losses: range.start == 0,
            };
            let message = encoded(stacks, of, &service, settings)?;
            let is_divisible = message.is_divisible;
            let taken = if message.body.len() > limits.bytes && is_divisible {
                Taken::Halve
            } else {
                take(message)?
            };
            match taken {
                Taken::Halve if is_divisible => {
                    let middle = range.start + range.len() / 2;
                    todo.extend([middle..range.end, range.start..middle]);
                }
                Taken::Halve | Taken::Done => {}
                Taken::Enough => return Ok(()),
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

/// What pprof's samples are labelled with; `None` if the protocol has another format.
fn labels_of(protocol: Protocol) -> Option<SampleLabels> {
    match protocol {
        Protocol::Otlp => None,
        Protocol::Pyroscope | Protocol::PyroscopeIngest => Some(SampleLabels::Comm),
        Protocol::Parca => Some(SampleLabels::All),
    }
}

fn encoded(
    stacks: &mut CountedStacks,
    of: PartOf<'_>,
    service: &str,
    settings: &Settings<'_>,
) -> Result<Message> {
    let is_divisible = of.counts.len() > 1;
    stacks.with_part(of, |part, cut| {
        let labels = labels(part, service, &settings.labels);
        let mut body = Vec::new();
        match labels_of(settings.target.protocol) {
            None => otlp(service, &settings.labels).write(part, &mut body)?,
            Some(labels) => StorePprof { labels }.write(part, &mut body)?,
        }
        Ok(Message {
            body,
            labels,
            time: SampledTime::of(part),
            cut,
            is_divisible,
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
        labels.add_default("event", event.name.raw());
        labels.add_default("__name__", &store_series(event));
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
