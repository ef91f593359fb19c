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

/// Writes a line for each task, below the one that made it.
///
/// # Errors
/// The writer's.
pub fn write_tasks(tasks: &Tasks, detail: TaskDetail, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "# {:>8} {:>8} {:>8}  comm", "pid", "tid", "ppid")?;
    for (level, task) in tasks.tree() {
        let (pid, tid, parent) = (task.pid, task.tid, task.parent.unwrap_or(-1));
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
