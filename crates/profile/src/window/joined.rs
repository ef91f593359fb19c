//! Samples of several recordings in one profile: what is called the same is one.

use crate::joined::{MovedFrames, event_number, moved};
use crate::{Group, SampleRow, SampledProfile, StrId, Thread, ValuesId};
use foldhash::HashMap;

/// A profile that samples of others are added to.
#[derive(Clone, Debug, Default)]
pub(super) struct Joined {
    pub(super) sampled: SampledProfile,
    /// Numbers of threads, by process, thread and name.
    threads: HashMap<(i32, i32, StrId), u32>,
    groups: HashMap<StrId, u32>,
}

impl Joined {
    /// Adds all samples of another profile, with what they name. Nodes without samples stay behind.
    pub(super) fn add(&mut self, part: &SampledProfile) {
        if self.sampled.samples.is_empty() {
            self.sampled.has_times = part.has_times;
        }
        self.sampled.has_times &= part.has_times;
        let events: Vec<u16> = (0..part.profile.events.len())
            .map(|nth| self.event(part, nth))
            .collect();
        let nodes = self.nodes(part);
        let mut threads = vec![None; part.threads.len()];
        let rows = part.samples.iter().map(|row| {
            let thread = row.thread as usize;
            let own =
                *threads[thread].get_or_insert_with(|| self.thread(part, part.threads[thread]));
            SampleRow {
                event: events[usize::from(row.event)],
                thread: own,
                stack: row.stack.and_then(|node| nodes[node as usize]),
                ..row
            }
        });
        let rows: Vec<SampleRow> = rows.collect();
        self.insert(rows);
        self.sampled.losses.extend_from_slice(&part.losses);
        self.sampled.losses.sort_by_key(|loss| loss.time_ns);
    }

    /// Rows, which are in order, among those that there are.
    fn insert(&mut self, rows: Vec<SampleRow>) {
        for row in &rows {
            let event = &mut self.sampled.profile.events[usize::from(row.event)];
            event.samples += 1;
            event.weight = event.weight.saturating_add(row.weight);
        }
        let table = &mut self.sampled.samples;
        let Some(first) = rows.first() else {
            return;
        };
        // CPUs are not at the same moment when a part ends.
        let later = table
            .within(&(first.time_ns.saturating_add(1)..=u64::MAX))
            .start;
        let mut tail: Vec<SampleRow> = table.rows(later..table.len()).collect();
        table.truncate(later);
        tail.extend(rows);
        tail.sort_by_key(|row| row.time_ns);
        tail.into_iter().for_each(|row| table.push(row));
    }

    /// Names, stacks and threads that there are, used or not.
    pub(super) fn n_entries(&self) -> usize {
        let SampledProfile {
            profile,
            stacks,
            threads,
            groups,
            ..
        } = &self.sampled;
        let n_names = profile.strings.len() + profile.frames.ids().count();
        n_names + stacks.nodes().len() + threads.len() + groups.len()
    }

    /// Drops the first samples; returns how many there were to drop.
    pub(super) fn drop_first(&mut self, n_samples: usize) -> usize {
        let n_samples = n_samples.min(self.sampled.samples.len());
        for row in self.sampled.samples.rows(0..n_samples) {
            let event = &mut self.sampled.profile.events[usize::from(row.event)];
            event.samples -= 1;
            event.weight = event.weight.saturating_sub(row.weight);
        }
        self.sampled.samples.drop_first(n_samples);
        n_samples
    }

    fn event(&mut self, part: &SampledProfile, nth: usize) -> u16 {
        let number = event_number(&mut self.sampled.profile.events, &part.profile, nth);
        u16::try_from(number).unwrap_or(u16::MAX)
    }

    fn thread(&mut self, part: &SampledProfile, thread: Thread) -> u32 {
        let comm = moved(
            &mut self.sampled.profile.strings,
            &part.profile,
            thread.comm,
        );
        let threads = &mut self.sampled.threads;
        let key = (thread.pid, thread.tid, comm);
        let number = *self.threads.entry(key).or_insert_with(|| {
            threads.push(Thread { comm, ..thread });
            u32::try_from(threads.len() - 1).unwrap_or(u32::MAX)
        });
        let own = &mut threads[number as usize];
        own.start_ns = own.start_ns.min(thread.start_ns);
        own.end_ns = own.end_ns.max(thread.end_ns);
        number
    }

    fn group(&mut self, part: &SampledProfile, group: u32) -> u32 {
        let comm = part.groups[group as usize].comm;
        let comm = moved(&mut self.sampled.profile.strings, &part.profile, comm);
        let groups = &mut self.sampled.groups;
        *self.groups.entry(comm).or_insert_with(|| {
            // Samples one by one are grouped by nothing else.
            let values = ValuesId::NONE;
            groups.push(Group { comm, values });
            u32::try_from(groups.len() - 1).unwrap_or(u32::MAX)
        })
    }

    /// Own nodes by those of a part, as far as samples have them.
    fn nodes(&mut self, part: &SampledProfile) -> Vec<Option<u32>> {
        let theirs = part.stacks.nodes();
        let mut is_used = vec![false; theirs.len()];
        let stacks = part.samples.iter().filter_map(|row| row.stack);
        stacks.for_each(|node| is_used[node as usize] = true);
        for (nth, node) in theirs.iter().enumerate().rev() {
            if let (true, Some(parent)) = (is_used[nth], node.parent) {
                is_used[parent as usize] = true;
            }
        }
        let mut frames = MovedFrames::new(&part.profile);
        let mut nodes: Vec<Option<u32>> = Vec::with_capacity(theirs.len());
        for (node, is_used) in theirs.iter().zip(is_used) {
            let own = is_used.then(|| {
                let group = self.group(part, node.group);
                let profile = &mut self.sampled.profile;
                let frame = frames.frame(node.frame, &mut profile.strings, &mut profile.frames);
                let parent = node.parent.and_then(|parent| nodes[parent as usize]);
                self.sampled.stacks.child(parent, group, frame)
            });
            nodes.push(own);
        }
        nodes
    }
}
