//! Sums over a profile whose samples are told apart by state and path.

use super::*;
use rprof_profile::{
    DimensionValues, EventProfile, FrameInfo, Group, Level, SampleCount, Tally, testing,
};

/// By state, cause, and whether it is on the path. Frames of the kernel begin with `k:`.
fn profile(stacks: &[([&str; 3], &str, u64)]) -> Profile {
    let mut profile = Profile::default();
    let mut tally = Tally::default();
    let mut groups = Vec::new();
    for (number, &(words, stack, weight)) in (0..).zip(stacks) {
        let mut values = DimensionValues::NONE;
        let dimensions = [Dimension::State, Dimension::Cause, Dimension::Critical];
        for (dimension, word) in dimensions.into_iter().zip(words) {
            let text = profile.strings.intern(word);
            values.set(dimension, Some(DimensionValue::Text(text)));
        }
        groups.push(Group {
            comm: profile.strings.intern("prog"),
            values: profile.values.intern(values),
        });
        let frames = stack.split(';').map(|name| {
            let (level, name) = match name.strip_prefix("k:") {
                Some(name) => (Level::Kernel, name),
                None => (Level::User, name),
            };
            let frame = testing::function(&mut profile, name, "prog");
            profile.frames.intern(FrameInfo { level, ..frame })
        });
        let frames: Vec<_> = frames.collect();
        tally.add_samples(1, weight);
        let group = tally.group(number);
        tally.add_stack(group, frames.into_iter(), SampleCount::one(weight));
    }
    let event = EventProfile {
        groups,
        ..testing::counted(&mut profile, tally)
    };
    profile.events.push(event);
    profile
}

#[test]
fn shares_are_of_running_of_all_and_of_the_path() {
    let mut profile = profile(&[
        (["running", "running", "yes"], "main;work", 60),
        (["running", "running", "no"], "main;work", 40),
        (
            ["sleeping", "sleep", "yes"],
            "main;nap;k:nap;k:schedule",
            300,
        ),
        (["preempted", "runnable", "yes"], "main;work;k:schedule", 5),
        (["sleeping", "futex", "no"], "main;pool", 500),
        (["running", "running", "yes"], "main;work;work", 10),
        (
            ["running", "running", "yes"],
            "main;nap;k:nap;k:schedule",
            20,
        ),
    ]);
    let sums = sums_of(&mut profile);
    let all: Vec<_> = sums
        .functions
        .iter()
        .map(|one| {
            let of_path = (one.path_ns, one.path_cpu_ns, one.path_self_ns);
            let times = (one.cpu_ns, one.wall_ns, of_path);
            (&*one.symbol, times, one.saves_ns())
        })
        .collect();
    assert_eq!(
        all,
        [
            ("[.] main", (130, 935, (395, 90, 0)), 39),
            // What calls itself counts once.
            ("[.] work", (110, 115, (75, 70, 70)), 7),
            // Waits are of who calls what waits; in the kernel, only what runs counts.
            ("[.] nap", (20, 320, (320, 20, 0)), 32),
            ("[k] schedule", (20, 20, (20, 20, 20)), 2),
            ("[k] nap", (20, 20, (20, 20, 0)), 2),
            ("[.] pool", (0, 500, (0, 0, 0)), 0),
            ("[sleep]", (0, 300, (300, 0, 300)), 30),
            ("[runnable]", (0, 5, (5, 0, 5)), 0),
            ("[futex]", (0, 500, (0, 0, 0)), 0),
        ]
    );
    let causes = sums.functions.iter().filter_map(|one| one.cause.as_deref());
    assert_eq!(causes.collect::<Vec<_>>(), ["sleep", "runnable", "futex"]);
    assert_eq!((sums.cpu_ns, sums.wall_ns, sums.path_ns), (130, 935, 395));
    assert_eq!(sums.n_samples, 3);
}
