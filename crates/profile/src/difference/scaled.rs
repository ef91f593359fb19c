//! Two sides of different size, made comparable.

use super::DifferentialTree;
use crate::SampleCount;
use crate::view::Count;

/// What counts of two sides are compared as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Scaling {
    /// As shares: the side before is made as large as the side after.
    #[default]
    Shares,
    /// As they were recorded.
    Recorded,
    /// As what each second counted: the side before is made as long as the side after.
    PerSecond(SideSpans),
}

/// How long both sides were recorded, nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SideSpans {
    /// Before.
    pub before_ns: u64,
    /// After.
    pub after_ns: u64,
}

/// What a node counts itself, of sides that are comparable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ScaledPair {
    /// Before.
    pub before: u64,
    /// After.
    pub after: u64,
}

impl DifferentialTree {
    /// What each node counts itself, in its order. As shares, those before add up to just what those after do.
    pub fn scaled(&self, count: Count, scaling: Scaling) -> Vec<ScaledPair> {
        let number = |counted: SampleCount| match count {
            Count::Samples => counted.samples,
            Count::Weight => counted.weight,
        };
        let sum = self.sum();
        let (before, after) = (number(sum.before), number(sum.after));
        let (from, to) = match scaling {
            Scaling::Recorded => (1, 1),
            Scaling::Shares if before == 0 || after == 0 => (1, 1),
            Scaling::Shares => (before, after),
            Scaling::PerSecond(spans) => (spans.before_ns.max(1), spans.after_ns.max(1)),
        };
        let scale = |cumulated: u64| {
            let scaled = u128::from(cumulated) * u128::from(to) / u128::from(from);
            u64::try_from(scaled).unwrap_or(u64::MAX)
        };
        // Sums are rounded, not parts: so nothing is lost.
        let (mut cumulated, mut done) = (0u64, 0);
        let pair = |node: &super::DifferentialNode| {
            cumulated = cumulated.saturating_add(number(node.own.before));
            let before = scale(cumulated) - done;
            done += before;
            ScaledPair {
                before,
                after: number(node.own.after),
            }
        };
        self.nodes().iter().map(pair).collect()
    }

    /// A line for each stack: its frames, what it counts before, what after (`a;b 3 4`).
    pub fn lines(&self, count: Count, scaling: Scaling) -> impl Iterator<Item = String> {
        let pairs = self.scaled(count, scaling);
        let pairs = (0u32..).zip(pairs);
        let counted = pairs.filter(|(_, pair)| *pair != ScaledPair::default());
        counted.map(|(at, ScaledPair { before, after })| {
            let path = self.path(at).into_iter();
            let labels = path.map(|node| self.label(&self.nodes()[node as usize]));
            let stack = labels.collect::<Vec<_>>().join(";");
            format!("{stack} {before} {after}")
        })
    }
}
