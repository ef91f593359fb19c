//! Boxes in order of time.

use super::{FlameBox, FlameLabel, FlameLayout};
use crate::SampleSelection;
use crate::chosen::Chosen;
use rprof_base::Share;
use rprof_profile::{NodeLists, SampledProfile, StrId};

/// A flame graph in order of time, each thread by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlameChart {
    /// Boxes: the lowest are threads. Each comes after the one that it stands on, and before the next one beside that.
    pub layout: FlameLayout,
    /// Indices of the threads that the lowest boxes are.
    pub threads: Vec<u32>,
    /// How many boxes are narrower than was asked for, and left out.
    pub left_out: u64,
}

impl FlameChart {
    /// Boxes in order of time: what follows each other is one box as far as its stack is the same. Each thread has a
    /// lowest box of its own, in the order of their first samples.
    ///
    /// Boxes that are narrower than this share of all are left out, with what is on them, and counted: long recordings
    /// have more boxes than samples.
    pub fn of(sampled: &SampledProfile, selection: &SampleSelection, narrow: Share) -> Self {
        let chosen = Chosen::new(sampled, selection);
        let samples = &sampled.samples;
        let is_shown = |at: &usize| {
            let sample = samples.row(*at);
            let stack = sample.stack.filter(|_| chosen.is_in_totals(&sample));
            stack.is_some_and(|stack| chosen.is_shown(&sample, stack))
        };
        let shown: Vec<usize> = chosen.range.clone().filter(is_shown).collect();
        let rows = || shown.iter().map(|&at| samples.row(at));
        let threads = rows().map(|row| row.thread as usize);
        let by_thread = NodeLists::of(sampled.threads.len(), threads);
        let mut drawing = Drawing {
            sampled,
            narrow,
            all: rows().fold(0, |all, row| all.saturating_add(row.weight)),
            chart: Self::default(),
            n_samples: 0,
            open: Vec::new(),
            depths: vec![0; sampled.stacks.nodes().len()],
            causes: sampled.causes(),
            path: Vec::new(),
        };
        for (idx, thread) in (0u32..).zip(&sampled.threads) {
            let of_thread = by_thread.of_list(idx as usize);
            if !of_thread.is_empty() {
                drawing.chart.threads.push(idx);
                drawing.open(FlameLabel::Comm(thread.comm), None);
                for &nth in of_thread {
                    let sample = samples.row(shown[nth as usize]);
                    drawing.add(sample.stack, sample.weight);
                }
                drawing.close(0);
            }
        }
        drawing.chart
    }

    /// Leaves out boxes that are narrower than a share of all, as if that had been asked for.
    pub fn leave_out_narrow(&mut self, narrow: Share) {
        let all = self.layout.whole;
        let boxes = std::mem::take(&mut self.layout.boxes);
        let mut threads = std::mem::take(&mut self.threads).into_iter();
        self.layout.depth = 0;
        let mut moved: Vec<u32> = Vec::with_capacity(boxes.len());
        for one in boxes {
            moved.push(u32::try_from(self.layout.boxes.len()).unwrap_or(u32::MAX));
            let thread = one.parent.is_none().then(|| threads.next()).flatten();
            if Share::of(one.width, all) < narrow {
                // What stands on it is no wider, and goes as well.
                self.left_out += 1;
                continue;
            }
            self.threads.extend(thread);
            self.layout.depth = self.layout.depth.max(one.depth + 1);
            let parent = one.parent.map(|parent| moved[parent as usize]);
            self.layout.boxes.push(FlameBox { parent, ..one });
        }
    }
}

/// A chart of what was gone through.
struct Drawing<'s> {
    sampled: &'s SampledProfile,
    narrow: Share,
    /// What the chart is going to be as wide as.
    all: u64,
    chart: FlameChart,
    /// How many samples are in it.
    n_samples: u64,
    /// Boxes that the next sample may be in.
    open: Vec<OpenBox>,
    /// By node, how many boxes are below its open one; 0 if it has none.
    depths: Vec<u32>,
    /// What threads wait for, by group.
    causes: Vec<Option<StrId>>,
    path: Vec<u32>,
}

struct OpenBox {
    number: u32,
    /// The node of a frame's box.
    node: Option<u32>,
    /// How many samples there were before it.
    samples: u64,
}

impl Drawing<'_> {
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
        let cause = stack.and_then(|node| self.cause(node));
        let n_open = n_shared as usize + 1;
        let stays = self.path.is_empty() && cause.is_some_and(|cause| self.waits_at(n_open, cause));
        self.close(n_open + usize::from(stays));
        while let Some(node) = self.path.pop() {
            self.open(FlameLabel::Frame(nodes[node as usize].frame), Some(node));
        }
        if let Some(cause) = cause.filter(|_| !stays) {
            self.open(FlameLabel::Wait(cause), None);
        }
        let layout = &mut self.chart.layout;
        if let Some(last) = self.open.last() {
            let own = &mut layout.boxes[last.number as usize].own;
            *own = own.saturating_add(weight);
        }
        layout.whole = layout.whole.saturating_add(weight);
        self.n_samples += 1;
    }

    /// What the thread of a stack waits for.
    fn cause(&self, node: u32) -> Option<StrId> {
        let group = self.sampled.stacks.nodes()[node as usize].group;
        self.causes.get(group as usize).copied().flatten()
    }

    /// Whether the box that is open on this many others is of a wait for this.
    fn waits_at(&self, n_open: usize, cause: StrId) -> bool {
        let open = self.open.get(n_open);
        let label = open.map(|open| self.chart.layout.boxes[open.number as usize].label);
        label == Some(FlameLabel::Wait(cause))
    }

    fn open(&mut self, label: FlameLabel, node: Option<u32>) {
        let depth = u32::try_from(self.open.len()).unwrap_or(u32::MAX);
        let layout = &mut self.chart.layout;
        let number = u32::try_from(layout.boxes.len()).unwrap_or(u32::MAX);
        layout.boxes.push(FlameBox {
            label,
            parent: self.open.last().map(|open| open.number),
            depth,
            start: layout.whole,
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
            let layout = &mut self.chart.layout;
            let one = &mut layout.boxes[last.number as usize];
            let is_thread = one.parent.is_none();
            one.width = layout.whole - one.start;
            one.samples = self.n_samples - last.samples;
            if Share::of(one.width, self.all) >= self.narrow {
                layout.depth = layout.depth.max(one.depth + 1);
                continue;
            }
            // What stood on it is no wider, and gone.
            layout.boxes.truncate(last.number as usize);
            self.chart.left_out += 1;
            if is_thread {
                self.chart.threads.pop();
            }
        }
    }
}
