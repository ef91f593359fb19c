//! Small profiles for tests, here and in crates that read profiles.
//!
//! A stack is written `outer;inner`. Of its functions, `+name` is inlined into the one before it,
//! `*name` is JIT code. Of samples one by one, `outer;inner;[futex]` is one of a thread that waits.

use crate::Thread;
use crate::{
    EventKind, EventProfile, FrameId, FrameInfo, Group, LastNames, Loss, Profile, SampleCount,
    SampleRow, SampledProfile, Sampling, Tally, TallyParts, Tree, ValuesId,
};
use rprof_untrusted::Untrusted;

/// A profile of one event, `cycles`: stacks with their weight, a sample each, of a thread `prog`.
pub fn profile(stacks: &[(&str, u64)]) -> Profile {
    let mut profile = Profile::default();
    let tally = tally(&mut profile, stacks);
    let event = counted(&mut profile, tally);
    profile.events.push(event);
    profile
}

/// `n_samples` samples: `n_lost` with a caller outside all mappings, half of the others outside themselves, the rest
/// with something outside where a caller of `_start` would be.
pub fn with_lost_callers(n_lost: u64, n_samples: u64) -> Profile {
    let mut profile = profile(&[("f", 1)]);
    let strings = &mut profile.strings;
    let (name, start) = (strings.intern("f"), strings.intern("_start"));
    let unknown = strings.intern("[unknown]");
    let outside = profile.frames.intern(FrameInfo {
        name: None,
        ..FrameInfo::named(name, unknown)
    });
    let start = profile.frames.intern(FrameInfo::named(start, name));
    let f = profile.frames.intern(FrameInfo::named(name, name));
    let mut tree = Tree::default();
    let n_outside = (n_samples - n_lost) / 2;
    for (stack, samples) in [
        (&[outside, f, f][..], n_lost),
        (&[outside], n_outside),
        (&[outside, start, f], n_samples - n_lost - n_outside),
    ] {
        let innermost = stack
            .iter()
            .fold(None, |caller, &frame| Some(tree.child(caller, 0, frame)));
        let count = SampleCount {
            samples,
            weight: samples,
        };
        tree.count(innermost.unwrap_or(0), count);
    }
    profile.events[0].tree = tree;
    profile
}

/// Samples of one event, `cycles`, in order of time: when, the thread's name, its stack, its weight. Threads are
/// processes 1, 2, .. in the order of their first samples.
pub fn sampled(samples: &[(u64, &str, &str, u64)]) -> SampledProfile {
    let mut sampled = SampledProfile {
        has_times: true,
        ..SampledProfile::default()
    };
    let mut event = EventProfile {
        kind: EventKind::Cycles,
        ..event("cycles")
    };
    for &(time_ns, comm, stack, weight) in samples {
        let comm = sampled.profile.strings.intern(comm);
        let (stack, cause) = match stack.rsplit_once(";[") {
            Some((stack, cause)) => (stack, Some(cause.trim_end_matches(']'))),
            None => (stack, None),
        };
        let values = cause.map_or(ValuesId::NONE, |cause| {
            let cause = sampled.profile.strings.intern(cause);
            sampled.profile.values_of_cause(cause)
        });
        let group = number_of(
            &mut sampled.groups,
            |group| *group == Group { comm, values },
            |_| Group { comm, values },
        );
        let thread = number_of(
            &mut sampled.threads,
            |thread| thread.comm == comm,
            |nth| Thread {
                pid: i32::try_from(nth).unwrap_or(0) + 1,
                tid: i32::try_from(nth).unwrap_or(0) + 1,
                comm,
                start_ns: time_ns,
                end_ns: time_ns,
            },
        );
        sampled.threads[thread as usize].end_ns = time_ns;
        let mut node = None;
        for name in stack.split(';').filter(|name| !name.is_empty()) {
            let frame = frame(&mut sampled.profile, name);
            node = Some(sampled.stacks.child(node, group, frame));
        }
        event.samples += 1;
        event.weight += weight;
        sampled.samples.push(SampleRow {
            time_ns,
            event: 0,
            thread,
            stack: node,
            cpu: Some(0),
            weight,
        });
    }
    sampled.stacks.freeze();
    let names = sampled.threads.iter().map(|thread| LastNames {
        process: thread.comm,
        thread: thread.comm,
    });
    sampled.last_names = names.collect();
    sampled.profile.events.push(event);
    sampled
}

/// The number of what is such in a list, which gets it if it has none.
fn number_of<T>(list: &mut Vec<T>, is_such: impl Fn(&T) -> bool, make: impl Fn(usize) -> T) -> u32 {
    let number = list.iter().position(is_such).unwrap_or_else(|| {
        list.push(make(list.len()));
        list.len() - 1
    });
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// What stacks count, with their functions in a profile.
pub fn tally(profile: &mut Profile, stacks: &[(&str, u64)]) -> Tally<u32> {
    let mut tally = Tally::default();
    for &(stack, weight) in stacks {
        let frames = stack.split(';').map(|name| frame(profile, name));
        tally.add_samples(1, weight);
        let group = tally.group(0);
        tally.add_stack(group, frames, SampleCount::one(weight));
    }
    tally
}

/// A function of `prog`; `name in image` is one of another image.
pub fn frame(profile: &mut Profile, name: &str) -> FrameId {
    let bare = name.trim_start_matches(['+', '*']);
    let (bare, image) = bare.split_once(" in ").unwrap_or((bare, "prog"));
    let frame = FrameInfo {
        is_inlined: name.starts_with('+'),
        is_jit: name.starts_with('*'),
        ..function(profile, bare, image)
    };
    profile.frames.intern(frame)
}

/// A function of an image, in a process.
pub fn function(profile: &mut Profile, name: &str, image: &str) -> FrameInfo {
    let name = profile.strings.intern(name);
    FrameInfo::named(name, profile.strings.intern(image))
}

/// The event of [`profile`], of what a tally has counted.
pub fn counted(profile: &mut Profile, tally: Tally<u32>) -> EventProfile {
    let TallyParts {
        tree,
        samples,
        weight,
        ..
    } = tally.into_parts();
    let group = Group {
        comm: profile.strings.intern("prog"),
        values: ValuesId::NONE,
    };
    EventProfile {
        kind: EventKind::Cycles,
        samples,
        weight,
        tree,
        groups: vec![group],
        ..event("cycles")
    }
}

/// An event without samples.
pub fn event(name: &str) -> EventProfile {
    EventProfile {
        name: Untrusted::new(name.to_owned()),
        kind: EventKind::default(),
        sampling: Sampling::default(),
        samples: 0,
        weight: 0,
        loss: Loss::default(),
        tree: Tree::default(),
        groups: Vec::new(),
    }
}
