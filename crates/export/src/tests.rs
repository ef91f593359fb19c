//! Samples and counts made by hand, as no fixture has them: losses, other programs, kernels, odd names.

use crate::{Firefox, Folded, Format, Json, Pprof, Speedscope, write_gzip};
use rprof_profile::{
    CodeFrame, CodeImage, CodeKind, CodeLocation, CountedStacks, EventKind, EventProfile,
    FieldValue, FrameId, FrameInfo, Level, Loss, Profile, SampleRow, SampledProfile, Sampling,
    Thread, TimedLoss, TraceValue, WallClock, testing,
};
use serde_json::Value;

const KERNEL: u64 = 0xffff_ffff_8100_0000;

fn event(name: &str, kind: EventKind, (samples, weight): (u64, u64), lost: u64) -> EventProfile {
    EventProfile {
        kind,
        sampling: Sampling::PerSecond(1000),
        samples,
        weight,
        loss: Loss {
            samples: lost,
            at_least: true,
        },
        ..testing::event(name)
    }
}

fn frame(profile: &mut Profile, name: &str, image: &str, level: Level) -> FrameId {
    let frame = FrameInfo {
        level,
        ..testing::function(profile, name, image)
    };
    profile.frames.intern(frame)
}

/// A program that executes another one under the same process id: first `a`, then `b`, which
/// calls the kernel and opens a file.
fn sampled() -> SampledProfile {
    let mut sampled = SampledProfile {
        has_times: true,
        ..SampledProfile::default()
    };
    let profile = &mut sampled.profile;
    profile.about.wall_clock = Some(WallClock {
        wall_ns: 5_000_000_000,
        clock_ns: 1_000,
    });
    let main = frame(profile, "main \"\n\u{1}", "prog", Level::User);
    let entry = frame(profile, "do_open", "[kernel.kallsyms]", Level::Kernel);
    for (name, kind) in [
        ("prog", CodeKind::Program),
        ("[kernel.kallsyms]", CodeKind::Kernel),
    ] {
        let name = profile.strings.intern(name);
        sampled.code.images.push(CodeImage {
            name,
            path: name,
            build_id: None,
            kind,
            base: (kind == CodeKind::Kernel).then_some(KERNEL),
        });
    }
    let code = |image, address, (function, into), frame| CodeLocation {
        image,
        address,
        svma: Some(function + into),
        function: Some(function),
        frames: vec![CodeFrame { frame, line: None }],
    };
    sampled.code.locations = vec![
        code(0, 0x10, (0x1000, 0x10), main),
        code(1, KERNEL + 0x48, (KERNEL + 0x40, 8), entry),
    ];
    let outer = sampled.stacks.child(None, 0, FrameId::from_number(0));
    sampled
        .stacks
        .child(Some(outer), 0, FrameId::from_number(1));
    for (tid, comm, start_ns) in [(7, "a", 1_000), (7, "b", 3_000), (8, "b", 3_500)] {
        sampled.threads.push(Thread {
            pid: 7,
            tid,
            comm: profile.strings.intern(comm),
            start_ns,
            end_ns: start_ns + 2_000,
        });
    }
    let clock = event("cpu-clock", EventKind::CpuTime, (3, 3_000_001), 12);
    let open = event("syscalls:open", EventKind::Occurrence, (1, 1), 0);
    profile.events = vec![clock, open];
    let path = profile.strings.intern("/etc/\u{7f}\n");
    let names = ["type", "flags"].map(|name| profile.strings.intern(name));
    let values = [FieldValue::Text(path), FieldValue::Hex(0x8000)];
    let fields = names.into_iter().zip(values);
    let fields = fields.map(|(name, value)| TraceValue { name, value });
    sampled.fields.insert(2, fields.collect());
    let sample = |time_ns, event, thread, stack, weight| SampleRow {
        time_ns,
        event,
        thread,
        stack,
        cpu: Some(0),
        weight,
    };
    let samples = [
        sample(1_000, 0, 0, Some(0), 1_000_000),
        sample(3_000, 0, 1, Some(1), 2_000_000),
        sample(3_500, 1, 2, Some(1), 1),
        sample(5_000, 0, 2, None, 1),
    ];
    samples
        .into_iter()
        .for_each(|row| sampled.samples.push(row));
    sampled.losses = vec![TimedLoss {
        time_ns: 2_000,
        samples: 12,
    }];
    sampled
}

fn json<F: Format>(format: &F, source: &F::Source) -> Value {
    let mut out = Vec::new();
    format.write(source, &mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

#[test]
fn a_process_that_executes_another_program_is_two() {
    let profile = json(&Firefox, &sampled());
    let threads = profile["threads"].as_array().unwrap();
    let of = |key: &str| -> Vec<&str> {
        let values = threads.iter().map(|thread| thread[key].as_str().unwrap());
        values.collect()
    };
    assert_eq!(of("name"), ["a", "b", "b", "lost samples"]);
    assert_eq!(of("processName"), ["a", "b", "b", "lost samples"]);
    assert_eq!(of("pid"), ["7", "7.1", "7.1", "recording"]);
    assert_eq!(of("tid"), ["7", "7.1", "8", "recording"]);
    let mains = threads
        .iter()
        .map(|thread| thread["isMainThread"].as_bool());
    let mains: Vec<bool> = mains.map(Option::unwrap).collect();
    assert_eq!(mains, [true, true, false, true]);
}

#[test]
fn moments_are_markers_with_stack_and_fields() {
    let profile = json(&Firefox, &sampled());
    let markers = &profile["threads"][2]["markers"];
    let data = &markers["data"][0];
    assert_eq!(data["type"], "syscalls:open");
    assert_eq!(data["cause"]["stack"], 1);
    assert_eq!(data["flags"], "0x8000");
    // The page takes `type` for the kind of the marker.
    let text = usize::try_from(data["type_"].as_u64().unwrap()).unwrap();
    assert_eq!(profile["shared"]["stringArray"][text], "/etc/\u{7f}\n");
    assert_eq!(markers["startTime"][0], 0.0025);
    assert_eq!(profile["meta"]["startTime"], 5000);
}

#[test]
fn losses_are_markers_when_known_and_in_all() {
    let profile = json(&Firefox, &sampled());
    let markers = &profile["threads"][3]["markers"];
    assert_eq!(markers["length"], 2);
    assert_eq!(markers["data"][0]["samples"], 12);
    assert_eq!(markers["startTime"][0], 0.001);
    assert_eq!(markers["data"][1]["event"], "cpu-clock");
    let speedscope = json(&Speedscope, &sampled());
    let name = speedscope["name"].as_str().unwrap();
    assert_eq!(name, "perf.data (cpu-clock: at least 12 samples lost)");
}

#[test]
fn kernel_addresses_count_from_the_kernels_start() {
    let profile = json(&Firefox, &sampled());
    let shared = &profile["shared"];
    assert_eq!(
        shared["frameTable"]["address"],
        serde_json::json!([0x1010, 0x48])
    );
    assert_eq!(
        shared["nativeSymbols"]["address"],
        serde_json::json!([0x1000, 0x40])
    );
    assert_eq!(shared["frameTable"]["category"], serde_json::json!([2, 1]));
    assert_eq!(
        shared["stackTable"]["prefixOffset"],
        serde_json::json!([0, 1])
    );
}

#[test]
fn samples_without_a_stack_count() {
    let profile = json(&Firefox, &sampled());
    let samples = &profile["threads"][2]["samples"];
    assert_eq!(samples["stack"], serde_json::json!([null]));
    assert_eq!(samples["weight"], serde_json::json!([0.000_001]));
    let speedscope = json(&Speedscope, &sampled());
    let lists = speedscope["profiles"].as_array().unwrap();
    let sum: u64 = lists
        .iter()
        .map(|one| one["endValue"].as_u64().unwrap())
        .sum();
    assert_eq!(sum, 3_000_002);
}

#[test]
fn nothing_at_all_can_be_written() {
    let (profile, sampled) = (Profile::default(), SampledProfile::default());
    assert_eq!(json(&Json, &profile)["events"], serde_json::json!([]));
    assert_eq!(json(&Firefox, &sampled)["threads"][0]["name"], "no samples");
    assert_eq!(
        json(&Speedscope, &sampled)["profiles"][0]["name"],
        "no samples"
    );
    let mut out = Vec::new();
    Folded { event: 0 }.write(&profile, &mut out).unwrap();
    assert!(out.is_empty());
    write_gzip(&Pprof, &CountedStacks::default(), &mut out).unwrap();
    assert_eq!(out[..2], [0x1f, 0x8b]);
}
