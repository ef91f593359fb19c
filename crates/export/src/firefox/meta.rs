//! What the whole profile is.

use super::clock::Clock;
use super::markers::{self, Schema};
use super::shared::CATEGORIES;
use super::waits;
use rprof_base::Counted;
use rprof_profile::{EventKind, SampledProfile, Sampling};
use rprof_untrusted::JsonWriter;

/// Version of the processed format; the page converts older ones when it loads them.
const VERSION: u64 = 69;

/// Version of the format that Firefox itself writes, which no part of this comes from.
const GECKO_VERSION: u64 = 36;

pub(super) fn write(sampled: &SampledProfile, clock: Clock, json: &mut JsonWriter<'_>) {
    let about = &sampled.profile.about;
    json.key("version").number(GECKO_VERSION);
    json.key("preprocessedProfileVersion").number(VERSION);
    json.key("processType").number(0);
    json.key("product").text(&product(sampled));
    json.key("importedFrom")
        .text(concat!("rprof ", env!("CARGO_PKG_VERSION")));
    json.key("interval").millis(interval_ns(sampled));
    // Milliseconds since 1970; without a wall clock only what is between times counts.
    let wall_ns = about.wall_clock.filter(|_| sampled.has_times);
    let wall_ns = wall_ns.and_then(|wall| wall.at(clock.start_ns));
    json.key("startTime").millis(wall_ns.unwrap_or(0));
    json.key("profilingStartTime").number(0);
    json.key("profilingEndTime")
        .millis(clock.since(clock.end_ns));
    json.key("stackwalk").number(1);
    json.key("debug").boolean(false);
    json.key("symbolicated").boolean(true);
    json.key("symbolicationNotSupported").boolean(true);
    json.key("usesOnlyOneStackType").boolean(true);
    json.key("sourceCodeIsNotOnSearchfox").boolean(true);
    json.key("toolkit").text("");
    json.key("platform").text("Linux");
    let release = about.os_release.as_deref().unwrap_or("");
    let arch = about.arch.as_deref().unwrap_or("");
    json.key("oscpu")
        .text(format!("Linux {release} {arch}").trim());
    json.key("arguments").text(&about.command.join(" "));
    if let Some(cpu) = &about.cpu {
        json.key("CPUName").text(cpu);
    }
    if let Some(n_cpus) = about.n_cpus {
        json.key("logicalCPUs").number(n_cpus.into());
    }
    json.key("sampleUnits").object(|json| {
        json.key("time").text("ms");
        json.key("eventDelay").text("ms");
        json.key("threadCPUDelta").text(match cpu_event(sampled) {
            Some(EventKind::Cycles) => "variable CPU cycles",
            _ => "ns",
        });
    });
    json.key("categories").list(|json| {
        for (name, color) in CATEGORIES {
            json.object(|json| {
                json.key("name").text(name);
                json.key("color").text(color);
                json.column("subcategories", ["Other"], JsonWriter::text);
            });
        }
    });
    json.key("markerSchema").list(|json| {
        for schema in Schema::all(sampled) {
            schema.write(json);
        }
        markers::write_loss_schema(json);
        if !sampled.waits.is_empty() {
            waits::write_schemas(json);
        }
    });
    json.key("extensions").object(|json| {
        json.key("length").number(0);
        for name in ["id", "name", "baseURL"] {
            json.key(name).list(|_| {});
        }
    });
    json.key("extra").list(|json| extra(sampled, json));
}

/// The first program that was recorded.
fn product(sampled: &SampledProfile) -> String {
    let command = &sampled.profile.about.command;
    if command.is_empty() {
        "perf.data".to_owned()
    } else {
        command.join(" ")
    }
}

/// The kind of the event by which CPU use is known: the first that tells it. All time of threads tells it if it is known
/// when they waited.
pub(super) fn cpu_event(sampled: &SampledProfile) -> Option<EventKind> {
    let mut kinds = sampled.profile.events.iter().map(|event| event.kind);
    kinds.find(|kind| match kind {
        EventKind::CpuTime | EventKind::Cycles => true,
        EventKind::WallTime => !sampled.waits.is_empty(),
        _ => false,
    })
}

/// Nanoseconds between samples, as far as that is a time.
pub(super) fn interval_ns(sampled: &SampledProfile) -> u64 {
    let event = sampled.profile.events.iter().find(|one| one.samples > 0);
    match event.map(|event| (event.sampling, event.kind)) {
        Some((Sampling::PerSecond(frequency), _)) if frequency > 0 => 1_000_000_000 / frequency,
        Some((Sampling::Every(period), EventKind::CpuTime)) => period,
        _ => 1_000_000,
    }
}

/// What else is to be known, for the page's panel.
fn extra(sampled: &SampledProfile, json: &mut JsonWriter<'_>) {
    let profile = &sampled.profile;
    json.object(|json| {
        json.key("label").text("Recording");
        json.key("entries").list(|json| {
            let mut entry = |label: &str, value: &str| {
                json.object(|json| {
                    json.key("label").text(label);
                    json.key("format").text("string");
                    json.key("value").text(value);
                });
            };
            for event in &profile.events {
                let samples = Counted::new(event.samples, "sample", "samples");
                let text = format!("{samples}, {} lost", event.loss);
                entry(event.name.raw(), &text);
            }
            if let Some(stacks) = profile.unwound.summary() {
                entry("stacks", &stacks);
            }
            for image in &profile.unnamed {
                entry(
                    "without names",
                    &format!("{}: {}", image.path, image.reason),
                );
            }
        });
    });
}
