//! Names, inlined functions and lines of Go programs without DWARF.

use crate::Detail;
use crate::batch::Batch;
use crate::chain::{Chain, Outermost};
use crate::symbolized::Line;
use rprof_base::Svma;
use rprof_images::GoTable;

/// Adds the inlined frames at an address, innermost first; returns the function they were
/// inlined into. `start` is where that begins, if a symbol says so.
pub(crate) fn inlined_frames<'a>(
    table: &'a GoTable,
    detail: Detail,
    address: Svma,
    start: Option<u64>,
    batch: &mut Batch<'a>,
) -> Outermost {
    let Some(function) = table.find(address) else {
        return Outermost::default();
    };
    let mut frames = function.frames;
    if detail == Detail::Functions {
        frames = frames.pop().into_iter().collect();
    }
    let mut chain = Chain::new(address, Some(start.unwrap_or(function.start.0)));
    for frame in frames {
        let line = frame.line.map(|(file, line)| Line {
            file: batch.file(&String::from_utf8_lossy(file)),
            line,
        });
        let name = batch.readable(frame.name);
        chain.add(Some(name), line, batch);
    }
    chain.outermost(batch)
}
