//! Stacks in order of time: what follows each other in a thread is one as far as it is the same.

use super::folded::LabelNumbers;
use super::{Audience, FoldedStacks};
use crate::SampledProfile;
use rprof_base::Share;

/// Stacks of a chart.
#[derive(Debug)]
pub struct FoldedInTime {
    /// As they follow each other, thread after thread.
    pub stacks: FoldedStacks,
    /// How many frames count less than was asked for: what they count is in their callers.
    pub left_out: u64,
}

/// The stacks of an event's samples, each thread by itself, in the order of their first samples. Threads have their ids
/// in their labels. Frames that count less than `narrow` of all are left out, so memory follows the picture.
pub fn fold_in_time(sampled: &SampledProfile, event: usize, narrow: Share) -> FoldedInTime {
    let strings = &sampled.profile.strings;
    let label = |thread: &crate::timeline::Thread| {
        let comm = strings.of(thread.comm).into_raw();
        super::folded::safe(&format!("{comm} [{}]", thread.tid))
    };
    let comms: Vec<String> = sampled.threads.iter().map(label).collect();
    let nodes = sampled.stacks.nodes();
    let numbers = LabelNumbers::of(&sampled.profile, nodes, (comms, Audience::Picture));
    let mut by_thread: Vec<Vec<(u32, u64)>> = vec![Vec::new(); sampled.threads.len()];
    let mut all = 0_u64;
    for sample in sampled.samples.iter() {
        let Some(stack) = sample.stack.filter(|_| usize::from(sample.event) == event) else {
            continue;
        };
        all = all.saturating_add(sample.weight);
        let of_thread = &mut by_thread[sample.thread as usize];
        match of_thread.last_mut() {
            Some((last, weight)) if *last == stack => {
                *weight = weight.saturating_add(sample.weight)
            }
            _ => of_thread.push((stack, sample.weight)),
        }
    }
    let mut chart = Chart::new(all, narrow);
    let mut stack = Vec::new();
    for (thread, samples) in by_thread.into_iter().enumerate() {
        for (node, weight) in samples {
            numbers.stack(nodes, &nodes[node as usize], &mut stack);
            stack.extend(numbers.comms.get(thread));
            stack.reverse();
            chart.push(&stack, weight);
        }
    }
    chart.close(0);
    FoldedInTime {
        left_out: chart.left_out,
        stacks: FoldedStacks::in_order(numbers.labels, chart.lines),
    }
}

/// Lines so far, and frames that are open: more may come of them.
#[derive(Debug)]
struct Chart {
    all: u64,
    narrow: Share,
    lines: Vec<(Box<[u32]>, u64)>,
    /// What they count.
    sum: u64,
    path: Vec<u32>,
    open: Vec<OpenFrame>,
    left_out: u64,
}

/// Where a frame began.
#[derive(Clone, Copy, Debug)]
struct OpenFrame {
    line: usize,
    sum: u64,
}

impl Chart {
    fn new(all: u64, narrow: Share) -> Self {
        Self {
            all,
            narrow,
            lines: Vec::new(),
            sum: 0,
            path: Vec::new(),
            open: Vec::new(),
            left_out: 0,
        }
    }

    /// Adds what comes next, outermost frame first.
    fn push(&mut self, stack: &[u32], weight: u64) {
        let shared = self.path.iter().zip(stack);
        let shared = shared.take_while(|(a, b)| a == b).count();
        self.close(shared);
        let begins = OpenFrame {
            line: self.lines.len(),
            sum: self.sum,
        };
        self.open.resize(stack.len(), begins);
        self.path.extend_from_slice(&stack[shared..]);
        self.add(stack, weight);
        self.sum = self.sum.saturating_add(weight);
    }

    fn add(&mut self, stack: &[u32], weight: u64) {
        match self.lines.last_mut() {
            Some((last, sum)) if **last == *stack => *sum = sum.saturating_add(weight),
            _ => self.lines.push((stack.into(), weight)),
        }
    }

    /// Ends frames until this many are open. Of those that are too narrow, one line is left, of their caller; threads
    /// stay, as they have none.
    fn close(&mut self, n_open: usize) {
        while self.open.len() > n_open.max(1) || (n_open == 0 && !self.open.is_empty()) {
            let Some(OpenFrame { line, sum }) = self.open.pop() else {
                return;
            };
            let depth = self.open.len();
            let weight = self.sum.saturating_sub(sum);
            if depth > 0 && Share::of(weight, self.all) < self.narrow {
                self.left_out += 1;
                self.lines.truncate(line);
                let caller: Box<[u32]> = self.path[..depth].into();
                self.add(&caller, weight);
            }
            self.path.truncate(depth);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    const SAMPLES: [(u64, &str, &str, u64); 6] = [
        (0, "prog", "main;b", 1),
        (1, "prog", "main;a;x", 2),
        (2, "pool", "main;b", 1),
        (3, "prog", "main;b", 1),
        (4, "prog", "main;b", 1),
        (5, "prog", "main;b;y", 3),
    ];

    fn lines(narrow: f64) -> (Vec<String>, u64) {
        let sampled = testing::sampled(&SAMPLES);
        let folded = fold_in_time(&sampled, 0, Share::from_percent(narrow));
        (folded.stacks.lines().collect(), folded.left_out)
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
        assert_eq!(lines(0.0), (expected.map(str::to_owned).to_vec(), 0));
    }

    #[test]
    fn what_is_narrow_goes_to_its_caller_and_is_counted() {
        // Of nine: the first b, and all of the other thread but for its name.
        let expected = [
            "prog [1];main 1",
            "prog [1];main;a;x 2",
            "prog [1];main;b 2",
            "prog [1];main;b;y 3",
            "pool [2] 1",
        ];
        assert_eq!(lines(15.0), (expected.map(str::to_owned).to_vec(), 3));
        let expected = ["prog [1];main 9", "pool [2] 1"];
        let (whole, _) = lines(80.0);
        assert_eq!(whole, expected.map(|line| line.replace('9', "8")));
    }
}
