//! The tasks of a recording as a tree, as perf writes them.
//!
//! Source: `tasks_print` in tools/perf/builtin-report.c (v6.1).

use rprof_profile::{TaskMapping, Tasks};
use rprof_untrusted::printable;
use std::io::{self, Write};

/// What is written of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskDetail {
    /// Their ids and names.
    Names,
    /// What they had mapped at last, too.
    Mappings,
}

/// Columns that a task is indented by at most: a recording may say that each of many thousands made the next.
const MOST_INDENT: usize = 200;

/// Writes a line for each task, below the one that made it; those deeper than 200 stand below each other.
///
/// # Errors
/// The writer's.
pub fn write_tasks(tasks: &Tasks, detail: TaskDetail, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "# {:>8} {:>8} {:>8}  comm", "pid", "tid", "ppid")?;
    for (level, task) in tasks.tree() {
        let (pid, tid, parent) = (task.pid, task.tid, task.parent.unwrap_or(-1));
        let level = level.min(MOST_INDENT);
        let head = format!("  {pid:>8} {tid:>8} {parent:>8} |{:level$}", "");
        match &task.comm {
            Some(comm) => writeln!(out, "{head}{comm}")?,
            None => writeln!(out, "{head}:{tid}")?,
        }
        if detail == TaskDetail::Mappings {
            let indent = head.len() + 2;
            let mut mappings = task.mappings.iter();
            mappings.try_for_each(|mapping| write_mapping(mapping, indent, out))?;
        }
    }
    Ok(())
}

fn write_mapping(mapping: &TaskMapping, indent: usize, out: &mut impl Write) -> io::Result<()> {
    let letter = |bit, letter| match mapping.protection & bit {
        0 => '-',
        _ => letter,
    };
    let (read, write, execute) = (letter(1, 'r'), letter(2, 'w'), letter(4, 'x'));
    let shared = if mapping.is_shared { 's' } else { 'p' };
    writeln!(
        out,
        "{:indent$}{:x}-{:x} {read}{write}{execute}{shared} {:08x} {} {}",
        "",
        mapping.start.0,
        mapping.end.0,
        mapping.file_offset.0,
        mapping.inode,
        printable(mapping.name.raw())
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_profile::RecordedTask;
    use std::sync::Arc;

    /// Each made by the one before.
    fn chain(n: i32) -> Tasks {
        let task = |tid: i32| RecordedTask {
            pid: tid,
            tid,
            parent: (tid > 1).then_some(tid - 1),
            comm: None,
            mappings: Arc::default(),
        };
        Tasks((1..=n).map(|tid| (tid, task(tid))).collect())
    }

    #[test]
    fn a_chain_of_forks_of_any_length_has_lines_of_bounded_length() {
        let mut out = Vec::new();
        write_tasks(&chain(70_000), TaskDetail::Mappings, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.lines().count(), 70_001);
        assert!(text.lines().all(|line| line.len() < 300));
        let indent = |line: &str| line.matches(' ').count();
        let lines: Vec<&str> = text.lines().collect();
        assert!(indent(lines[150]) > indent(lines[149]));
        assert!(lines[70_000].ends_with(":70000"), "{}", lines[70_000]);
    }
}
