//! Samples of several recordings in one profile: what is called the same is one.

use super::{JoinedCode, JoinedFacts, MovedFrames, event_number, moved};
use crate::{
    FieldValue, FrameId, Group, LastNames, Node, SampleRow, SampledProfile, StrId, Thread,
    TimedWait, TraceValue, WallClock,
};
use foldhash::HashMap;

/// How the times of a recording compare with those of the recordings before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartClock {
    /// They are of the same clock, or of the time of day.
    Common,
    /// They are of a clock whose time of day is not known.
    Other,
    /// It has no times: all samples together have none.
    None,
}

/// Samples of several recordings in order of time. They are on one clock: the time of day, if the first recording says
/// what it is; else the first one's.
#[derive(Clone, Debug, Default)]
pub struct JoinedSamples {
    rows: SampleRows,
    /// That of all samples.
    clock: Option<WallClock>,
    facts: JoinedFacts,
}

impl JoinedSamples {
    /// Adds all that another recording has. Without a common clock, its samples follow those of the others.
    pub fn add(&mut self, mut part: SampledProfile) -> PartClock {
        let has_times = part.has_times;
        let wall = part.profile.about.wall_clock;
        let is_first = self.facts.n_parts() == 0;
        if is_first {
            self.clock = wall.map(|wall| WallClock {
                clock_ns: wall.wall_ns,
                ..wall
            });
        }
        let shift = match (self.clock, wall) {
            (Some(_), Some(wall)) => Some(i128::from(wall.wall_ns) - i128::from(wall.clock_ns)),
            _ => None,
        };
        let behind = || {
            let last = self
                .rows
                .sampled
                .samples
                .span_ns()
                .map_or(0, |span| *span.end());
            let first = part.samples.span_ns().map_or(0, |span| *span.start());
            i128::from(last) - i128::from(first)
        };
        let by_ns = match shift {
            Some(shift) => shift,
            None if is_first => 0,
            None => behind(),
        };
        part.shift_times(by_ns);
        self.rows.add(&part);
        let own = &mut self.rows.sampled.profile;
        for (nth, event) in part.profile.events.iter().enumerate() {
            let number = event_number(&mut own.events, &part.profile, nth);
            own.events[number].loss = own.events[number].loss + event.loss;
        }
        self.facts.add(own, &part.profile);
        match is_first || shift.is_some() {
            _ if !has_times => PartClock::None,
            true => PartClock::Common,
            false => PartClock::Other,
        }
    }

    /// All of them.
    pub fn finish(self) -> SampledProfile {
        let mut sampled = self.rows.sampled;
        sampled.profile.about.wall_clock = self.clock;
        if !sampled.code.locations.is_empty() {
            sampled.last_names.clear();
        }
        sampled
    }
}

/// A profile that samples of others are added to.
#[derive(Clone, Debug, Default)]
pub(crate) struct SampleRows {
    pub(crate) sampled: SampledProfile,
    /// Numbers of threads, by process, thread and name.
    threads: HashMap<(i32, i32, StrId), u32>,
    groups: HashMap<(StrId, [Option<StrId>; 3]), u32>,
    code: JoinedCode,
}

/// A row, and what its tracepoint wrote.
type RowWithFields = (SampleRow, Option<Vec<TraceValue>>);

impl SampleRows {
    /// Adds all samples of another profile, with what they name. Nodes without samples stay behind.
    pub(crate) fn add(&mut self, part: &SampledProfile) {
        if self.sampled.samples.is_empty() {
            self.sampled.has_times = part.has_times;
            self.sampled.waits_have_begins = part.waits_have_begins;
        }
        self.sampled.has_times &= part.has_times;
        self.sampled.waits_have_begins &= part.waits_have_begins;
        let events: Vec<u16> = (0..part.profile.events.len())
            .map(|nth| self.event(part, nth))
            .collect();
        let nodes = self.nodes(part);
        let mut threads = vec![None; part.threads.len()];
        let rows = part.samples.iter().zip(0..).map(|(row, nth)| {
            let thread = row.thread as usize;
            let own = *threads[thread].get_or_insert_with(|| self.thread(part, thread));
            let row = SampleRow {
                event: events[usize::from(row.event)],
                thread: own,
                stack: row.stack.and_then(|node| nodes[node as usize]),
                ..row
            };
            let fields = part.fields.get(&nth);
            (row, fields.map(|fields| self.fields(part, fields)))
        });
        let rows: Vec<RowWithFields> = rows.collect();
        self.insert(rows);
        let mut own = |rows: &mut Self, number: u32| {
            let number = number as usize;
            *threads[number].get_or_insert_with(|| rows.thread(part, number))
        };
        for wait in &part.waits {
            let thread = own(self, wait.thread);
            let waker_thread = wait.waker_thread.map(|waker| own(self, waker));
            let strings = &mut self.sampled.profile.strings;
            let mut text = |text| moved(strings, &part.profile, text);
            let moved = TimedWait {
                thread,
                waker_thread,
                state: text(wait.state),
                cause: text(wait.cause),
                waker: wait.waker.map(text),
                ..*wait
            };
            self.sampled.waits.push(moved);
        }
        self.sampled.losses.extend_from_slice(&part.losses);
        self.sampled.losses.sort_by_key(|loss| loss.time_ns);
    }

    /// Rows, which are in order, among those that there are.
    fn insert(&mut self, rows: Vec<RowWithFields>) {
        for (row, _) in &rows {
            let event = &mut self.sampled.profile.events[usize::from(row.event)];
            event.samples += 1;
            event.weight = event.weight.saturating_add(row.weight);
        }
        let table = &mut self.sampled.samples;
        let Some((first, _)) = rows.first() else {
            return;
        };
        // CPUs are not at the same moment when a part ends.
        let later = table
            .within(&(first.time_ns.saturating_add(1)..=u64::MAX))
            .start;
        let number = |nth: usize| u32::try_from(nth).unwrap_or(u32::MAX);
        let mut fields = self.sampled.fields.split_off(&number(later));
        let tail = (later..).zip(table.rows(later..table.len()));
        let tail = tail.map(|(nth, row)| (row, fields.remove(&number(nth))));
        let mut tail: Vec<RowWithFields> = tail.collect();
        table.truncate(later);
        tail.extend(rows);
        tail.sort_by_key(|(row, _)| row.time_ns);
        for (nth, (row, fields)) in (later..).zip(tail) {
            table.push(row);
            if let Some(fields) = fields {
                self.sampled.fields.insert(number(nth), fields);
            }
        }
    }

    /// What a tracepoint of a part wrote.
    fn fields(&mut self, part: &SampledProfile, fields: &[TraceValue]) -> Vec<TraceValue> {
        let strings = &mut self.sampled.profile.strings;
        let mut own = |text| moved(strings, &part.profile, text);
        let fields = fields.iter().map(|field| TraceValue {
            name: own(field.name),
            value: match field.value {
                FieldValue::Text(text) => FieldValue::Text(own(text)),
                number => number,
            },
        });
        fields.collect()
    }

    /// Names, stacks and threads that there are, used or not.
    pub(crate) fn n_entries(&self) -> usize {
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
    pub(crate) fn drop_first(&mut self, n_samples: usize) -> usize {
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

    /// The number of a part's thread; later parts say what it was called last.
    fn thread(&mut self, part: &SampledProfile, number: usize) -> u32 {
        let thread = part.threads[number];
        let comm = moved(
            &mut self.sampled.profile.strings,
            &part.profile,
            thread.comm,
        );
        // Where a part does not say it: what it is called here.
        let last = part.last_names.get(number).map_or([comm; 2], |last| {
            let strings = &mut self.sampled.profile.strings;
            [last.process, last.thread].map(|name| moved(strings, &part.profile, name))
        });
        let [process, thread_name] = last;
        let last = LastNames {
            process,
            thread: thread_name,
        };
        let threads = &mut self.sampled.threads;
        let names = &mut self.sampled.last_names;
        let key = (thread.pid, thread.tid, comm);
        let number = *self.threads.entry(key).or_insert_with(|| {
            threads.push(Thread { comm, ..thread });
            names.push(last);
            u32::try_from(threads.len() - 1).unwrap_or(u32::MAX)
        });
        self.sampled.last_names[number as usize] = last;
        let own = &mut threads[number as usize];
        own.start_ns = own.start_ns.min(thread.start_ns);
        own.end_ns = own.end_ns.max(thread.end_ns);
        number
    }

    fn group(&mut self, part: &SampledProfile, group: u32) -> u32 {
        let group = part.groups[group as usize];
        let SampledProfile {
            profile, groups, ..
        } = &mut self.sampled;
        let comm = moved(&mut profile.strings, &part.profile, group.comm);
        // Samples one by one are grouped by nothing else.
        let words = part.profile.wait_values(&group);
        let words =
            words.map(|word| word.map(|word| moved(&mut profile.strings, &part.profile, word)));
        *self.groups.entry((comm, words)).or_insert_with(|| {
            let values = profile.values_of_wait(words);
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
        let code = self.locations(part);
        let mut frames = MovedFrames::new(&part.profile);
        let mut nodes: Vec<Option<u32>> = Vec::with_capacity(theirs.len());
        for (node, is_used) in theirs.iter().zip(is_used) {
            let own = is_used.then(|| {
                let (group, frame) = match &code {
                    // Stacks of code are of no thread.
                    Some(code) => (node.group, location_of(node, code)),
                    None => {
                        let group = self.group(part, node.group);
                        let own = &mut self.sampled.profile;
                        let frame = frames.frame(node.frame, &mut own.strings, &mut own.frames);
                        (group, frame)
                    }
                };
                let parent = node.parent.and_then(|parent| nodes[parent as usize]);
                self.sampled.stacks.child(parent, group, frame)
            });
            nodes.push(own);
        }
        nodes
    }

    /// Own numbers of a part's code locations, if its stacks are of them.
    fn locations(&mut self, part: &SampledProfile) -> Option<Vec<u32>> {
        let own = &mut self.sampled;
        let theirs = (&part.profile, &part.code);
        (!part.code.locations.is_empty())
            .then(|| (self.code).locations(theirs, (&mut own.profile, &mut own.code)))
    }
}

/// The own number of a node's location.
fn location_of(node: &Node, numbers: &[u32]) -> FrameId {
    let theirs = node.frame.number() as usize;
    FrameId::from_number(numbers.get(theirs).copied().unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    /// Samples with these times by a clock that began at that time of day.
    fn part(times: &[u64], began_ns: Option<u64>) -> SampledProfile {
        let taken: Vec<_> = times
            .iter()
            .map(|&time| (time, "worker", "main", 1))
            .collect();
        let mut part = testing::sampled(&taken);
        part.profile.about.wall_clock = began_ns.map(|wall_ns| WallClock {
            wall_ns,
            clock_ns: 0,
        });
        part
    }

    fn times(joined: JoinedSamples) -> Vec<u64> {
        let sampled = joined.finish();
        sampled.samples.iter().map(|row| row.time_ns).collect()
    }

    #[test]
    fn samples_of_several_machines_are_on_one_clock() {
        let mut joined = JoinedSamples::default();
        assert_eq!(PartClock::Common, joined.add(part(&[5, 9], Some(1000))));
        assert_eq!(PartClock::Common, joined.add(part(&[106, 107], Some(900))));
        assert_eq!(times(joined), [1005, 1006, 1007, 1009]);
    }

    #[test]
    fn a_recording_with_an_unknown_clock_follows_the_others() {
        let mut joined = JoinedSamples::default();
        assert_eq!(PartClock::Common, joined.add(part(&[5, 9], Some(1000))));
        assert_eq!(PartClock::Other, joined.add(part(&[3, 4], None)));
        assert_eq!(times(joined), [1005, 1009, 1009, 1010]);
        let mut joined = JoinedSamples::default();
        assert_eq!(PartClock::Common, joined.add(part(&[5, 9], None)));
        assert_eq!(PartClock::Other, joined.add(part(&[3, 4], Some(1000))));
        assert_eq!(times(joined), [5, 9, 9, 10]);
    }
}
