//! What a recording is worth: samples, losses, and how stacks ended that were unwound.

use super::gaps::write_gaps;
use super::table::left_out;
use super::unnamed::{interpreter_line, unnamed_lines};
use rprof_base::{Counted, Share, StackEnd};
use rprof_profile::{EndedStacks, Profile, Unwound};
use rprof_untrusted::printable;
use std::io::{self, Write};

/// Images listed below an end; the others are summed up.
const MAX_IMAGES: usize = 20;

/// Writes the numbers of a profile.
///
/// # Errors
/// The writer's.
pub fn write_stats(profile: &Profile, out: &mut impl Write) -> io::Result<()> {
    for event in &profile.events {
        writeln!(
            out,
            "{}: {}, event count {}, {} lost",
            event.name,
            Counted::new(event.samples, "sample", "samples"),
            event.weight,
            event.loss
        )?;
    }
    if let Some(left_out) = left_out(profile) {
        writeln!(out, "Left out: {left_out}")?;
    }
    if let Some(thinning) = &profile.about.thinning {
        writeln!(out, "Thinned: {thinning}")?;
    }
    if let Some(coverage) = &profile.about.coverage {
        writeln!(out, "Coverage: {}", printable(&coverage.to_string()))?;
    }
    write_gaps(&profile.gaps, out)?;
    write_unwound(&profile.unwound, out)?;
    let unnamed = unnamed_lines(profile);
    if !unnamed.is_empty() {
        writeln!(out, "\nWithout names:")?;
    }
    unnamed
        .iter()
        .try_for_each(|line| writeln!(out, "  {line}"))?;
    if let Some(line) = interpreter_line(profile) {
        writeln!(out, "\nInterpreted: {line}")?;
    }
    write_records(profile, out)
}

/// How many records there are of each kind, and samples of each event, as perf writes it.
///
/// Source: `events_stats__fprintf` and `evlist__fprintf_nr_events` in tools/perf (v6.1).
fn write_records(profile: &Profile, out: &mut impl Write) -> io::Result<()> {
    if profile.records.is_empty() {
        return Ok(());
    }
    let counts = profile.records.iter().map(|(_, n)| *n);
    let total = counts.fold(0u64, u64::saturating_add);
    writeln!(
        out,
        "\nAggregated stats:\n{:>16} events: {total:>10}",
        "TOTAL"
    )?;
    for (kind, n) in &profile.records {
        let share = Share::of(*n, total).percent();
        writeln!(out, "{kind:>16} events: {n:>10}  ({share:4.1}%)")?;
    }
    for event in profile.events.iter().filter(|event| event.samples > 0) {
        writeln!(out, "{} stats:", event.name)?;
        let mut line = |kind: &str, n: u64| writeln!(out, "{kind:>16} events: {n:>10}");
        line("SAMPLE", event.samples)?;
        if event.loss.samples > 0 && !event.loss.at_least {
            line("LOST_SAMPLES", event.loss.samples)?;
        }
    }
    Ok(())
}

/// How stacks ended, if any were unwound.
fn write_unwound(unwound: &Unwound, out: &mut impl Write) -> io::Result<()> {
    if unwound.ends.is_empty() {
        return Ok(());
    }
    let all = unwound.samples();
    writeln!(out, "\nStacks unwound: {all}")?;
    let (unwound, others): (Vec<_>, Vec<_>) = unwound
        .ends
        .chunk_by(|a, b| a.end == b.end)
        .partition(|alike| alike.first().map(|one| one.end) != Some(StackEnd::NoRegisters));
    for alike in unwound {
        write_ends(alike, all, out)?;
    }
    for one in others.into_iter().flatten() {
        writeln!(out, "Samples with {}: {}", one.end.words(), one.samples)?;
    }
    Ok(())
}

/// Stacks that ended alike, by image.
fn write_ends(alike: &[EndedStacks], all: u64, out: &mut impl Write) -> io::Result<()> {
    let Some(first) = alike.first() else {
        return Ok(());
    };
    let sum = |some: &[EndedStacks]| some.iter().map(|one| one.samples).sum::<u64>();
    let samples = sum(alike);
    let share = Share::of(samples, all);
    writeln!(out, "  {share:>6.2}% {samples:>8}  {}", first.end.words())?;
    // Where a stack ended means nothing if no image is known for any of them.
    if alike.iter().all(|one| one.image.is_none()) {
        return Ok(());
    }
    let (listed, rest) = alike.split_at(alike.len().min(MAX_IMAGES));
    let listed = listed.iter().map(|one| {
        let image = one.image.as_deref().unwrap_or("[unknown]");
        (one.samples, printable(image).into_owned())
    });
    let rest = (!rest.is_empty()).then(|| (sum(rest), format!("in {} others", rest.len())));
    for (samples, image) in listed.chain(rest) {
        let share = Share::of(samples, all);
        writeln!(out, "    {share:>6.2}% {samples:>8}  {image}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_listed_by_image() {
        let ended = |end, image: Option<&str>, samples| EndedStacks {
            end,
            image: image.map(str::to_owned),
            samples,
        };
        let ends = [
            ended(StackEnd::Complete, None, 90),
            ended(StackEnd::Truncated, Some("a.so"), 6),
            ended(StackEnd::Truncated, Some("b\x1b.so"), 4),
            ended(StackEnd::NoRegisters, None, 7),
        ];
        let profile = Profile {
            unwound: Unwound::of(ends.into_iter()),
            ..Profile::default()
        };
        let mut text = Vec::new();
        write_stats(&profile, &mut text).unwrap();
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "\nStacks unwound: 100\n   90.00%       90  complete: up to the start of the thread\n   10.00%       10  truncated: the stack is deeper than its dump\n      6.00%        6  a.so\n      4.00%        4  b\\x1b.so\nSamples with no user registers: kernel threads, tasks that ended: 7\n"
        );
    }
}
