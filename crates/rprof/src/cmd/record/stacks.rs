//! How much of the stacks was unwound, and why not all of it.

use super::summary::is_live;
use rprof_base::{Counted, Share, StackEnd};
use rprof_perfdata::feature::{EndReason, StackEnds};
use rprof_record::Summary;
use rprof_untrusted::Untrusted;

/// The share of stacks unwound to the start of their thread.
pub(super) fn whole_stacks(summary: &Summary) -> Option<String> {
    let ends = summary.stacks.as_ref()?;
    let short = on_purpose(ends, summary.short_waits);
    let said = share_of_whole(ends.complete, n_incomplete(ends) - short)?;
    Some(match short {
        0 => said,
        _ => said + ", not counting short waits",
    })
}

fn share_of_whole(complete: u64, others: u64) -> Option<String> {
    match (complete, others) {
        (0, 0) => None,
        (_, 0) => Some("all stacks complete".to_owned()),
        (complete, others) => {
            let share = Share::of(complete, complete + others);
            Some(format!("{share:.1} % of stacks complete"))
        }
    }
}

/// Stacks that are not complete.
fn n_incomplete(ends: &StackEnds) -> u64 {
    ends.reasons.iter().map(|reason| reason.stacks).sum()
}

/// How many of them are of waits whose callers were not to be read: these are said with the waits (`OffCpuStacks`).
fn on_purpose(ends: &StackEnds, short_waits: u64) -> u64 {
    let reasons = ends.reasons.iter();
    let holes = reasons.filter(|reason| reason.end == StackEnd::Hole);
    short_waits.min(holes.map(|reason| reason.stacks).sum())
}

/// Maximum number of reasons listed in a line.
const MOST_REASONS: usize = 3;

/// Why other stacks are incomplete, by reason, if more than a few are.
pub(super) fn why_not_whole(summary: &Summary) -> Option<String> {
    let ends = summary.stacks.as_ref()?;
    let short = on_purpose(ends, summary.short_waits);
    let others = n_incomplete(ends) - short;
    if others.saturating_mul(50) <= ends.complete {
        return None;
    }
    let is_given_up = summary
        .budget
        .is_some_and(|budget| budget.not_unwound_after_ns > 0);
    let more = if is_live(summary) {
        "for details, use --save FILE and rprof report --stats"
    } else {
        "for details, use rprof report --stats"
    };
    Some(format!(
        "{others} of {} {} incomplete: {} ({more})",
        Counted::new(ends.complete + others, "stack", "stacks"),
        if others == 1 { "is" } else { "are" },
        reasons_of(ends, short, is_given_up),
    ))
}

/// Why stacks end early, most frequent reasons first; the numbers add up to all incomplete stacks.
fn reasons_of(ends: &StackEnds, mut on_purpose: u64, is_given_up: bool) -> String {
    let mut reasons: Vec<(String, u64)> = Vec::new();
    for reason in &ends.reasons {
        let mut reason = reason.clone();
        if reason.end == StackEnd::Hole {
            let short = reason.stacks.min(on_purpose);
            (reason.stacks, on_purpose) = (reason.stacks - short, on_purpose - short);
        }
        if reason.stacks == 0 {
            continue;
        }
        let why = why_it_ends(&reason, is_given_up);
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, stacks)) => *stacks = stacks.saturating_add(reason.stacks),
            None => reasons.push((why, reason.stacks)),
        }
    }
    reasons.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let rest = reasons.split_off(reasons.len().min(MOST_REASONS));
    let named = reasons
        .iter()
        .map(|(why, stacks)| format!("{stacks} {why}"));
    let mut named: Vec<String> = named.collect();
    if !rest.is_empty() {
        let stacks: u64 = rest.iter().map(|(_, stacks)| stacks).sum();
        named.push(format!("{stacks} for other reasons"));
    }
    named.join(", ")
}

/// Why stacks end early.
fn why_it_ends(reason: &EndReason, is_given_up: bool) -> String {
    let image = Untrusted::of_bytes(&reason.image);
    match reason.end {
        StackEnd::Truncated => "deeper than their dumps".to_owned(),
        StackEnd::NoInfo => format!("in code without unwind tables in {image}"),
        StackEnd::Guess | StackEnd::PartialGuess => {
            format!("with frame pointers only through {image}")
        }
        StackEnd::BadInfo => format!("with unusable unwind tables in {image}"),
        StackEnd::NotCopied if is_given_up => "not unwound to stay within --cpu-percent".to_owned(),
        StackEnd::NotCopied => "not in memory, or exec was replacing them".to_owned(),
        StackEnd::Hole => "with callers that were not read, or cannot be known".to_owned(),
        StackEnd::Unreadable => "of processes that rprof may not inspect (try sudo)".to_owned(),
        _ => "with a missing caller".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_profile::{self as profile, Unwound};

    #[test]
    fn reasons_add_up_to_all_incomplete_stacks() {
        let reason = |end, image: &str, stacks| EndReason {
            end,
            image: image.into(),
            stacks,
        };
        let ends = StackEnds {
            complete: 1000,
            reasons: vec![
                reason(StackEnd::Truncated, "a", 60),
                reason(StackEnd::NoInfo, "libx.so", 40),
                reason(StackEnd::Truncated, "b", 31),
                reason(StackEnd::Loop, "c", 20),
                reason(StackEnd::Guess, "d", 5),
                reason(StackEnd::BadInfo, "e", 2),
            ],
            ..StackEnds::default()
        };
        let said = reasons_of(&ends, 0, false);
        assert_eq!(
            said,
            "91 deeper than their dumps, 40 in code without unwind tables in libx.so, \
             20 with a missing caller, 7 for other reasons"
        );
        let numbers = said.split(", ").map(|one| one.split(' ').next().unwrap());
        let sum: u64 = numbers.map(|number| number.parse::<u64>().unwrap()).sum();
        assert_eq!(sum, ends.reasons.iter().map(|one| one.stacks).sum::<u64>());
    }

    #[test]
    fn stacks_are_counted_as_in_a_report() {
        let cut = |stacks| EndReason {
            end: StackEnd::Truncated,
            image: Vec::new(),
            stacks,
        };
        let ended = |end, samples| profile::EndedStacks {
            end,
            image: None,
            samples,
        };
        for (complete, others) in [(99_999, 1), (982, 18), (2, 1), (0, 1)] {
            let ends = StackEnds {
                complete,
                reasons: vec![cut(others)],
                ..StackEnds::default()
            };
            let both = [
                (StackEnd::Complete, complete),
                (StackEnd::Truncated, others),
            ];
            let report = Unwound::of(both.map(|(end, samples)| ended(end, samples)).into_iter());
            let ours = share_of_whole(ends.complete, n_incomplete(&ends)).unwrap();
            let theirs = report.summary().unwrap();
            let share = ours.strip_suffix(" of stacks complete").unwrap();
            assert!(
                theirs.starts_with(&format!("{share} complete, ")),
                "{ours}: {theirs}"
            );
        }
    }

    #[test]
    fn waits_that_were_not_to_be_read_are_not_incomplete_and_others_are() {
        let reason = |end, stacks| EndReason {
            end,
            image: Vec::new(),
            stacks,
        };
        let ends = StackEnds {
            complete: 90,
            reasons: vec![reason(StackEnd::Hole, 900), reason(StackEnd::Truncated, 10)],
            ..StackEnds::default()
        };
        assert_eq!(on_purpose(&ends, 900), 900);
        assert_eq!(reasons_of(&ends, 900, false), "10 deeper than their dumps");
        assert_eq!(on_purpose(&ends, 880), 880);
        let said = reasons_of(&ends, 880, false);
        assert_eq!(
            said,
            "20 with callers that were not read, or cannot be known, 10 deeper than their dumps"
        );
        // Of other files.
        assert_eq!(on_purpose(&ends, 1000), 900);
    }
}
