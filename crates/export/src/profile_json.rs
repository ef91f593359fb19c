//! The profile itself as JSON, for scripts. `crates/JSON.md` says what is in it.

use crate::Format;
use foldhash::fast::RandomState;
use rprof_base::Interner;
use rprof_profile::{
    Dimension, EventProfile, FieldOrder, FrameId, Group, Level, Profile, Quality, Sampling,
};
use rprof_untrusted::{JsonLayout, JsonWriter};
use std::io::{self, Write};

/// Version of the schema: raised when a field changes its name or meaning.
pub const PROFILE_VERSION: u64 = 1;

/// The profile as JSON.
#[derive(Clone, Copy, Debug)]
pub struct Json;

impl Format for Json {
    type Source = Profile;

    fn write(&self, profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
        let trees: Vec<Stacks> = profile
            .events
            .iter()
            .map(|event| Stacks::of(profile, event))
            .collect();
        let frames = Frames::of(profile, &trees);
        let mut json = JsonWriter::new(out, JsonLayout::Compact);
        json.object(|json| {
            json.field("schema", "rprof-profile");
            json.field("version", PROFILE_VERSION);
            profile.about.write_header(FieldOrder::Listed, json);
            json.key("quality").object(|json| quality(profile, json));
            frames.write(profile, json);
            json.key("events").list(|json| {
                for (event, stacks) in profile.events.iter().zip(&trees) {
                    json.object(|json| stacks.write(profile, event, &frames, json));
                }
            });
        });
        json.finish()?;
        out.write_all(b"\n")
    }
}

fn quality(profile: &Profile, json: &mut JsonWriter<'_>) {
    let quality = Quality::of(profile);
    json.field("samples", quality.samples);
    json.field("lost", quality.lost);
    if quality.unwound > 0 {
        json.field("unwound", quality.unwound);
        json.field("complete", quality.complete);
        json.field("truncated", quality.truncated);
    }
    json.field("throttles", quality.throttles);
    json.field("throttled_ns", quality.throttled_ns);
    json.field_if("clock", profile.about.clock.as_ref());
    json.field_if("stacks", profile.unwound.summary());
    json.column("unnamed", &profile.unnamed, |json, image| {
        json.object(|json| {
            json.field("image", &image.path);
            json.field("weight", image.weight);
            json.field("reason", &image.reason);
        });
    });
    json.column("warnings", &profile.warnings, |json, warning| {
        json.text(warning);
    });
}

/// The frames that stacks have, numbered in the order in which they come.
struct Frames(Interner<u32, FrameId, RandomState>);

impl Frames {
    fn of(profile: &Profile, trees: &[Stacks]) -> Self {
        let mut frames = Interner::default();
        for (event, stacks) in profile.events.iter().zip(trees) {
            for &node in &stacks.order {
                frames.intern(event.tree.nodes()[node as usize].frame);
            }
        }
        Self(frames)
    }

    fn write(&self, profile: &Profile, json: &mut JsonWriter<'_>) {
        json.column("frames", self.0.values(), |json, &id| {
            let frame = profile.frames.of(id);
            json.object(|json| {
                if let Some(name) = frame.name {
                    json.field("name", profile.strings.of(name).into_raw());
                }
                if let Some(start) = frame.start.filter(|_| frame.is_fde) {
                    let label = profile.frames.label(id, &profile.strings);
                    json.field("label", label.raw());
                    json.field("start", start);
                }
                json.field("image", profile.strings.of(frame.image).into_raw());
                json.field("level", level(frame.level));
                if frame.is_inlined {
                    json.field("inlined", true);
                }
            });
        });
    }
}

fn level(level: Level) -> &'static str {
    match level {
        Level::User => "user",
        Level::Kernel => "kernel",
        Level::Hypervisor => "hypervisor",
        Level::GuestKernel => "guest kernel",
        Level::GuestUser => "guest user",
    }
}

/// The nodes of an event's tree in an order that does not depend on how they were counted.
struct Stacks {
    /// Nodes, callers first.
    order: Vec<u32>,
    /// Groups by their names.
    groups: Vec<u32>,
    totals: Vec<u64>,
}

impl Stacks {
    fn of(profile: &Profile, event: &EventProfile) -> Self {
        let nodes = event.tree.nodes();
        let mut groups: Vec<u32> = (0u32..).take(event.groups.len()).collect();
        let group = |idx: u32| {
            let group: &Group = &event.groups[idx as usize];
            (
                profile.strings.of(group.comm).into_raw(),
                profile.values.of(group.values).number(Dimension::Pid),
                profile.values.of(group.values).number(Dimension::Tid),
            )
        };
        groups.sort_by(|&a, &b| group(a).cmp(&group(b)));
        let mut ranks = vec![0u32; groups.len()];
        for (rank, &idx) in (0u32..).zip(&groups) {
            ranks[idx as usize] = rank;
        }
        let children = event.tree.child_lists();
        let sorted = |parent: Option<u32>| {
            let mut list = children.of(parent).to_vec();
            let key = |&idx: &u32| {
                let node = &nodes[idx as usize];
                (ranks[node.group as usize], node.frame)
            };
            // From the last to the first, as a stack gives them back.
            list.sort_unstable_by_key(|idx| std::cmp::Reverse(key(idx)));
            list
        };
        let mut order = Vec::with_capacity(nodes.len());
        let mut todo = sorted(None);
        while let Some(node) = todo.pop() {
            order.push(node);
            todo.extend(sorted(Some(node)));
        }
        Self {
            order,
            groups: ranks,
            totals: event.tree.totals(),
        }
    }

    fn write(
        &self,
        profile: &Profile,
        event: &EventProfile,
        frames: &Frames,
        json: &mut JsonWriter<'_>,
    ) {
        json.field("name", event.name.raw());
        json.field("unit", event.kind.unit().unwrap_or("events"));
        match event.sampling {
            Sampling::PerSecond(frequency) => json.field("frequency", frequency),
            Sampling::Every(period) => json.field("period", period),
            Sampling::Mixed => {}
        }
        json.field("samples", event.samples);
        json.field("weight", event.weight);
        json.field("lost", event.loss.samples);
        if event.loss.at_least {
            json.field("lost_at_least", true);
        }
        let mut groups: Vec<(u32, &Group)> =
            self.groups.iter().copied().zip(&event.groups).collect();
        groups.sort_by_key(|&(rank, _)| rank);
        json.column("groups", &groups, |json, (_, group)| {
            json.object(|json| {
                json.field("comm", profile.strings.of(group.comm).into_raw());
                for id in [Dimension::Pid, Dimension::Tid] {
                    if let Some(number) = profile.values.of(group.values).number(id) {
                        json.field(id.name(), number);
                    }
                }
            });
        });
        let nodes = event.tree.nodes();
        let mut numbers = vec![0u64; nodes.len()];
        for (number, &node) in (0u64..).zip(&self.order) {
            numbers[node as usize] = number;
        }
        json.column("stacks", &self.order, |json, &idx| {
            let node = &nodes[idx as usize];
            json.object(|json| {
                match node.parent {
                    Some(parent) => json.field("parent", numbers[parent as usize]),
                    None => json
                        .key("group")
                        .number(self.groups[node.group as usize].into()),
                }
                json.field("frame", frames.0.find(&node.frame));
                if node.self_samples > 0 {
                    json.field("samples", node.self_samples);
                    json.field("weight", node.self_weight);
                }
                json.field("total", self.totals[idx as usize]);
            });
        });
    }
}
