//! Which node of an arena is equal to a given one: a table of indices, open addressing.

use super::node::{NIL, Node};

/// Where a node is, with its hash: what has another one need not be looked at.
#[derive(Clone, Copy, Debug)]
struct Slot {
    hash: u32,
    at: u32,
}

const EMPTY: Slot = Slot { hash: 0, at: NIL };

/// Indices of all nodes of an arena, found by contents.
#[derive(Debug)]
pub(super) struct Unique {
    slots: Vec<Slot>,
    n_nodes: usize,
    /// One for each word of a node. A file made to fill one place of the table would need them.
    seeds: [u64; 5],
}

impl Unique {
    /// Of an empty arena, with room for some nodes.
    pub(super) fn new(seed: u64, room: usize) -> Self {
        Self {
            slots: vec![EMPTY; (room.max(32) * 2).next_power_of_two()],
            n_nodes: 0,
            seeds: [1, 2, 3, 4, 5].map(|n| mix(seed.wrapping_add(n))),
        }
    }

    /// The index of the arena's node that is equal to this one, which is added if there is none.
    pub(super) fn intern(&mut self, nodes: &mut Vec<Node>, node: Node) -> u32 {
        let hash = self.hash(&node);
        let is_it = |slot: Slot| slot.hash == hash && nodes[slot.at as usize] == node;
        let idx = self.find(hash, is_it);
        let found = self.slots[idx].at;
        if found != NIL {
            return found;
        }
        let at = u32::try_from(nodes.len()).expect("4 billion nodes do not fit into memory");
        nodes.push(node);
        self.slots[idx] = Slot { hash, at };
        self.n_nodes += 1;
        // Three quarters full.
        if self.n_nodes > self.slots.len() / 4 * 3 {
            self.grow();
        }
        at
    }

    /// The first slot on a hash's way that is the one sought, or empty.
    fn find(&self, hash: u32, is_it: impl Fn(Slot) -> bool) -> usize {
        let mask = self.slots.len() - 1;
        let mut idx = hash as usize & mask;
        loop {
            let slot = self.slots[idx];
            if slot.at == NIL || is_it(slot) {
                return idx;
            }
            idx = (idx + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let n_slots = self.slots.len() * 2;
        let old = std::mem::replace(&mut self.slots, vec![EMPTY; n_slots]);
        for slot in old.into_iter().filter(|slot| slot.at != NIL) {
            let idx = self.find(slot.hash, |_| false);
            self.slots[idx] = slot;
        }
    }

    fn hash(&self, node: &Node) -> u32 {
        let range = node.range;
        let words = [
            range.start,
            range.end,
            range.pgoff,
            u64::from(range.image.0) << 1 | u64::from(range.is_code),
            u64::from(node.left) << 32 | u64::from(node.right),
        ];
        let mixed = words.into_iter().zip(self.seeds);
        let sum = mixed.fold(0u64, |sum, (word, seed)| sum.wrapping_add(mix(word ^ seed)));
        u32::try_from(sum >> 32).unwrap_or(0)
    }
}

/// Mixes all bits (splitmix64's finalizer), so that the tree is balanced however mappings come.
/// Different numbers stay different.
pub(super) fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}
