//! When the selected thread, or all of them together, are busiest and idlest.

use super::{LanesView, times_of};
use crate::keys::Load;
use crate::views::context::Context;
use rprof_query::{ThreadLane, ThreadLanes};
use std::cmp::Reverse;

/// A time that was selected by how busy threads are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FoundTime {
    load: Load,
    /// 0 is the busiest, or the idlest.
    rank: usize,
    slot: usize,
    /// The selected line.
    line: usize,
}

impl LanesView {
    /// Selects what was asked for, once the lanes are made; if that is selected, the next.
    pub(super) fn find_wanted(&mut self, cx: &Context) {
        let (Some(load), Some(lanes)) = (self.wanted, cx.made_lanes()) else {
            return;
        };
        self.wanted = None;
        let Some(lanes) = lanes else {
            return;
        };
        let slots = ranked(&self.loads(lanes), lanes, load);
        let known = self.found_here().filter(|found| found.load == load);
        let rank = known.map_or(0, |found| found.rank + 1);
        let rank = if rank < slots.len() { rank } else { 0 };
        if let Some(&slot) = slots.get(rank) {
            (self.slot, self.mark) = (slot, None);
            self.found = Some(FoundTime {
                load,
                rank,
                slot,
                line: self.cursor.at,
            });
        }
    }

    /// What was found, if it is still selected.
    fn found_here(&self) -> Option<FoundTime> {
        let is_here = |found: &FoundTime| {
            (found.slot, found.line, None) == (self.slot, self.cursor.at, self.mark)
        };
        self.found.filter(is_here)
    }

    /// What is said of the selected time, with a blank at its end.
    pub(super) fn found_text(&self) -> String {
        let Some(FoundTime { load, rank, .. }) = self.found_here() else {
            return String::new();
        };
        let word = match load {
            Load::Busiest => "busiest",
            Load::Idlest => "idlest",
        };
        match rank {
            0 => format!("{word} "),
            rank => format!("{word} #{} ", rank + 1),
        }
    }

    /// How busy the selected thread is, or all of them, by slot of time: waits are not, unless there is nothing else.
    fn loads(&self, lanes: &ThreadLanes) -> Vec<u64> {
        let chosen = self.selected_lane(lanes).map(std::slice::from_ref);
        let chosen: &[ThreadLane] = chosen.unwrap_or(&lanes.lanes);
        let sums = |of: &dyn Fn(&ThreadLane, usize) -> u64| -> Vec<u64> {
            let slots = 0..lanes.running.len();
            let sum = |slot| {
                let loads = chosen.iter().map(|lane| of(lane, slot));
                loads.fold(0, u64::saturating_add)
            };
            slots.map(sum).collect()
        };
        let running = sums(&ThreadLane::running_at);
        if running.iter().any(|&load| load > 0) {
            running
        } else {
            sums(&|lane, slot| lane.slots.get(slot).copied().unwrap_or(0))
        }
    }
}

/// Slots in the order of how busy they are, equal ones in the order of time. What is cut by the end of the time is none:
/// it would be idle for that alone.
fn ranked(loads: &[u64], lanes: &ThreadLanes, load: Load) -> Vec<usize> {
    let is_whole = |slot: &usize| {
        let times = times_of(lanes, &(*slot..=*slot));
        let length = times.end().checked_sub(*times.start());
        length.is_some_and(|length| length >= lanes.slot_ns / 2)
    };
    let mut slots: Vec<usize> = (0..loads.len()).filter(is_whole).collect();
    match load {
        Load::Busiest => slots.sort_by_key(|&slot| Reverse(loads[slot])),
        Load::Idlest => slots.sort_by_key(|&slot| loads[slot]),
    }
    slots
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_end_cuts_is_not_idle_for_that() {
        let lanes = ThreadLanes {
            times_ns: 1000..=1034,
            slot_ns: 10,
            lanes: Vec::new(),
            running: Vec::new(),
        };
        let ranked = |loads: &[u64], load| ranked(loads, &lanes, load);
        // The fourth has five of ten nanoseconds, the fifth none.
        assert_eq!(ranked(&[3, 9, 3, 2, 0], Load::Busiest), [1, 0, 2]);
        assert_eq!(ranked(&[3, 9, 3, 2, 0], Load::Idlest), [0, 2, 1]);
        assert!(ranked(&[], Load::Idlest).is_empty());
    }
}
