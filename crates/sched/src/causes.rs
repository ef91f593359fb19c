//! `rprof sched --by cause`: threads, with what they waited for. The account is that of `report --wall -s tid,cause`.

use crate::runs::{SchedOptions, SchedQuality};
use crate::table::SchedSort;
use crate::{Error, task_text};
use foldhash::HashMap;
use rprof_analysis::{GroupBy, Options, load};
use rprof_base::{Counted, Millis};
use rprof_perfdata::Reader;
use rprof_profile::text::{Fit, at_right, comment_lines, width};
use rprof_profile::{Account, Dimension, DimensionValue, Filter, Group, Loss, Profile};
use rprof_scheduling::Cause;
use std::cmp::Reverse;
use std::io::{self, Write};
use std::ops::Add;

/// A thread: ids that are used again are one.
struct ThreadCauses {
    pid: i32,
    tid: i32,
    /// What it is called, printable.
    task: String,
    /// By number of the cause, nanoseconds.
    ns: [u64; Cause::ALL.len()],
}

/// A cause that any thread waits for.
#[derive(Clone, Copy)]
struct Column {
    cause: Cause,
    width: usize,
}

/// Columns of a number, and blanks between two.
const WIDTH: usize = 11;
const GAP: usize = 1;

/// Blanks before the first column, and before the task.
const MARGIN: usize = 1;
const TASK_GAP: usize = 2;

/// Writes the table of threads: time on CPUs, and waits by cause, milliseconds. Causes that no thread waits for have no
/// column. Where lines must fit into a screen, causes without room are named above.
///
/// # Errors
/// [`Error`] if the recording cannot be read, or has no switches; or of `out`.
pub fn write_causes(
    reader: &Reader,
    options: &SchedOptions,
    sort: SchedSort,
    fit: Option<Fit>,
    out: &mut dyn Write,
) -> Result<SchedQuality, Error> {
    let options = Options {
        filter: Filter {
            account: Account::Wall,
            ..options.filter.clone()
        },
        stacks: false,
        group_by: GroupBy {
            names: false,
            ..GroupBy::of(&[Dimension::Pid, Dimension::Tid, Dimension::Cause])
        },
        ..Options::default()
    };
    let profile = load(reader, &options, &mut |_| {})?;
    let mut threads = threads_of(&profile);
    threads.sort_by_key(|thread| (Reverse(thread.key(sort)), thread.pid, thread.tid));
    write_threads(&threads, fit, out)?;
    let losses = profile.events.iter().map(|event| event.loss);
    let lost = losses.fold(Loss::default(), Add::add);
    let lost = (lost.samples > 0).then(|| {
        let (bound, n) = (lost.bound(), lost.samples);
        format!("the kernel lost {bound}{n} events (record with a larger -m)")
    });
    Ok(SchedQuality {
        warnings: profile.warnings.into_iter().chain(lost).collect(),
        ..SchedQuality::default()
    })
}

fn threads_of(profile: &Profile) -> Vec<ThreadCauses> {
    let mut threads: HashMap<(i32, i32), ThreadCauses> = HashMap::default();
    let task_of = |group: &Group, dimension| match profile.values.of(group.values).get(dimension) {
        Some(DimensionValue::Task(id, name)) => Some((id, name)),
        _ => None,
    };
    for event in &profile.events {
        for node in event
            .tree
            .nodes()
            .iter()
            .filter(|node| node.self_weight > 0)
        {
            let Some(group) = event.groups.get(node.group as usize) else {
                continue;
            };
            let Some((tid, name)) = task_of(group, Dimension::Tid) else {
                continue;
            };
            let pid = task_of(group, Dimension::Pid).map_or(tid, |(pid, _)| pid);
            let cause = match profile.values.of(group.values).get(Dimension::Cause) {
                Some(DimensionValue::Text(id)) => Cause::named(profile.strings.of(id).raw()),
                _ => None,
            };
            let thread = threads.entry((pid, tid)).or_insert_with(|| ThreadCauses {
                pid,
                tid,
                task: task_text(&profile.strings.of(name), pid, tid),
                ns: [0; Cause::ALL.len()],
            });
            let ns = &mut thread.ns[cause.unwrap_or_default() as usize];
            *ns = ns.saturating_add(node.self_weight);
        }
    }
    threads.into_values().collect()
}

impl ThreadCauses {
    fn of(&self, cause: Cause) -> u64 {
        self.ns[cause as usize]
    }

    fn key(&self, sort: SchedSort) -> u64 {
        let all = self
            .ns
            .iter()
            .fold(0, |sum: u64, &ns| sum.saturating_add(ns));
        let (run, runnable) = (self.of(Cause::Running), self.of(Cause::Runnable));
        match sort {
            SchedSort::Runnable => runnable,
            SchedSort::Blocked => all.saturating_sub(run).saturating_sub(runnable),
            SchedSort::Run | SchedSort::Max | SchedSort::Switches => run,
        }
    }
}

impl Column {
    fn heading(self) -> &'static str {
        match self.cause {
            Cause::Running => "Run",
            Cause::Runnable => "Runnable",
            cause => cause.name(),
        }
    }
}

/// Time on CPUs, waits for them, and then the causes that threads wait for longest; what is not known comes last.
fn columns_of(threads: &[ThreadCauses]) -> Vec<Column> {
    let place = |cause: Cause| {
        let all = threads.iter().map(|thread| thread.of(cause));
        let rank = match cause {
            Cause::Running => 0,
            Cause::Runnable => 1,
            Cause::Unknown => 3,
            _ => 2,
        };
        (rank, Reverse(all.fold(0, u64::saturating_add)))
    };
    let mut causes: Vec<_> = Cause::ALL.map(|cause| (place(cause), cause)).into();
    causes.retain(|&((rank, Reverse(ns)), _)| rank < 2 || ns > 0);
    causes.sort();
    let column = |(_, cause): ((u8, Reverse<u64>), Cause)| Column {
        cause,
        width: WIDTH.max(cause.name().len()),
    };
    causes.into_iter().map(column).collect()
}

fn write_threads(
    threads: &[ThreadCauses],
    fit: Option<Fit>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let all = columns_of(threads);
    let n_shown = fit.map_or(all.len(), |fit| n_fitting(&all, threads, fit));
    let (shown, hidden) = all.split_at(n_shown);
    let mut notes = vec![format!(
        "{}; time running and waiting, by cause of the wait, in ms",
        Counted::new(threads.len() as u64, "thread", "threads")
    )];
    let hidden: Vec<&str> = hidden.iter().map(|column| column.heading()).collect();
    if !hidden.is_empty() {
        let hidden = hidden.join(", ");
        notes.push(format!("No room for: {hidden} (--full-names shows all)"));
    }
    for note in notes.iter().flat_map(|note| comment_lines(note, fit)) {
        writeln!(out, "{note}")?;
    }
    let line = |cells: &dyn Fn(&Column) -> String| {
        let cells = shown.iter().map(|column| {
            let cell = at_right(&cells(column), column.width);
            " ".repeat(GAP) + &cell
        });
        cells.collect::<String>()
    };
    let headings = line(&|column| column.heading().to_owned());
    writeln!(out, "#\n#{headings}{}Task", " ".repeat(TASK_GAP))?;
    threads.iter().try_for_each(|thread| {
        let numbers = line(&|column| Millis(thread.of(column.cause)).to_string());
        let column = MARGIN + width(&numbers) + TASK_GAP;
        let task = fit.map_or_else(
            || thread.task.clone(),
            |fit| fit.name(&thread.task, column).into_owned(),
        );
        writeln!(out, " {numbers}{}{task}", " ".repeat(TASK_GAP))
    })
}

/// How many of the first columns have room beside tasks, at least one.
fn n_fitting(columns: &[Column], threads: &[ThreadCauses], fit: Fit) -> usize {
    let widest = threads.iter().map(|thread| width(&thread.task)).max();
    let task = fit.for_names().min(widest.unwrap_or(0).max("Task".len()));
    let mut taken = MARGIN + TASK_GAP + task;
    let fitting = columns.iter().take_while(|column| {
        taken += GAP + column.width;
        taken <= fit.columns
    });
    fitting.count().max(1).min(columns.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(tid: i32, causes: &[(Cause, u64)]) -> ThreadCauses {
        let mut thread = ThreadCauses {
            pid: 7,
            tid,
            task: task_text(&"worker", 7, tid),
            ns: [0; Cause::ALL.len()],
        };
        for &(cause, ns) in causes {
            thread.ns[cause as usize] = ns;
        }
        thread
    }

    fn text(threads: &[ThreadCauses], columns: Option<usize>) -> String {
        let mut out = Vec::new();
        let fit = columns.map(|columns| Fit {
            columns,
            ellipsis: "..",
        });
        write_threads(threads, fit, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn causes_that_take_longest_come_first() {
        let threads = [
            thread(7, &[(Cause::Running, 5_000_000), (Cause::Sleep, 1_000_000)]),
            thread(8, &[(Cause::Futex, 2_500_000), (Cause::Unknown, 9_000_000)]),
        ];
        let wide = text(&threads, None);
        let lines: Vec<&str> = wide.lines().collect();
        assert_eq!(
            lines,
            [
                "# 2 threads; time running and waiting, by cause of the wait, in ms",
                "#",
                "#         Run    Runnable       futex       sleep     unknown  Task",
                "        5.000       0.000       0.000       1.000       0.000  worker[7]",
                "        0.000       0.000       2.500       0.000       9.000  worker[8/7]",
            ]
        );
        let narrow = text(&threads, Some(50));
        assert!(narrow.contains("No room for: sleep, unknown"), "{narrow}");
        assert!(narrow.lines().all(|line| line.len() <= 50), "{narrow}");
    }

    #[test]
    fn threads_are_in_the_order_that_is_asked_for() {
        let one = thread(
            7,
            &[(Cause::Running, 5), (Cause::Pipe, 7), (Cause::Poll, 8)],
        );
        let other = thread(8, &[(Cause::Running, 4), (Cause::Runnable, 90)]);
        for (sort, keys) in [
            (SchedSort::Run, [5, 4]),
            (SchedSort::Runnable, [0, 90]),
            (SchedSort::Blocked, [15, 0]),
        ] {
            assert_eq!([one.key(sort), other.key(sort)], keys);
        }
    }
}
