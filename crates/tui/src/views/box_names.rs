//! Boxes by name: what is open and selected stays so where other boxes take their place.

use super::boxes::Boxes;
use super::opened::{function_name, path_name};
use foldhash::HashMap;
use rprof_profile::Profile;
use rprof_query::FlameLabel;

/// The names from the lowest box to one, each path of them as a number.
pub(crate) type BoxPath = Vec<u64>;

/// Boxes, with their names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoxNames<'a> {
    pub(crate) boxes: &'a Boxes,
    pub(crate) profile: &'a Profile,
}

impl BoxNames<'_> {
    /// A number for the names of a box and of those that it stands on.
    pub(crate) fn below(&self, above: u64, number: u32) -> u64 {
        let profile = self.profile;
        match self.boxes.get(number).map(|one| one.label) {
            Some(FlameLabel::Comm(comm)) => path_name(above, profile.strings.of(comm).into_raw()),
            Some(FlameLabel::Frame(frame)) => function_name(above, frame, profile),
            Some(FlameLabel::Wait(cause)) => path_name(above, &profile.wait_label(cause)),
            None => above,
        }
    }

    /// The names of a box.
    pub(crate) fn path(&self, number: u32) -> BoxPath {
        let mut path: Vec<u32> = self.boxes.path(number).collect();
        path.reverse();
        let mut above = 0;
        let names = path.into_iter().map(|number| {
            above = self.below(above, number);
            above
        });
        names.collect()
    }

    /// The names of many boxes, each as the number at the end of its path.
    pub(crate) fn of_all(&self, numbers: impl Iterator<Item = u32>) -> impl Iterator<Item = u64> {
        let mut known: HashMap<u32, u64> = HashMap::default();
        numbers.map(move |number| {
            let unknown = self.boxes.path(number);
            let mut unknown: Vec<u32> = unknown.take_while(|at| !known.contains_key(at)).collect();
            let outermost = unknown.last().unwrap_or(&number);
            let outer = self.boxes.get(*outermost).and_then(|one| one.parent);
            let mut above = outer
                .and_then(|outer| known.get(&outer).copied())
                .unwrap_or(0);
            while let Some(at) = unknown.pop() {
                above = self.below(above, at);
                known.insert(at, above);
            }
            known.get(&number).copied().unwrap_or(0)
        })
    }

    /// The box with these names, or the one nearest to it that it would stand on.
    pub(crate) fn find(&self, path: &[u64]) -> Option<u32> {
        let mut found = None;
        let mut above = 0;
        for &name in path {
            let mut on = self.boxes.children(found).iter();
            let Some(&next) = on.find(|&&one| self.below(above, one) == name) else {
                break;
            };
            (found, above) = (Some(next), name);
        }
        found
    }
}
