//! Which functions of a run called others of nearly their names.

use super::{Namesake, RunRow};
use crate::difference::family_name;
use crate::tree::{ChildLists, FirstStep};
use crate::{FrameId, Frames, Level, SampleCount, StrId, Strings, Tree};
use foldhash::HashMap;
use foldhash::fast::RandomState;
use rprof_base::Interner;

/// Functions of nearly one name, by number of the frame. What two builds may have as one is in one family.
#[derive(Debug)]
struct Families {
    /// `None` of those that are alone.
    of: Vec<Option<u32>>,
    n: usize,
    /// Of functions without names: the number of their kind.
    kind_of: Vec<Option<u32>>,
    kinds: Vec<Nameless>,
}

/// The first two functions of a kind without names: they stand for all.
#[derive(Clone, Copy, Debug)]
struct Nameless {
    first: FrameId,
    second: FrameId,
    /// How many of the kind are on the way to the node at hand.
    n_open: u32,
    /// The namesake that the second of them is.
    place: u32,
}

/// The nameless functions of an image, those that FDEs know and others: rows have all of a kind, or one function.
type Kind = (StrId, Level, bool);

impl Families {
    fn of(frames: &Frames, strings: &Strings) -> Self {
        let mut names: HashMap<Option<String>, (u32, u32)> = HashMap::default();
        let mut kinds: Interner<u32, Nameless, RandomState, Kind> = Interner::default();
        let (mut of, mut kind_of) = (Vec::new(), Vec::new());
        for id in frames.ids() {
            let frame = frames.of(id);
            let name = frame.name;
            let name = name.map(|name| family_name(strings.of(name).into_raw()));
            let next = u32::try_from(names.len()).unwrap_or(u32::MAX);
            let family = names.entry(name).or_insert((next, 0));
            family.1 += 1;
            of.push(family.0);
            let kind = frame.name.is_none().then(|| {
                let kind = (frame.image, frame.level, frame.is_fde);
                let number = kinds.intern_with(kind, |_| Nameless::alone(id));
                if let Some(kind) = kinds.get_mut(number) {
                    kind.add(id);
                }
                number
            });
            kind_of.push(kind);
        }
        let mut sizes = vec![0; names.len()];
        for (family, size) in names.into_values() {
            sizes[family as usize] = size;
        }
        let several = |&family: &u32| sizes[family as usize] > 1;
        Self {
            n: sizes.len(),
            of: of
                .into_iter()
                .map(|one| Some(one).filter(several))
                .collect(),
            kind_of,
            kinds: kinds.into_values(),
        }
    }
}

impl Nameless {
    fn alone(function: FrameId) -> Self {
        Self {
            first: function,
            second: function,
            n_open: 0,
            place: 0,
        }
    }

    fn add(&mut self, function: FrameId) {
        if self.first == self.second {
            self.second = function;
        }
    }
}

/// The namesakes of a tree, and where their samples are.
#[derive(Debug, Default)]
pub(super) struct FoundNamesakes {
    all: Interner<u32, Namesake, RandomState, (u32, Option<u32>, FrameId)>,
    /// Each with a node whose samples it has from its callers, too.
    nodes: Vec<(u32, usize)>,
}

impl FoundNamesakes {
    /// Those of a tree, and calls `visit` for each node and its row, as [`Tree::for_each_first`] does.
    pub(super) fn of(
        (tree, children): (&Tree, &ChildLists),
        (row_of_node, rows): (&[u32], &[RunRow]),
        (frames, strings): (&Frames, &Strings),
        mut visit: impl FnMut(usize, usize),
    ) -> Self {
        let mut families = Families::of(frames, strings);
        let mut found = Self::default();
        // By family: the namesakes on the way here, each called by the one before.
        let mut open: Vec<Vec<u32>> = vec![Vec::new(); families.n];
        tree.walk_firsts(children, (row_of_node, rows.len()), |step| {
            let (FirstStep::In { row, .. } | FirstStep::Out { row }) = step;
            let RunRow { group, frame, .. } = rows[row];
            let number = frame.number() as usize;
            if let FirstStep::In { row, node } = step {
                visit(row, node);
            }
            let Some(family) = families.of[number] else {
                return;
            };
            let open = &mut open[family as usize];
            let kind = families.kind_of[number].map(|kind| &mut families.kinds[kind as usize]);
            match step {
                FirstStep::Out { .. } => {
                    open.pop();
                    kind.into_iter().for_each(|kind| kind.n_open -= 1);
                }
                FirstStep::In { node, .. } => {
                    let caller = open.last().copied();
                    let place = found.place((group, frame), kind, caller);
                    open.push(place);
                    if found.all.values()[place as usize].caller.is_some() {
                        found.nodes.push((place, node));
                    }
                }
            }
        });
        found
    }

    /// The number of a function below others.
    fn place(
        &mut self,
        (group, mut frame): (u32, FrameId),
        kind: Option<&mut Nameless>,
        caller: Option<u32>,
    ) -> u32 {
        let mut is_second = None;
        if let Some(kind) = kind {
            kind.n_open += 1;
            match kind.n_open {
                1 => frame = kind.first,
                2 => {
                    frame = kind.second;
                    is_second = Some(kind);
                }
                // It counts where the second does: both were called by the first.
                _ => return kind.place,
            }
        }
        let place = self.all.intern_with((group, caller, frame), |_| Namesake {
            group,
            frame,
            caller,
            again: Vec::new(),
        });
        if let Some(kind) = is_second {
            kind.place = place;
        }
        place
    }

    /// Adds what a block counted, with callees, by node.
    pub(super) fn add(&mut self, (block, n_blocks): (usize, usize), counts: &[SampleCount]) {
        for &(number, node) in &self.nodes {
            if counts[node].samples == 0 {
                continue;
            }
            if let Some(namesake) = self.all.get_mut(number) {
                namesake.again.resize(n_blocks, SampleCount::default());
                namesake.again[block].add(counts[node]);
            }
        }
    }

    pub(super) fn into_all(self) -> Vec<Namesake> {
        self.all.into_values()
    }
}
