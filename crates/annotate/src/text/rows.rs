//! The code, row by row.

use super::chain;
use super::folding::folded;
use super::gutter::Gutter;
use super::summary::is_counted;
use super::{By, Page, TakeLine};
use crate::listed::{ListedInstruction, ListedPart};
use crate::listing::ListingRow;
use rprof_base::Counted;
use rprof_disassembly::Flow;
use rprof_profile::code::{CodeLine, CodeLineKind};
use rprof_profile::text::{at_right, padded, width};
use rprof_untrusted::printable;
use std::io;
use std::ops::Range;

/// Most bytes of an instruction that stand beside it; x86 has up to 15, most of them fewer.
const BYTES: usize = 10;

/// What rows of code share.
struct Columns<'l> {
    gutter: Gutter<'l>,
    /// Columns of an address.
    address: usize,
}

impl Page<'_> {
    pub(super) fn code(&self, take: &mut TakeLine<'_>) -> io::Result<()> {
        let listing = self.listing;
        let addresses = listing.instructions.iter();
        let last = addresses.map(|it| it.instruction.address).max();
        let columns = Columns {
            gutter: Gutter::new(&listing.jumps, self.options.drawing),
            address: format!("{:x}", last.unwrap_or(0)).len(),
        };
        let folded = folded(listing, self.options.folding);
        // The instruction that comes next.
        let mut next = 0;
        take(self.columns(CodeLineKind::CodeHeading, "Instructions"))?;
        for &row in &listing.rows {
            if let ListingRow::Part(part) = row {
                let Some(part) = listing.parts.get(part) else {
                    continue;
                };
                next = part.instructions.start;
                take(self.part(part))?;
                continue;
            }
            let range = left_out(&folded, self.place(row, next));
            let ListingRow::Instruction(at) = row else {
                let gutter = columns.gutter.between(next..next);
                let room = self.room(self.shares_width() + width(&gutter));
                let said = self.said(row, room);
                if let Some(said) = said.filter(|_| range.is_none() || self.is_kept(row)) {
                    take(self.between(CodeLineKind::Origin, &said, &gutter))?;
                }
                continue;
            };
            next = at + 1;
            match (range, listing.instructions.get(at)) {
                (None, Some(listed)) => take(self.instruction(listed, at, &columns))?,
                (Some(range), _) if range.end == next => {
                    let n = Counted::new(range.len() as u64, "instruction", "instructions");
                    let said = format!("... {n} without samples");
                    let gutter = columns.gutter.between(range);
                    take(self.between(CodeLineKind::LeftOut, &said, &gutter))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The instruction that a row is at.
    fn place(&self, row: ListingRow, next: usize) -> usize {
        let loops = &self.listing.loops;
        match row {
            ListingRow::LoopStart(number) => loops.get(number).map_or(next, |it| it.span.0),
            ListingRow::LoopEnd(number) => loops.get(number).map_or(next, |it| it.span.1),
            ListingRow::Instruction(at) => at,
            ListingRow::Part(_) | ListingRow::Chain(_) | ListingRow::Line { .. } => next,
        }
    }

    /// Whether a row stays though what is around it is left out: of loops with samples, ends are shown, too.
    fn is_kept(&self, row: ListingRow) -> bool {
        let (ListingRow::LoopStart(number) | ListingRow::LoopEnd(number)) = row else {
            return false;
        };
        let found = self.listing.loops.get(number);
        found.is_some_and(|it| is_counted(&it.counts))
    }

    fn part(&self, part: &ListedPart) -> CodeLine {
        let counts = match self.listing.parts.len() {
            1 => Vec::new(),
            _ => self.listing.sum(part.instructions.clone()),
        };
        let symbol = self.fitted(&printable(&part.symbol), self.shares_width() + 20);
        let text = format!("{:x} <{symbol}>:", part.address);
        CodeLine {
            address: Some(part.address),
            ..self.line(CodeLineKind::Part, &counts, &text)
        }
    }

    fn between(&self, kind: CodeLineKind, said: &str, gutter: &str) -> CodeLine {
        let said = self.fitted(said, self.shares_width() + width(gutter));
        self.line(kind, &[], &format!("{gutter}{}", self.dim(&said)))
    }

    fn instruction(
        &self,
        listed: &ListedInstruction<'_>,
        at: usize,
        columns: &Columns<'_>,
    ) -> CodeLine {
        let address = format!("{:x}", listed.instruction.address);
        let mut line = columns.gutter.beside(at);
        line += &at_right(&address, columns.address);
        line += ":   ";
        let mut taken =
            self.shares_width() + columns.gutter.width() + columns.address.max(address.len()) + 4;
        if self.options.has_bytes {
            let bytes = listed.bytes.iter().map(|byte| format!("{byte:02x} "));
            let bytes = padded(&bytes.collect::<String>(), BYTES * 3 + 1);
            taken += width(&bytes);
            line += &bytes;
        }
        let text = self.fitted(&listed.text, taken);
        line += &match text.split_once("        # ") {
            Some((code, comment)) => format!("{code}{}", self.dim(&format!("        # {comment}"))),
            None => text,
        };
        let target = match listed.instruction.flow {
            Flow::Jump(target) | Flow::Branch(target) | Flow::Call(target) => target,
            Flow::Next | Flow::Return | Flow::Stop => None,
        };
        CodeLine {
            address: Some(listed.instruction.address),
            target,
            callee: listed.callee.map(str::to_owned),
            ..self.line(CodeLineKind::Instruction, &listed.counts, &line)
        }
    }

    /// What a row says that is not an instruction, in the room that there is if need be.
    fn said(&self, row: ListingRow, room: usize) -> Option<String> {
        let listing = self.listing;
        match row {
            ListingRow::Line { .. } | ListingRow::Chain(_)
                if self.options.by != By::Instructions =>
            {
                None
            }
            ListingRow::Line { line, end } => self.line_in_code((line, end), room),
            ListingRow::Chain(chain) => {
                let frames = &listing.places.chains.get(chain)?.0;
                Some(chain::said(frames, &self.names, room))
            }
            ListingRow::LoopStart(number) => {
                let found = listing.loops.get(number)?;
                let outer = found.parent.map(|outer| format!(" in loop {}", outer + 1));
                let outer = outer.unwrap_or_default();
                let n = found.n_instructions;
                let n = Counted::new(n as u64, "instruction", "instructions");
                let shares = self.shares_in_words(&found.counts);
                let head = listing.instructions.get(found.head)?.instruction.address;
                let entered = if found.head == found.span.0 {
                    String::new()
                } else {
                    format!(", entered at {head:x}")
                };
                Some(format!(
                    "loop {}{outer}: {shares} ({n}{entered})",
                    number + 1
                ))
            }
            ListingRow::LoopEnd(number) => Some(format!("end of loop {}", number + 1)),
            ListingRow::Part(_) | ListingRow::Instruction(_) => None,
        }
    }

    /// A line above its instructions: the share is of these only.
    fn line_in_code(&self, (line, end): (usize, usize), room: usize) -> Option<String> {
        let place = self.listing.places.lines.get(line)?;
        let before = |at: &usize| {
            let before = self.listing.instructions.get(*at);
            before.is_some_and(|it| it.line == Some(line))
        };
        let mut start = end;
        while start > 0 && before(&(start - 1)) {
            start -= 1;
        }
        let counts = self.listing.sum(start..end);
        let shares = if is_counted(&counts) {
            format!(" [{}]", self.shares_in_words(&counts))
        } else {
            String::new()
        };
        let name = self.names.line(&place.file, place.line);
        let text = place.text.as_deref().unwrap_or_default();
        let said = format!("{name}{shares}  {text}");
        // How deep it stands matters less than what it says.
        Some(if width(&said) <= room {
            said
        } else {
            format!("{name}{shares}  {}", text.trim_start())
        })
    }
}

/// The range that an instruction is left out with.
fn left_out(folded: &[Range<usize>], at: usize) -> Option<Range<usize>> {
    let after = folded.partition_point(|range| range.end <= at);
    folded
        .get(after)
        .filter(|range| range.contains(&at))
        .cloned()
}
