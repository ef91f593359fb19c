//! How good a profile is, in words: the same for all outputs.

use rprof_base::{Counted, grouped};
use rprof_profile::{Flaw, Profile, Quality};
use rprof_untrusted::printable;

/// Percent of stacks with wrong callers that are worth a line.
const MANY_LOST: f64 = 1.0;

/// One line: samples, and what is missing of them; what lacks names, if names were looked up. How stacks end is said on a line of its own.
pub fn quality_line(profile: &Profile) -> String {
    let quality = Quality::of(profile);
    let samples = Counted::new(quality.samples, "sample", "samples");
    let at_least = if quality.lost_at_least {
        "at least "
    } else {
        ""
    };
    let lost = quality.lost_share();
    let mut line = format!("{samples}, {at_least}{lost:.1} % lost");
    let unnamed = unnamed_part(profile, &quality, "--keep-stacks");
    line.extend(unnamed.map(|part| format!(", {part}")));
    if quality.throttles > 0 {
        line += &format!(", {}", throttled(&quality));
    }
    if let Some(thinning) = &profile.about.thinning {
        line += &format!(", {thinning}");
    }
    printable(&line).into_owned()
}

/// What lacks names, and of which samples; `dropping` is what left out stacks since these were looked up. `None` if names
/// were not looked up, or filters leave nothing.
pub(crate) fn unnamed_part(profile: &Profile, quality: &Quality, dropping: &str) -> Option<String> {
    let (unnamed, checked) = (quality.unnamed, quality.checked);
    let is_known = profile.has_names && (checked.shown > 0 || !checked.are_part());
    is_known.then(|| match checked {
        _ if checked.are_stacks_left_out => {
            format!("{unnamed:.1} % without names before {dropping}")
        }
        _ if checked.are_part() => format!("{unnamed:.1} % of those shown without names"),
        _ => format!("{unnamed:.1} % without names"),
    })
}

/// How stacks ended that were unwound, and why callers of waits are missing; of others, whether callers were lost.
/// `None` if nothing is known.
pub fn stacks_line(profile: &Profile) -> Option<String> {
    let unwound = &profile.unwound;
    let Some(mut line) = unwound.summary() else {
        return lost_callers(profile);
    };
    if let Some(ms) = short_waits_ms(profile) {
        line +=
            &format!(" (waits under {ms} ms have no user stack: record --off-cpu=0 keeps them)");
    }
    let events = profile.events.iter();
    let nodes = events.flat_map(|event| event.tree.nodes());
    let shown = nodes.fold(0u64, |sum, node| sum.saturating_add(node.self_samples));
    // Filters by function look at names, after all stacks were unwound.
    if shown > 0 && unwound.samples() > shown {
        let all = Counted::new(unwound.samples(), "stack", "stacks");
        line += &format!(
            "; of {all} before filters by function, which keep {}",
            grouped(shown)
        );
    }
    Some(printable(&line).into_owned())
}

/// How many stacks have callers that cannot be code: what is followed where frame pointers are missing looks like that.
fn lost_callers(profile: &Profile) -> Option<String> {
    let lost = profile.lost_callers();
    (lost.percent() >= MANY_LOST).then(|| {
        let again = profile.about.recorder_to_run();
        format!(
            "{lost:.1} % have callers outside all mappings, as code without frame pointers has: {again} --call-graph \
             dwarf needs none"
        )
    })
}

/// Which waits have no user stack, in milliseconds, where that is why many stacks lack callers.
pub(crate) fn short_waits_ms(profile: &Profile) -> Option<&str> {
    let kinds = profile.events.iter().map(|event| event.kind);
    profile.unwound.short_waits_ms(&profile.about, kinds)
}

fn throttled(quality: &Quality) -> String {
    let times = Counted::new(quality.throttles, "time", "times");
    let ms = quality.throttled_ns / 1_000_000;
    format!("throttled {times} (for {ms} ms)")
}

/// What to do about the worst that is not good, if anything.
pub fn quality_advice(profile: &Profile) -> Option<String> {
    let flaws = Quality::of(profile).flaws();
    let again = profile.about.recorder_to_run();
    Some(match flaws.first()? {
        Flaw::Lost => match profile.about.larger_rings() {
            Some(size) => format!(
                "samples were lost: use larger buffers ({again} -m {size}), or take fewer samples (-F 999)"
            ),
            None => format!("samples were lost: take fewer ({again} -F 999)"),
        },
        Flaw::Throttled => {
            format!("the kernel throttled sampling: sample less often ({again} -F 999)")
        }
        Flaw::Truncated => {
            format!("stacks are truncated: copy more of them ({again} --call-graph dwarf,65528)")
        }
        Flaw::Unnamed if profile.about.is_live => {
            "some code has no names: save the recording (s p, or --save FILE), and rprof symbols says why"
                .to_owned()
        }
        Flaw::Unnamed => {
            "some code has no names: rprof symbols says why, and how to get them".to_owned()
        }
    })
}

/// What exceeds its limit, for those who want a good profile or none; empty if nothing does.
pub fn quality_faults(profile: &Profile) -> Vec<String> {
    let quality = Quality::of(profile);
    let above = |what: &str, share: rprof_base::Share, limit: rprof_base::Share| {
        let limit = limit.percent();
        format!("{share:.1} % {what} (limit: {limit} %)")
    };
    let flaws = quality.flaws().into_iter();
    let faults = flaws.map(|flaw| match flaw {
        Flaw::Lost => above(
            "of the samples are lost",
            quality.lost_share(),
            Quality::MAX_LOST,
        ),
        Flaw::Throttled => format!("{} (limit: none)", throttled(&quality)),
        Flaw::Truncated => above(
            "of the stacks are truncated",
            quality.truncated_share(),
            Quality::MAX_TRUNCATED,
        ),
        Flaw::Unnamed => above("have no names", quality.unnamed, Quality::MAX_UNNAMED),
    });
    faults.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_base::StackEnd;
    use rprof_profile::{
        CheckedNames, EndedStacks, EventKind, Gap, Gaps, Loss, NameList, UnnamedImage, Unwound,
        testing,
    };

    #[test]
    fn one_line_says_what_a_profile_is_worth() {
        let mut profile = testing::profile(&[("a", 1), ("b", 1), ("c", 1)]);
        assert_eq!(
            quality_line(&profile),
            "3 samples, 0.0 % lost, 0.0 % without names"
        );
        assert_eq!(quality_advice(&profile), None);
        assert!(quality_faults(&profile).is_empty());
        profile.has_names = false;
        assert_eq!(quality_line(&profile), "3 samples, 0.0 % lost");
        profile.has_names = true;
        profile.events[0].loss = Loss {
            samples: 1,
            at_least: true,
        };
        let gap = Gap {
            lost: 0,
            throttles: 2,
            throttled_ns: 3_500_000,
        };
        profile.gaps = Gaps {
            cpus: vec![(0, gap)],
            ..Gaps::default()
        };
        assert_eq!(
            quality_line(&profile),
            "3 samples, at least 25.0 % lost, 0.0 % without names, throttled 2 times (for 3 ms)"
        );
        let advice = quality_advice(&profile).unwrap();
        assert!(advice.contains("(rprof record -m 8M)"), "{advice}");
        profile.about.command = ["rprof", "record", "-m", "8M"].map(str::to_owned).into();
        let advice = quality_advice(&profile).unwrap();
        assert!(advice.contains("(rprof record -m 16M)"), "{advice}");
        profile.about.command.clear();
        profile.about.is_live = true;
        let advice = quality_advice(&profile).unwrap();
        assert!(advice.contains("(rprof top -m 8M)"), "{advice}");
        assert_eq!(
            quality_faults(&profile),
            [
                "25.0 % of the samples are lost (limit: 1 %)",
                "throttled 2 times (for 3 ms) (limit: none)"
            ]
        );
    }

    #[test]
    fn names_are_those_of_what_is_shown() {
        let mut profile = testing::profile(&[("a", 3), ("b", 1)]);
        profile.unnamed = vec![UnnamedImage {
            path: "/b".to_owned(),
            weight: 1,
            reason: "stripped".to_owned(),
            hint: None,
        }];
        assert!(quality_line(&profile).ends_with(" lost, 25.0 % without names"));
        // A filter by thread or function: the samples are still all.
        profile.checked = Some(CheckedNames {
            shown: 2,
            all: 4,
            are_stacks_left_out: false,
        });
        assert_eq!(
            quality_line(&profile),
            "2 samples, 0.0 % lost, 50.0 % of those shown without names"
        );
        profile.keep_stacks(&NameList::of(["a", "b"]));
        let line = quality_line(&profile);
        assert!(
            line.ends_with("50.0 % of those shown without names"),
            "{line}"
        );
        profile.keep_stacks(&NameList::of(["a"]));
        let line = quality_line(&profile);
        assert!(
            line.ends_with("50.0 % without names before --keep-stacks"),
            "{line}"
        );
        // No sample matches.
        profile.checked = Some(CheckedNames {
            all: 4,
            ..CheckedNames::default()
        });
        assert_eq!(quality_line(&profile), "2 samples, 0.0 % lost");
    }

    #[test]
    fn callers_outside_all_mappings_are_said_from_one_in_a_hundred_on() {
        for (n_lost, expected) in [
            (9, None),
            (
                10,
                Some(
                    "1.0 % have callers outside all mappings, as code without frame pointers has: rprof record \
                     --call-graph dwarf needs none",
                ),
            ),
        ] {
            let profile = testing::with_lost_callers(n_lost, 1000);
            assert_eq!(stacks_line(&profile).as_deref(), expected, "{n_lost}");
        }
    }

    #[test]
    fn stacks_of_waits_say_why_callers_are_missing_and_what_they_are_of() {
        let ended = |end, samples| EndedStacks {
            end,
            image: None,
            samples,
        };
        let mut profile = testing::profile(&[("a", 1), ("b", 1), ("c", 1), ("d", 1)]);
        assert_eq!(stacks_line(&profile), None);
        let ends = [ended(StackEnd::Complete, 3), ended(StackEnd::Hole, 1)];
        profile.unwound = Unwound::of(ends.into_iter());
        profile.about.command = ["rprof", "record", "--off-cpu", "--", "x", "--off-cpu=7"]
            .map(str::to_owned)
            .into();
        let plain = "75.0 % complete, 25.0 % with callers missing";
        assert_eq!(stacks_line(&profile).as_deref(), Some(plain));
        profile.events[0].kind = EventKind::OffCpuTime;
        let why = " (waits under 1 ms have no user stack: record --off-cpu=0 keeps them)";
        assert_eq!(stacks_line(&profile), Some(format!("{plain}{why}")));
        profile.about.command[2] = "--off-cpu=0".to_owned();
        assert_eq!(stacks_line(&profile).as_deref(), Some(plain));
        profile.keep_stacks(&NameList::of(["a"]));
        let of = "; of 4 stacks before filters by function, which keep 1";
        assert_eq!(stacks_line(&profile), Some(format!("{plain}{of}")));
    }
}
