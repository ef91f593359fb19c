//! Rows by number.

use crate::tree::NodeLists;
use crate::view::SortKey;
use crate::view::row::{Row, RowKey};
use crate::{EventProfile, FrameId, Node, Profile};
use foldhash::fast::RandomState;
use rprof_base::Interner;

/// Gives each distinct row a number, in the order of their first nodes, and each node that of its row.
///
/// Nodes are looked at by group: then the rows of a group are an array by code, and nothing is hashed for a node.
pub(super) fn number_rows(
    profile: &Profile,
    event: &EventProfile,
    keys: &[SortKey],
) -> (Vec<Row>, Vec<u32>) {
    let nodes = event.tree.nodes();
    let (groups, group_keys) = group_keys(profile, event, keys);
    // A group that is not listed is the last one.
    let group_of = |node: &Node| match groups.get(node.group as usize) {
        Some(&group) => group as usize,
        None => group_keys.len(),
    };
    let by_group = NodeLists::of(group_keys.len() + 1, nodes.iter().map(group_of));
    let mut codes = Codes::of(keys, profile);
    // By code, the group that had it last, and its first node there.
    let mut firsts: Vec<(usize, u32)> = Vec::new();
    let mut row_of_node = vec![0; nodes.len()];
    let mut n_rows = 0;
    for group in 0..=group_keys.len() {
        for &node in by_group.of_list(group) {
            let code = codes.number(nodes[node as usize].frame) as usize;
            if firsts.len() <= code {
                firsts.resize(code + 1, (usize::MAX, 0));
            }
            let (of, first) = &mut firsts[code];
            if *of != group {
                (*of, *first) = (group, node);
                n_rows += 1;
            }
            row_of_node[node as usize] = *first;
        }
    }
    let mut rows: Vec<Row> = Vec::with_capacity(n_rows);
    for (number, node) in nodes.iter().enumerate() {
        let first = row_of_node[number] as usize;
        row_of_node[number] = if first == number {
            let mut key = group_keys.get(group_of(node)).copied().unwrap_or_default();
            keys.iter()
                .for_each(|part| part.fill_frame(&mut key, node.frame, profile));
            rows.push(Row::of(key, rows.len()));
            u32::try_from(rows.len() - 1).unwrap_or(u32::MAX)
        } else {
            row_of_node[first]
        };
    }
    (rows, row_of_node)
}

/// The parts of keys that groups say: by group which of them it has, and each once.
fn group_keys(
    profile: &Profile,
    event: &EventProfile,
    keys: &[SortKey],
) -> (Vec<u32>, Vec<RowKey>) {
    let mut group_keys: Interner<u32, RowKey, RandomState> = Interner::default();
    let alike = profile.values.alike_in(&SortKey::dimensions(keys));
    let has_comm = keys.contains(&SortKey::Comm);
    let groups = event.groups.iter().map(|group| {
        group_keys.intern(RowKey {
            comm: has_comm.then_some(group.comm),
            values: alike.first(group.values),
            ..RowKey::default()
        })
    });
    (groups.collect(), group_keys.into_values())
}

/// Gives each code that keys tell apart a number.
struct Codes<'p> {
    keys: &'p [SortKey],
    profile: &'p Profile,
    has_symbol: bool,
    has_image: bool,
    has_position: bool,
    has_places: bool,
    /// Where places in the source are told apart.
    places: Interner<u32, RowKey, RandomState>,
}

impl<'p> Codes<'p> {
    fn of(keys: &'p [SortKey], profile: &'p Profile) -> Self {
        let is_position = |key: &SortKey| matches!(key, SortKey::Srcline | SortKey::Srcfile);
        Self {
            keys,
            profile,
            has_symbol: keys.contains(&SortKey::Symbol),
            has_image: keys.contains(&SortKey::Dso),
            has_places: profile.frames.has_places(),
            has_position: keys.iter().any(is_position),
            places: Interner::default(),
        }
    }

    fn number(&mut self, frame: FrameId) -> u32 {
        if self.has_position {
            let mut key = RowKey::default();
            let parts = self.keys.iter();
            parts.for_each(|part| part.fill_frame(&mut key, frame, self.profile));
            return self.places.intern(key);
        }
        match (self.has_symbol, self.has_image) {
            // A function is in one image.
            (true, _) if self.has_places => self.profile.frames.function_of(frame).number(),
            (true, _) => frame.number(),
            (false, true) => self.profile.frames.of(frame).image.number(),
            (false, false) => 0,
        }
    }
}
