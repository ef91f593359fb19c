//! Sums over a profile whose samples are told apart by state and path.

use super::*;
use rprof_profile::{DimensionValues, EventProfile, Group, SampleCount, Tally, testing};

fn profile(stacks: &[(&str, &str, &str, u64)]) -> Profile {
    let mut profile = Profile::default();
    let mut tally = Tally::default();
    let mut groups = Vec::new();
    for (number, &(state, critical, stack, weight)) in (0..).zip(stacks) {
        let mut values = DimensionValues::NONE;
        for (dimension, word) in [(Dimension::State, state), (Dimension::Critical, critical)] {
            let text = profile.strings.intern(word);
            values.set(dimension, Some(DimensionValue::Text(text)));
        }
        groups.push(Group {
            comm: profile.strings.intern("prog"),
            values: profile.values.intern(values),
        });
        let frames = stack.split(';').map(|name| {
            let frame = testing::function(&mut profile, name, "prog");
            profile.frames.intern(frame)
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
    let profile = profile(&[
        ("running", "yes", "main;work", 60),
        ("running", "no", "main;work", 40),
        ("sleeping", "yes", "main;nap", 30),
        ("sleeping", "no", "main;pool", 500),
        ("running", "yes", "main;work;work", 10),
    ]);
    let sums = sums_of(&profile);
    let all: Vec<_> = sums
        .functions
        .iter()
        .map(|one| {
            let times = (one.cpu_ns, one.wall_ns, one.path_ns, one.path_self_ns);
            (&*one.symbol, times, one.saves_ns())
        })
        .collect();
    assert_eq!(
        all,
        [
            ("[.] main", (110, 640, 100, 0), 10),
            // What calls itself counts once.
            ("[.] work", (110, 110, 70, 70), 7),
            ("[.] nap", (0, 30, 30, 30), 3),
            ("[.] pool", (0, 500, 0, 0), 0),
        ]
    );
    assert_eq!((sums.cpu_ns, sums.wall_ns, sums.path_ns), (110, 640, 100));
    assert_eq!(sums.n_samples, 2);
}
