//! Samples in order of time, drawn as a flame graph is.

use crate::Error;
use crate::flame::{Drawn, DrawnStacks, FlameOptions, draw};
use rprof_profile::SampledProfile;
use rprof_profile::view::{picture_label, thread_label, wait_label};
use rprof_query::{FlameBox, FlameChart, FlameLabel, SampleSelection};
use std::collections::BTreeMap;
use std::io::Write;

/// Stands for threads that are too narrow to be drawn: nothing else is below what they count.
const NARROW_THREADS: &str = "(narrow threads)";

/// Draws the samples of one event in order of time, each thread by itself. Frames that pictures call the same become
/// one.
///
/// # Errors
/// Those of [`write_flame`](crate::write_flame).
pub fn write_flame_chart(
    mut sampled: SampledProfile,
    event: usize,
    options: &FlameOptions,
    out: &mut impl Write,
) -> Result<Drawn, Error> {
    sampled.fold_labels();
    let selection = SampleSelection {
        event,
        ..SampleSelection::default()
    };
    let mut chart = FlameChart::of(&sampled, &selection, options.min_width);
    let widths = chart.layout.boxes.iter().map(|one| one.width);
    let least_width = options.least_width(widths, chart.layout.whole);
    chart.leave_out_narrow(least_width);
    let profile = &sampled.profile;
    let event = profile.events.get(event).ok_or(Error::NothingToDraw)?;
    let labels = Labels::of(&sampled, &chart);
    let stacks = DrawnStacks {
        lines: lines(&chart, &labels),
        labels: &labels.all,
        causes: &labels.causes,
    };
    let drawn = Drawn {
        left_out: chart.left_out,
        least_width,
    };
    draw(profile, event, &stacks, drawn, options, out)
}

/// What boxes are called.
struct Labels {
    all: Vec<String>,
    /// Those of causes of waits.
    causes: Vec<String>,
    /// Number of the label of each box.
    of_box: Vec<usize>,
}

impl Labels {
    fn of(sampled: &SampledProfile, chart: &FlameChart) -> Self {
        let mut all = Vec::new();
        let (mut frames, mut waits) = (BTreeMap::new(), BTreeMap::new());
        let mut threads = chart.threads.iter();
        let mut label = |one: &FlameBox| match one.label {
            FlameLabel::Comm(_) => {
                let thread = threads.next().map(|&idx| &sampled.threads[idx as usize]);
                let label = thread.map(|thread| thread_label(&sampled.profile, thread));
                all.push(label.unwrap_or_default());
                all.len() - 1
            }
            FlameLabel::Frame(frame) => *frames.entry(frame).or_insert_with(|| {
                all.push(picture_label(&sampled.profile, frame));
                all.len() - 1
            }),
            FlameLabel::Wait(cause) => *waits.entry(cause).or_insert_with(|| {
                all.push(wait_label(&sampled.profile, cause));
                all.len() - 1
            }),
        };
        let of_box = chart.layout.boxes.iter().map(&mut label).collect();
        let causes = waits.values().map(|&number: &usize| all[number].clone());
        Self {
            causes: causes.collect(),
            of_box,
            all,
        }
    }
}

/// A folded stack for each stretch in which the same boxes are on each other.
fn lines(chart: &FlameChart, labels: &Labels) -> Vec<String> {
    let mut lines = Lines {
        lines: Vec::new(),
        path: String::new(),
        open: Vec::new(),
        at: 0,
    };
    for (one, &label) in chart.layout.boxes.iter().zip(&labels.of_box) {
        lines.close(one.depth as usize);
        lines.go_to(one.start);
        lines
            .open
            .push((one.start.saturating_add(one.width), lines.path.len()));
        lines
            .path
            .push_str(if lines.path.is_empty() { "" } else { ";" });
        lines.path.push_str(&labels.all[label]);
    }
    lines.close(0);
    lines.go_to(chart.layout.whole);
    lines.lines
}

struct Lines {
    lines: Vec<String>,
    /// The names of the open boxes.
    path: String,
    /// Where each of them ends, and how long the path is without it.
    open: Vec<(u64, usize)>,
    /// What the lines count.
    at: u64,
}

impl Lines {
    /// Closes boxes until this many are open.
    fn close(&mut self, n_open: usize) {
        while self.open.len() > n_open
            && let Some((end, len)) = self.open.pop()
        {
            self.go_to(end);
            self.path.truncate(len);
        }
    }

    /// What is up to there is of the innermost open box.
    fn go_to(&mut self, place: u64) {
        if place > self.at {
            let path = if self.path.is_empty() {
                NARROW_THREADS
            } else {
                &self.path
            };
            self.lines.push(format!("{path} {}", place - self.at));
            self.at = place;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_base::Share;
    use rprof_profile::testing;

    const SAMPLES: [(u64, &str, &str, u64); 6] = [
        (0, "prog", "main;b", 1),
        (1, "prog", "main;a;x", 2),
        (2, "pool", "main;b", 1),
        (3, "prog", "main;b", 1),
        (4, "prog", "main;b", 1),
        (5, "prog", "main;b;y", 3),
    ];

    fn lines_of(narrow: f64) -> Vec<String> {
        let sampled = testing::sampled(&SAMPLES);
        let narrow = Share::from_percent(narrow);
        let chart = FlameChart::of(&sampled, &SampleSelection::default(), narrow);
        lines(&chart, &Labels::of(&sampled, &chart))
    }

    #[test]
    fn stacks_follow_each_other_as_samples_do() {
        let expected = [
            "prog [1];main;b 1",
            "prog [1];main;a;x 2",
            "prog [1];main;b 2",
            "prog [1];main;b;y 3",
            "pool [2];main;b 1",
        ];
        assert_eq!(lines_of(0.0), expected);
    }

    #[test]
    fn what_is_narrow_goes_to_its_caller() {
        // Of nine: the first b, and the other thread.
        let expected = [
            "prog [1];main 1",
            "prog [1];main;a;x 2",
            "prog [1];main;b 2",
            "prog [1];main;b;y 3",
            "(narrow threads) 1",
        ];
        assert_eq!(lines_of(15.0), expected);
        assert_eq!(lines_of(80.0), ["prog [1];main 8", "(narrow threads) 1"]);
        assert_eq!(lines_of(90.0), ["(narrow threads) 9"]);
    }

    #[test]
    fn many_short_samples_make_no_large_picture() {
        // No sample has a neighbour's stack: of three frames each, the innermost two are one sample wide.
        let stacks: Vec<String> = (0..50_000)
            .map(|n| format!("main;f{};g{};h", n / 1000, n % 7))
            .collect();
        let samples: Vec<(u64, &str, &str, u64)> = (0..)
            .zip(&stacks)
            .map(|(time, stack)| (time, "prog", stack.as_str(), 1))
            .collect();
        let sampled = testing::sampled(&samples);
        for (min_width, n_drawn, least) in [(0.0, 53, 0.01), (3.0, 3, 3.0)] {
            let options = FlameOptions {
                min_width: Share::from_percent(min_width),
                ..FlameOptions::default()
            };
            let mut svg = Vec::new();
            let drawn = write_flame_chart(sampled.clone(), 0, &options, &mut svg).unwrap();
            let svg = String::from_utf8(svg).unwrap();
            assert_eq!(svg.matches("<title>").count(), n_drawn);
            assert_eq!(drawn.least_width, Share::from_percent(least));
            // Beside the box of all samples.
            assert_eq!(drawn.left_out, 100_053 - n_drawn as u64);
            assert!(svg.contains("<title>main (50,000 cycles, 100.00%)"));
        }
        let all = FlameOptions {
            min_width: Share::default(),
            max_frames: usize::MAX,
            ..FlameOptions::default()
        };
        let mut svg = Vec::new();
        let drawn = write_flame_chart(sampled, 0, &all, &mut svg).unwrap();
        assert_eq!(drawn, Drawn::default());
    }
}
