//! Boxes of a flame graph, with what stands on each: what the call tree and the flame view share.

use crate::matcher::Matcher;
use crate::shown::{CountedSamples, Shown};
use crate::task::Recipe;
use foldhash::HashMap;
use rprof_profile::view::FirstFrame;
use rprof_profile::{FrameId, Profile};
use rprof_query::{FlameBox, FlameLabel, FlameLayout, FlameOrder};
use std::cmp::Reverse;

/// Boxes, and those on each.
#[derive(Debug)]
pub(crate) struct Boxes {
    pub(crate) layout: FlameLayout,
    /// Numbers of boxes, by what they stand on; the lowest come first.
    children: Vec<u32>,
    /// Where those on a box begin; the lowest are number 0.
    starts: Vec<u32>,
}

/// Makes [`Boxes`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BoxesOf;

impl Recipe for BoxesOf {
    type Product = Boxes;

    fn make(&self, counted: &CountedSamples) -> Boxes {
        let (first, order) = (FirstFrame::Outermost, FlameOrder::Heaviest);
        let profile = counted.explorer.profile();
        Boxes::new(FlameLayout::of(profile, &counted.event, first, order))
    }
}

impl Shown {
    /// The boxes, once made.
    pub(crate) fn boxes(&self) -> Option<&Boxes> {
        Some(&self.part::<BoxesOf>()?.product)
    }
}

impl Boxes {
    fn new(layout: FlameLayout) -> Self {
        let list_of = |one: &FlameBox| one.parent.map_or(0, |parent| parent as usize + 1);
        let mut starts = vec![0u32; layout.boxes.len() + 2];
        for one in &layout.boxes {
            starts[list_of(one) + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut children = vec![0u32; layout.boxes.len()];
        for (number, one) in (0u32..).zip(&layout.boxes) {
            let at = &mut next[list_of(one)];
            children[*at as usize] = number;
            *at += 1;
        }
        Self {
            layout,
            children,
            starts,
        }
    }

    pub(crate) fn get(&self, number: u32) -> Option<&FlameBox> {
        self.layout.boxes.get(number as usize)
    }

    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.layout.boxes.len()).unwrap_or(u32::MAX)
    }

    /// Those on a box, from left to right.
    pub(crate) fn children(&self, number: Option<u32>) -> &[u32] {
        let list = number.map_or(0, |number| number as usize + 1);
        let bound = |at: usize| self.starts.get(at).map_or(0, |&start| start as usize);
        self.children
            .get(bound(list)..bound(list + 1))
            .unwrap_or_default()
    }

    /// The only child that has all of a box's weight, if there is one.
    pub(crate) fn only_child(&self, number: u32) -> Option<u32> {
        let one = self.get(number)?;
        match *self.children(Some(number)) {
            [child] if self.get(child)?.width == one.width => Some(child),
            _ => None,
        }
    }

    /// A box and those below it, the lowest last.
    pub(crate) fn path(&self, number: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(number), |&at| self.get(at)?.parent)
    }

    /// The name of the thread that a box is of.
    pub(crate) fn comm(&self, number: u32, profile: &Profile) -> Option<String> {
        let lowest = self.path(number).last()?;
        match self.get(lowest)?.label {
            FlameLabel::Comm(comm) => Some(profile.strings.of(comm).into_raw().to_owned()),
            FlameLabel::Frame(_) | FlameLabel::Wait(_) => None,
        }
    }

    pub(crate) fn frame(&self, number: u32) -> Option<FrameId> {
        match self.get(number)?.label {
            FlameLabel::Comm(_) | FlameLabel::Wait(_) => None,
            FlameLabel::Frame(frame) => Some(frame),
        }
    }

    /// The name of a box, made printable.
    pub(crate) fn name(&self, number: u32, profile: &Profile) -> String {
        let mut name = String::new();
        match self.get(number).map(|one| one.label) {
            Some(FlameLabel::Comm(comm)) => name += &profile.strings.of(comm).to_string(),
            Some(FlameLabel::Frame(frame)) => {
                let label = profile.frames.label_parts(frame, &profile.strings);
                label.append_to(&mut name);
            }
            Some(FlameLabel::Wait(cause)) => name += &profile.wait_label(cause),
            None => {}
        }
        name
    }

    /// The names from the root to a box, separated as in folded stacks.
    pub(crate) fn stack(&self, number: u32, profile: &Profile) -> String {
        let mut path: Vec<u32> = self.path(number).collect();
        path.reverse();
        folded(path.into_iter().map(|one| self.name(one, profile)))
    }
}

/// Joins names, outermost first, as a folded stack; replaces the separator within names.
pub(crate) fn folded(names: impl Iterator<Item = String>) -> String {
    let names = names.map(|name| name.replace(';', ":"));
    names.collect::<Vec<_>>().join(";")
}

/// The matches of a search.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) matcher: Matcher,
    /// Whether a box matches, by its number.
    is_found: Vec<bool>,
    /// Numbers of those that match, the heaviest first.
    by_weight: Vec<u32>,
    /// Number of matches.
    pub(crate) n: usize,
    /// Weight of the stacks that contain a match.
    pub(crate) weight: u64,
}

impl Found {
    /// Looks at all names.
    pub(crate) fn new(boxes: &Boxes, profile: &Profile, matcher: Matcher) -> Self {
        // Each name is looked at once.
        let mut frames: HashMap<FrameId, bool> = HashMap::default();
        let mut found = Self {
            matcher,
            is_found: Vec::with_capacity(boxes.layout.boxes.len()),
            by_weight: Vec::new(),
            n: 0,
            weight: 0,
        };
        // Whether a box or one below it is found.
        let mut is_within: Vec<bool> = Vec::with_capacity(boxes.layout.boxes.len());
        for one in &boxes.layout.boxes {
            let is_found = match one.label {
                FlameLabel::Comm(comm) => {
                    found.matcher.matches(profile.strings.of(comm).into_raw())
                }
                FlameLabel::Wait(cause) => found.matcher.matches(&profile.wait_label(cause)),
                FlameLabel::Frame(frame) => *frames.entry(frame).or_insert_with(|| {
                    let name = profile.frames.label(frame, &profile.strings);
                    found.matcher.matches(name.raw())
                }),
            };
            let outer = one.parent.is_some_and(|parent| is_within[parent as usize]);
            if is_found && !outer {
                found.weight = found.weight.saturating_add(one.width);
            }
            found.n += usize::from(is_found);
            is_within.push(outer || is_found);
            found.is_found.push(is_found);
        }
        let numbers = (0u32..).zip(&found.is_found);
        let matching = numbers.filter(|(_, is_found)| **is_found);
        found.by_weight = matching.map(|(number, _)| number).collect();
        let weight = |number: &u32| boxes.get(*number).map_or(0, |one| one.width);
        found
            .by_weight
            .sort_by_key(|number| Reverse(weight(number)));
        found
    }

    pub(crate) fn has(&self, number: u32) -> bool {
        self.is_found.get(number as usize).copied().unwrap_or(false)
    }

    /// The match with the most weight.
    pub(crate) fn heaviest(&self) -> Option<u32> {
        self.by_weight.first().copied()
    }

    /// The next lighter match than a box, or the next heavier one, wrapping around; from elsewhere, the heaviest.
    pub(crate) fn next_by_weight(&self, from: u32, is_back: bool) -> Option<u32> {
        let n = self.by_weight.len();
        let at = self.by_weight.iter().position(|&number| number == from);
        let next = match at {
            None => 0,
            Some(at) if is_back => (at + n - 1) % n,
            Some(at) => (at + 1) % n,
        };
        self.by_weight.get(next).copied()
    }

    /// The next match after a box, or before it, wrapping around.
    pub(crate) fn next(&self, from: u32, is_back: bool) -> Option<u32> {
        let n = self.is_found.len();
        let from = from as usize;
        let at = (1..=n).map(|step| {
            if is_back {
                (from + n - step) % n
            } else {
                (from + step) % n
            }
        });
        let found = at.into_iter().find(|&at| self.is_found[at])?;
        u32::try_from(found).ok()
    }
}
