//! Boxes in order of time.

use super::{FlameBox, FlameLabel, FlameLayout};
use crate::SampleSelection;
use crate::chosen::Chosen;
use rprof_profile::{NodeLists, SampledProfile};

impl FlameLayout {
    /// Boxes in order of time: what follows each other is one box as far as its stack is the same. Each thread has a
    /// lowest box of its own, in the order of their first samples.
    ///
    /// Boxes that are narrower than the least width are left out, with what is on them: long recordings have more boxes
    /// than samples.
    pub fn in_time(
        sampled: &SampledProfile,
        selection: &SampleSelection,
        least_width: u64,
    ) -> Self {
        let chosen = Chosen::of(sampled, selection);
        let samples = &sampled.samples;
        let is_shown = |at: &usize| {
            let sample = samples.row(*at);
            let stack = sample.stack.filter(|_| chosen.is_in_totals(&sample));
            stack.is_some_and(|stack| chosen.is_shown(&sample, stack))
        };
        let shown: Vec<usize> = chosen.range.clone().filter(is_shown).collect();
        let threads = shown.iter().map(|&at| samples.row(at).thread as usize);
        let by_thread = NodeLists::of(sampled.threads.len(), threads);
        let mut chart = Chart {
            sampled,
            least_width,
            layout: Self::default(),
            n_samples: 0,
            open: Vec::new(),
            depths: vec![0; sampled.stacks.nodes().len()],
            path: Vec::new(),
        };
        for (number, thread) in sampled.threads.iter().enumerate() {
            let of_thread = by_thread.of_list(number);
            if !of_thread.is_empty() {
                chart.open(FlameLabel::Comm(thread.comm), None);
                for &nth in of_thread {
                    let sample = samples.row(shown[nth as usize]);
                    chart.add(sample.stack, sample.weight);
                }
                chart.close(0);
            }
        }
        chart.layout
    }
}

/// Boxes of what was gone through.
struct Chart<'s> {
    sampled: &'s SampledProfile,
    least_width: u64,
    layout: FlameLayout,
    /// How many samples are in it.
    n_samples: u64,
    /// Boxes that the next sample may be in.
    open: Vec<OpenBox>,
    /// By node, how many boxes are below its open one; 0 if it has none.
    depths: Vec<u32>,
    path: Vec<u32>,
}

struct OpenBox {
    number: u32,
    /// The node of a frame's box.
    node: Option<u32>,
    /// How many samples there were before it.
    samples: u64,
}

impl Chart<'_> {
    /// Adds a sample of the thread at hand.
    fn add(&mut self, stack: Option<u32>, weight: u64) {
        let nodes = self.sampled.stacks.nodes();
        self.path.clear();
        let mut next = stack;
        while let Some(node) = next.filter(|&node| self.depths[node as usize] == 0) {
            self.path.push(node);
            next = nodes[node as usize].parent;
        }
        let n_shared = next.map_or(0, |node| self.depths[node as usize]);
        self.close(n_shared as usize + 1);
        while let Some(node) = self.path.pop() {
            self.open(FlameLabel::Frame(nodes[node as usize].frame), Some(node));
        }
        if let Some(last) = self.open.last() {
            let own = &mut self.layout.boxes[last.number as usize].own;
            *own = own.saturating_add(weight);
        }
        self.layout.whole = self.layout.whole.saturating_add(weight);
        self.n_samples += 1;
    }

    fn open(&mut self, label: FlameLabel, node: Option<u32>) {
        let depth = u32::try_from(self.open.len()).unwrap_or(u32::MAX);
        let number = u32::try_from(self.layout.boxes.len()).unwrap_or(u32::MAX);
        self.layout.boxes.push(FlameBox {
            label,
            parent: self.open.last().map(|open| open.number),
            depth,
            start: self.layout.whole,
            width: 0,
            own: 0,
            samples: 0,
        });
        if let Some(node) = node {
            self.depths[node as usize] = depth;
        }
        self.open.push(OpenBox {
            number,
            node,
            samples: self.n_samples,
        });
    }

    /// Closes boxes until this many are open.
    fn close(&mut self, n_open: usize) {
        while self.open.len() > n_open {
            let Some(last) = self.open.pop() else {
                return;
            };
            if let Some(node) = last.node {
                self.depths[node as usize] = 0;
            }
            let one = &mut self.layout.boxes[last.number as usize];
            one.width = self.layout.whole - one.start;
            one.samples = self.n_samples - last.samples;
            match one.width < self.least_width {
                // What stood on it is narrower, and gone.
                true => self.layout.boxes.truncate(last.number as usize),
                false => self.layout.depth = self.layout.depth.max(one.depth + 1),
            }
        }
    }
}
