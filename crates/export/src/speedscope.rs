//! speedscope's own format: a list of frames, and for each thread a list of stacks with weights.
//!
//! Source: <https://www.speedscope.app/file-format-schema.json> (speedscope 1.25).

use crate::Format;
use foldhash::fast::RandomState;
use rprof_base::Interner;
use rprof_profile::{FrameId, SampledProfile, StrId, Strings};
use rprof_untrusted::{JsonLayout, JsonWriter};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// speedscope's JSON.
#[derive(Clone, Copy, Debug)]
pub struct Speedscope;

impl Format for Speedscope {
    type Source = SampledProfile;

    fn write(&self, sampled: &SampledProfile, out: &mut dyn Write) -> io::Result<()> {
        let frames = Frames::of(sampled);
        let profiles = profiles_of(sampled);
        let mut json = JsonWriter::new(out, JsonLayout::Compact);
        json.object(|json| {
            json.key("$schema")
                .text("https://www.speedscope.app/file-format-schema.json");
            json.key("exporter")
                .text(concat!("rprof ", env!("CARGO_PKG_VERSION")));
            json.key("name").text(&name_of(sampled));
            let heaviest = profiles.values().enumerate();
            let heaviest = heaviest.max_by_key(|(idx, one)| (one.weight, std::cmp::Reverse(*idx)));
            let heaviest = heaviest.map_or(0, |(idx, _)| idx);
            json.key("activeProfileIndex").number(heaviest as u64);
            json.key("shared").object(|json| frames.write(json));
            json.key("profiles").list(|json| {
                if profiles.is_empty() {
                    // Without any, the page stays blank.
                    write_profile(sampled, "no samples", "none", &frames, &[], json);
                }
                for (&(event, thread), one) in &profiles {
                    let name = profile_name(sampled, event, thread);
                    let kind = sampled.profile.events.get(usize::from(event));
                    let unit = kind.and_then(|event| event.kind.unit()).unwrap_or("none");
                    write_profile(sampled, &name, unit, &frames, &one.samples, json);
                }
            });
        });
        json.finish()
    }
}

/// The command that was recorded, with what is missing.
fn name_of(sampled: &SampledProfile) -> String {
    let mut name = sampled.profile.about.command.join(" ");
    if name.is_empty() {
        "perf.data".clone_into(&mut name);
    }
    for event in &sampled.profile.events {
        let loss = event.loss;
        if loss.samples > 0 {
            name += &format!(" ({}: {loss} lost)", event.name.raw());
        }
    }
    name
}

/// The samples of one thread and event.
#[derive(Default)]
struct ThreadSamples {
    weight: u64,
    samples: Vec<u32>,
}

/// By event and thread.
fn profiles_of(sampled: &SampledProfile) -> BTreeMap<(u16, u32), ThreadSamples> {
    let mut profiles: BTreeMap<(u16, u32), ThreadSamples> = BTreeMap::new();
    for (idx, sample) in (0..).zip(sampled.samples.iter()) {
        let one = profiles.entry((sample.event, sample.thread)).or_default();
        one.weight = one.weight.saturating_add(sample.weight);
        one.samples.push(idx);
    }
    profiles
}

fn profile_name(sampled: &SampledProfile, event: u16, thread: u32) -> String {
    let thread = sampled.threads.get(thread as usize);
    let mut name = thread.map_or_else(String::new, |thread| {
        let comm = sampled.profile.strings.of(thread.comm).into_raw();
        format!("{comm} {}/{}", thread.pid, thread.tid)
    });
    if sampled.profile.events.len() > 1
        && let Some(event) = sampled.profile.events.get(usize::from(event))
    {
        name += &format!(" {}", event.name.raw());
    }
    name
}

/// A function, once, whatever its lines were: viewers take others for other functions.
struct Function {
    name: String,
    /// Its source file, or its image.
    file: String,
    /// The first line of it that is in a stack, if its file is the source.
    line: Option<u32>,
    /// The source file of the first line that a stack had of it.
    source: Option<StrId>,
}

impl Function {
    fn add_line(&mut self, file: StrId, line: u32, strings: &Strings) {
        if self.source.is_none() {
            self.source = Some(file);
            strings.of(file).into_raw().clone_into(&mut self.file);
        }
        if self.source == Some(file) {
            self.line = Some(self.line.map_or(line, |first| first.min(line)));
        }
    }
}

/// Functions by number, in the order in which stacks have them.
struct Frames {
    /// By function and image.
    all: Interner<u32, Function, RandomState, (FrameId, u32)>,
    /// By code, the numbers of its functions, outermost first.
    of_code: Vec<Vec<u32>>,
}

impl Frames {
    fn of(sampled: &SampledProfile) -> Self {
        let profile = &sampled.profile;
        let mut all = Interner::default();
        let code = sampled.code.locations.iter().map(|code| {
            let image = sampled.code.images.get(code.image as usize);
            let path = image.map_or("", |image| profile.strings.of(image.path).into_raw());
            let frames = code.frames.iter().rev().map(|one| {
                let number = all.intern_with((one.frame, code.image), |_| Function {
                    name: profile.frames.label(one.frame, &profile.strings).into_raw(),
                    file: path.to_owned(),
                    line: None,
                    source: None,
                });
                if let (Some((file, line)), Some(function)) = (one.line, all.get_mut(number)) {
                    function.add_line(file, line, &profile.strings);
                }
                number
            });
            frames.collect()
        });
        let of_code = code.collect();
        Self { all, of_code }
    }

    fn write(&self, json: &mut JsonWriter<'_>) {
        json.column("frames", self.all.values(), |json, one| {
            json.object(|json| {
                json.key("name").text(&one.name);
                json.key("file").text(&one.file);
                if let Some(line) = one.line {
                    json.key("line").number(line.into());
                }
            });
        });
    }
}

fn write_profile(
    sampled: &SampledProfile,
    name: &str,
    unit: &str,
    frames: &Frames,
    samples: &[u32],
    json: &mut JsonWriter<'_>,
) {
    let samples = || {
        let samples = samples.iter();
        samples.map(|&idx| sampled.samples.row(idx as usize))
    };
    json.object(|json| {
        json.key("type").text("sampled");
        json.key("name").text(name);
        json.key("unit").text(unit);
        json.key("startValue").number(0);
        let sum = samples().fold(0u64, |sum, sample| sum.saturating_add(sample.weight));
        json.key("endValue").number(sum);
        let mut path = Vec::new();
        json.key("samples").list(|json| {
            for sample in samples() {
                path.clear();
                let nodes = sampled.stacks.path(sample.stack);
                path.extend(nodes.map(|node| node.frame.number()));
                json.list(|json| {
                    for &code in path.iter().rev() {
                        let numbers = frames.of_code.get(code as usize);
                        let numbers = numbers.map_or(&[][..], Vec::as_slice);
                        numbers
                            .iter()
                            .for_each(|&number| json.number(number.into()));
                    }
                });
            }
        });
        json.column("weights", samples(), |json, sample| {
            json.number(sample.weight);
        });
    });
}
