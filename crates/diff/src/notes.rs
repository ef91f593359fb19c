//! What a reader must know of the recordings: what differs beside the program, and what is missing.

use crate::comparison::ComparedEvent;
use crate::judge::{MOST_SHARED, UNSEEN};
use crate::per::Per;
use crate::recordings::{NamedRun, Recordings, event_of};
use rprof_base::{Counted, Share, StackEnd};
use rprof_profile::difference::Side;
use rprof_profile::{Quality, Sampling, Thinning};

/// The sentences.
pub(crate) fn of(
    recordings: &Recordings,
    per: &Per,
    renamed_program: Option<&(String, String)>,
) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(differing(recordings));
    notes.extend(commands(recordings));
    notes.extend(
        renamed_program.map(|(before, after)| {
            format!("comparing {before} with {after}, the recorded programs")
        }),
    );
    notes.extend(events(recordings));
    notes.extend(sampling(recordings));
    notes.extend(recordings.all().filter_map(|(_, one)| missing(one)));
    notes.extend(short_waits(recordings));
    notes.extend(few(recordings, per));
    notes.extend(surer(recordings));
    notes
}

/// What a reader must know of what was compared: what it was divided by, what conditions are of, and why a table is empty.
pub(crate) fn of_events(
    events: &[ComparedEvent],
    divided_by: &[String],
    n_conditions: usize,
) -> Vec<String> {
    let divided = divided_by.iter();
    let mut notes: Vec<String> = divided
        .map(|name| format!("{name} is the divisor (--per) and is not compared"))
        .collect();
    let is_one_of_several = events.len() + divided_by.len() > 1;
    let first = events
        .first()
        .filter(|_| n_conditions > 0 && is_one_of_several);
    notes.extend(first.map(|event| format!("conditions apply to {}", event.name)));
    let empty = events.iter().filter(|event| event.rows.is_empty());
    notes.extend(empty.map(|event| {
        format!(
            "{}: no samples match the filters (-C, -d, -S, --cpu, --pid, --tid, --time, --slower-than), or no row \
             is on both sides (-b)",
            event.name
        )
    }));
    notes
}

/// Machines, kernels, processors.
fn differing(recordings: &Recordings) -> Vec<String> {
    type Texts = Vec<(&'static str, String)>;
    let texts = |one: &NamedRun| -> Texts {
        let about = &one.run.about;
        let n_cpus = about.n_cpus.map(|n| ("n_cpus", n.to_string()));
        let texts = about.texts().map(|(name, text)| (name, text.to_owned()));
        texts.chain(n_cpus).collect()
    };
    let all: Vec<Texts> = recordings.all().map(|(_, one)| texts(one)).collect();
    let kinds = [
        ("host", "machines"),
        ("arch", "architectures"),
        ("cpu", "processors"),
        ("n_cpus", "CPU counts"),
        ("os_release", "kernels"),
    ];
    let kinds = kinds.into_iter().filter_map(|(kind, words)| {
        let values = all.iter().flatten().filter(|(name, _)| *name == kind);
        let mut values: Vec<&str> = values.map(|(_, text)| text.as_str()).collect();
        values.sort_unstable();
        values.dedup();
        (values.len() > 1).then(|| format!("{words} differ: {}", values.join(", ")))
    });
    kinds.collect()
}

/// The recorded commands, without where files are.
fn commands(recordings: &Recordings) -> Option<String> {
    let commands = |side: Side| {
        let runs = recordings.of(side).iter();
        let mut commands: Vec<String> = runs.map(|one| workload(&one.run.about.command)).collect();
        commands.sort_unstable();
        commands.dedup();
        commands
    };
    let (before, after) = (commands(Side::Before), commands(Side::After));
    let most = before.len().max(after.len());
    if most > 1 {
        Some(format!(
            "the runs of one side have different commands: before {}; after {}",
            before.join(" | "),
            after.join(" | ")
        ))
    } else {
        None
    }
}

/// What was recorded: the words after the recorder's flags.
fn workload(command: &[String]) -> String {
    let dashes = command.iter().position(|word| word == "--");
    let words = dashes.map_or(command, |at| command.get(at + 1..).unwrap_or_default());
    // Where the recorder writes is of each run.
    let mut kept = Vec::new();
    let mut is_output = false;
    for word in words {
        let was_output = std::mem::replace(&mut is_output, word == "-o" || word == "--output");
        let is_attached =
            word.starts_with("--output=") || (dashes.is_none() && word.starts_with("-o"));
        if !was_output && !is_output && !is_attached {
            kept.push(word.as_str());
        }
    }
    kept.join(" ")
}

/// Events that some recordings lack, or have by other names.
fn events(recordings: &Recordings) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    let mut say = |note: String| {
        if !notes.contains(&note) {
            notes.push(note);
        }
    };
    for (_, one) in recordings.all() {
        for event in &one.run.events {
            for (_, other) in recordings.all() {
                let found = event_of(&other.run, &event.name);
                match found.and_then(|at| other.run.events.get(at)) {
                    None => say(format!("{} is not in all recordings: omitted", event.name)),
                    Some(found) if found.name != event.name => say(format!(
                        "{} is compared across different modifiers, which count different levels of code",
                        event.kind.without_modifier(&event.name)
                    )),
                    Some(_) => {}
                }
            }
        }
    }
    notes
}

/// How often samples are taken.
fn sampling(recordings: &Recordings) -> Option<String> {
    let all = recordings.all().flat_map(|(_, one)| &one.run.events);
    let mut all: Vec<(&str, Sampling)> = all
        .map(|event| (event.kind.without_modifier(&event.name), event.sampling))
        .collect();
    let words = |one: Sampling| match one {
        Sampling::PerSecond(n) => format!("{n} times a second"),
        Sampling::Every(n) => format!("every {n}"),
        Sampling::Mixed => "in several ways".to_owned(),
    };
    all.sort_by_key(|(name, _)| *name);
    let pair = all.windows(2).find(|pair| match pair {
        [one, other] => one.0 == other.0 && one.1 != other.1,
        _ => false,
    })?;
    let [one, other] = pair else { return None };
    Some(format!(
        "{} was sampled {} and {}: weights are compared, not sample counts",
        one.0,
        words(one.1),
        words(other.1)
    ))
}

/// What is missing of a recording.
fn missing(one: &NamedRun) -> Option<String> {
    let events = &one.run.events;
    let samples = events.iter().map(|event| event.all.samples).sum::<u64>();
    let lost: u64 = events.iter().map(|event| event.loss.samples).sum();
    let mut said = Vec::new();
    if samples == 0 {
        said.push("no samples".to_owned());
    }
    if lost > 0 {
        let dropped = one.run.about.thinning.map_or(0, Thinning::dropped);
        let taken = samples.saturating_add(dropped);
        let share = Share::of(lost, taken.saturating_add(lost));
        let lost = Counted::new(lost, "sample", "samples");
        said.push(format!("{lost} lost ({share:.1} %)"));
    }
    let unwound = &one.run.unwound;
    let truncated = Share::of(unwound.ended(StackEnd::Truncated), unwound.samples());
    if truncated > Quality::MAX_TRUNCATED {
        said.push(format!("{truncated:.1} % of the stacks truncated"));
    }
    (!said.is_empty()).then(|| format!("{}: {}", one.name, said.join(", ")))
}

/// What Children of functions lack where short waits have no user stacks, on purpose, and are many.
fn short_waits(recordings: &Recordings) -> Option<String> {
    let shortest = |one: &NamedRun| -> Option<String> {
        let run = &one.run;
        let kinds = run.events.iter().map(|event| event.kind);
        let ms = run.unwound.short_waits_ms(&run.about, kinds)?;
        Some(ms.to_owned())
    };
    let of = |side| {
        let mut all: Vec<String> = recordings.of(side).iter().filter_map(shortest).collect();
        all.sort_unstable();
        all.dedup();
        (!all.is_empty()).then(|| format!("under {} ms", all.join(" or ")))
    };
    let waits = match (of(Side::Before), of(Side::After)) {
        (None, None) => return None,
        (Some(before), Some(after)) if before == after => format!("waits {before}"),
        (Some(before), Some(after)) => format!("short waits (before: {before}, after: {after})"),
        (Some(before), None) => format!("short waits (before: {before})"),
        (None, Some(after)) => format!("short waits (after: {after})"),
    };
    Some(format!(
        "{waits} have no user stacks: Children of user functions omit them, and change when waits cross that length \
         (rprof record --off-cpu=0 keeps all stacks)"
    ))
}

/// What makes an answer of one recording a side surer.
fn surer(recordings: &Recordings) -> Option<String> {
    recordings.are_single().then(|| {
        "for a firmer answer, record each side at least five times, alternating, and compare them all: rprof \
         diff before1.data before2.data .. -- after1.data after2.data .."
            .to_owned()
    })
}

/// How weak the answer is.
fn few(recordings: &Recordings, per: &Per) -> Option<String> {
    let few = match recordings.counts() {
        (1, 1) => format!(
            "one recording per side: run-to-run variation is unknown. Noise is estimated from {} blocks of \
             time and is at least {} %; a change that all rows share, up to {} %, is attributed to the \
             machine",
            Recordings::BLOCKS,
            100.0 * UNSEEN,
            100.0 * MOST_SHARED
        ),
        (1, _) | (_, 1) => {
            "one recording on one side: it is assumed to vary like those of the other, which is weaker, as a \
             disturbed run goes unnoticed"
                .to_owned()
        }
        _ => return None,
    };
    let shares = match per {
        Per::Event => "; with shares, one that grows makes the others shrink",
        _ => "",
    };
    Some(few + shares)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_profile::run::{Run, RunEvent};
    use rprof_profile::{EndedStacks, EventKind, Loss, SampleCount, Unwound};

    fn run(kind: EventKind, flag: &str, n_holes: u64) -> NamedRun {
        let mut run = Run::default();
        let words = ["rprof", "record", flag, "--", "./program"];
        run.about.command = words.map(str::to_owned).to_vec();
        let ends = [
            (StackEnd::Complete, 1000 - n_holes),
            (StackEnd::Hole, n_holes),
        ];
        run.unwound = Unwound::of(ends.into_iter().map(|(end, samples)| EndedStacks {
            end,
            image: None,
            samples,
        }));
        run.events.push(RunEvent {
            name: "offcpu-time".to_owned(),
            kind,
            sampling: Sampling::Mixed,
            all: SampleCount::default(),
            loss: Loss::default(),
            has_stacks: true,
            blocks: Vec::new(),
            groups: Vec::new(),
            rows: Vec::new(),
            namesakes: Vec::new(),
        });
        NamedRun {
            name: "perf.data".to_owned(),
            run,
        }
    }

    #[test]
    fn waits_that_have_no_stacks_on_purpose_are_said_to_be_missing() {
        use EventKind::{CpuTime, OffCpuTime, WallTime};
        let said = |before, after| {
            short_waits(&Recordings {
                before: vec![before],
                after: vec![after],
            })
        };
        let whole = || run(OffCpuTime, "--off-cpu=0", 500);
        let with = |flag| run(WallTime, flag, 10);
        for (before, after, expected) in [
            (with("--off-cpu"), with("--off-cpu=1"), "waits under 1 ms"),
            (
                with("--off-cpu"),
                with("--off-cpu=5"),
                "short waits (before: under 1 ms, after: under 5 ms)",
            ),
            (
                run(OffCpuTime, "--off-cpu", 500),
                whole(),
                "short waits (before: under 1 ms)",
            ),
            (
                whole(),
                run(OffCpuTime, "--off-cpu=2", 500),
                "short waits (after: under 2 ms)",
            ),
        ] {
            let said = said(before, after).unwrap();
            let expected = format!("{expected} have no user stacks: Children of user functions");
            assert!(said.starts_with(&expected), "{said}");
        }
        // Few of them, none of them, other events.
        let few = said(run(OffCpuTime, "--off-cpu", 9), whole());
        let of_cpu = said(run(CpuTime, "--off-cpu", 500), run(OffCpuTime, "-g", 500));
        assert_eq!((few, of_cpu), (None, None));
    }
}
