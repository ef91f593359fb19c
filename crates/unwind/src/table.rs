//! What one image says about its frames.

use crate::arch::Arch;
use crate::built_in::BuiltIn;
use crate::dwarf_evaluation::{Caller, StepError};
use crate::gimli_types::Scratch;
use crate::go::Go;
use crate::rule::{Kind, Rule};
use crate::section::Section;
use crate::signal;
use crate::stack::Stack;
use crate::{Mapped, RegisterSet};
use foldhash::HashMap;
use rprof_abi::{Machine, for_machine};
use rprof_base::{FileOffset, Svma};
use rprof_images::{Elf, JitDump, JitLoad, Segment};
use rprof_untrusted::{Budget, Held};
use std::sync::{PoisonError, RwLock};

/// An image's frames cannot be described.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// It has no `.eh_frame` and no `.debug_frame`.
    #[error("it has neither .eh_frame nor .debug_frame")]
    NoSection,
    /// It is of a machine whose stacks are not walked.
    #[error("rprof does not unwind stacks of its architecture")]
    Machine,
    /// What it says takes more memory than the budget has left.
    #[error("it needs more memory than the budget has left")]
    Memory,
}

/// The frames of one image: shared by all that map it.
#[derive(Debug)]
pub struct UnwindTable {
    machine: Machine,
    /// The lowest address of the image.
    base: u64,
    segments: Vec<Segment>,
    sections: Vec<Section>,
    go: Option<Go>,
    /// Code that has no description although its frames are known.
    built_in: Vec<BuiltIn>,
    /// Where it returns from signal handlers, if that is easily seen.
    signal_return: Option<u32>,
    compiled: RwLock<Compiled>,
    /// For the sections' indexes.
    indexes: Held,
}

/// Descriptions compiled so far. Few rules are said of many rows.
#[derive(Debug)]
struct Compiled {
    /// The rows of each function.
    functions: HashMap<Function, Rows>,
    rows: Vec<Row>,
    rules: Vec<Rule>,
    numbers: HashMap<Rule, u32>,
    held: Held,
}

/// A function that is described.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Function {
    /// Which section describes it.
    section: u8,
    /// Its number in that section's index.
    number: u32,
}

/// A range of rows.
#[derive(Clone, Copy, Debug)]
struct Rows {
    from: u32,
    to: u32,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    start: u32,
    rule: u32,
}

/// Memory that a row takes, bytes: its own, and its share of rules and functions.
const ROW_BYTES: u64 = 16;

impl UnwindTable {
    /// Reads an image's descriptions; those of the debug file stand in where the image has none.
    ///
    /// # Errors
    /// [`TableError`].
    pub fn from_elf(elf: &Elf, debug: Option<&Elf>) -> Result<Self, TableError> {
        let machine = elf.machine().ok_or(TableError::Machine)?;
        for_machine!(machine, A => Self::from_elf_of::<A>(elf, debug))
    }

    fn from_elf_of<A: Arch>(elf: &Elf, debug: Option<&Elf>) -> Result<Self, TableError> {
        let base = elf.base();
        let debug_frame = || {
            let mut files = [Some(elf), debug].into_iter().flatten();
            files.find_map(|elf| elf.debug_frame(base))
        };
        let sections = elf.eh_frame().into_iter().chain(debug_frame());
        let sections: Vec<Section> = sections.map(Section::new::<A>).collect();
        // Half of what it says would be wrong about the other half.
        if elf.is_over_budget() || debug.is_some_and(Elf::is_over_budget) {
            return Err(TableError::Memory);
        }
        let is_described = sections.iter().any(|one| !one.frames.is_eh_frame);
        let go = Go::of::<A>(elf, base.0, is_described);
        if elf.is_over_budget() {
            return Err(TableError::Memory);
        }
        if sections.is_empty() && go.is_none() {
            return Err(TableError::NoSection);
        }
        let signal_return = signal::returns_in::<A>(elf);
        let table = Self::described(A::MACHINE, base, sections, &elf.budget())?;
        Ok(Self {
            segments: elf.segments().to_vec(),
            signal_return: signal_return.and_then(|at| table.relative(at)),
            go,
            built_in: BuiltIn::of::<A>(elf, base.0),
            ..table
        })
    }

    /// Reads what a log says of a piece of code that was made at run time. It is where its code is looked
    /// up: at its place in the log, or in memory.
    ///
    /// # Errors
    /// [`TableError`].
    pub fn from_jitdump(
        machine: Machine,
        log: &mut JitDump,
        piece: &JitLoad,
        place: FileOffset,
        budget: &Budget,
    ) -> Result<Self, TableError> {
        if !log.is_for(machine) {
            return Err(TableError::Machine);
        }
        let eh_frame = piece.frames.and_then(|frames| log.eh_frame(frames).ok());
        let eh_frame = eh_frame.ok_or(TableError::NoSection)?;
        let code = Segment {
            offset: place,
            file_size: piece.len,
            address: Svma(0),
        };
        Self::from_piece(machine, code, eh_frame, budget)
    }

    /// Of a piece of code, by its `.eh_frame`.
    pub(crate) fn from_piece(
        machine: Machine,
        code: Segment,
        eh_frame: Vec<u8>,
        budget: &Budget,
    ) -> Result<Self, TableError> {
        let held = size_of::<Self>() + size_of::<Section>() + eh_frame.len();
        let section =
            for_machine!(machine, A => Section::from_piece::<A>(code.file_size, eh_frame));
        let section = section.ok_or(TableError::NoSection)?;
        let mut table = Self::described(machine, Svma(0), vec![section], budget)?;
        let grown = table.indexes.grow(held as u64);
        grown.map_err(|_| TableError::Memory)?;
        table.segments = vec![code];
        Ok(table)
    }

    /// What sections of an image with this lowest address say, and nothing else.
    pub(crate) fn described(
        machine: Machine,
        base: Svma,
        sections: Vec<Section>,
        budget: &Budget,
    ) -> Result<Self, TableError> {
        let of_indexes = sections.iter().map(|one| one.frames.index.size_bytes());
        let held = budget.hold(of_indexes.sum::<usize>() as u64);
        Ok(Self {
            indexes: held.map_err(|_| TableError::Memory)?,
            machine,
            base: base.0,
            segments: Vec::new(),
            sections,
            go: None,
            built_in: Vec::new(),
            signal_return: None,
            compiled: RwLock::new(Compiled::nothing(budget)),
        })
    }

    /// What an address points to that is mapped to an offset of the image's file; the image has
    /// this number with the caller.
    pub fn mapped(&self, image: u32, avma: u64, offset: FileOffset) -> Mapped<'_> {
        let svma = |segment: &Segment| segment.svma(offset);
        match self.segments.iter().find_map(svma) {
            Some(svma) => Mapped::Image {
                image,
                table: self,
                bias: avma.wrapping_sub(svma.0),
            },
            None => Mapped::Code {
                image,
                is_file: true,
            },
        }
    }

    /// The machine that the image is for.
    pub fn machine(&self) -> Machine {
        self.machine
    }

    /// Where the function at an address begins, as far as descriptions tell.
    pub fn function(&self, address: Svma) -> Option<Svma> {
        let at = self.relative(address)?;
        let start = |section: &Section| section.function(at);
        match self.sections.iter().find_map(start) {
            Some(start) => Some(Svma(self.base + u64::from(start))),
            None => self.go.as_ref()?.function(address),
        }
    }

    /// Whether an address is in one of the functions of Go's runtime that nothing calls: where goroutines,
    /// threads and programs begin.
    pub fn is_go_outermost(&self, address: Svma) -> bool {
        let special = || self.go.as_ref()?.special(self.relative(address)?);
        special().is_some_and(|rule| rule.kind == Kind::Outermost)
    }

    /// The rule that holds at an address.
    pub(crate) fn rule<A: Arch>(&self, address: Svma, scratch: &mut Scratch) -> Rule {
        let Some(at) = self.relative(address) else {
            return Rule::default();
        };
        if self
            .signal_return
            .is_some_and(|start| signal::holds(start, at))
        {
            return Rule::of(Kind::Signal);
        }
        if let Some(rule) = self.go.as_ref().and_then(|go| go.special(at)) {
            return rule;
        }
        for (section, descriptions) in (0u8..).zip(&self.sections) {
            let Some((number, _)) = descriptions.frames.index.find(at) else {
                continue;
            };
            let function = Function { section, number };
            let rule = self
                .compiled_rule(function, at)
                .unwrap_or_else(|| self.compile::<A>(function, at, scratch));
            if rule.kind != Kind::None {
                return rule;
            }
        }
        let built_in = |one: &BuiltIn| one.rule::<A>(at);
        let rule = self.built_in.iter().find_map(built_in);
        let go = || self.go.as_ref()?.rule::<A>(address);
        rule.or_else(go)
            .unwrap_or_else(|| self.rule_of_gap::<A>(at))
    }

    /// A few instructions between two descriptions have no frame: so C libraries leave out what is
    /// around the system calls that make threads.
    fn rule_of_gap<A: Arch>(&self, at: u32) -> Rule {
        if !self
            .sections
            .iter()
            .any(|section| section.is_gap(self.base, at))
        {
            return Rule::default();
        }
        Rule {
            kind: Kind::Gap,
            ..Rule::just_called::<A>(0)
        }
    }

    fn relative(&self, address: Svma) -> Option<u32> {
        u32::try_from(address.0.checked_sub(self.base)?).ok()
    }

    fn compiled_rule(&self, function: Function, at: u32) -> Option<Rule> {
        // A thread that panicked left nothing half done: rows are added before they are named.
        let compiled = self.compiled.read().unwrap_or_else(PoisonError::into_inner);
        let &rows = compiled.functions.get(&function)?;
        Some(compiled.rule_in(rows, at))
    }

    /// Compiles a function's description, for all threads.
    #[cold]
    fn compile<A: Arch>(&self, function: Function, at: u32, scratch: &mut Scratch) -> Rule {
        let rows = self.rows_of::<A>(function, at, scratch);
        let mut compiled = self
            .compiled
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let compiled = &mut *compiled;
        if let Some(&rows) = compiled.functions.get(&function) {
            return compiled.rule_in(rows, at);
        }
        let bytes = ROW_BYTES * (rows.len() as u64 + 2);
        if compiled.held.grow(bytes).is_err() {
            // All are forgotten, and compiled again as they are needed.
            *compiled = Compiled::nothing(compiled.held.budget());
            if compiled.held.grow(bytes).is_err() {
                return rule_in(&rows, at);
            }
        }
        let from = compiled.rows.len();
        for (start, rule) in rows {
            let number = compiled.number(rule);
            compiled.rows.push(Row {
                start,
                rule: number,
            });
        }
        let range = (u32::try_from(from), u32::try_from(compiled.rows.len()));
        let (Ok(from), Ok(to)) = range else {
            return Rule::of(Kind::Bad);
        };
        let rows = Rows { from, to };
        compiled.functions.insert(function, rows);
        compiled.rule_in(rows, at)
    }

    fn rows_of<A: Arch>(
        &self,
        function: Function,
        at: u32,
        scratch: &mut Scratch,
    ) -> Vec<(u32, Rule)> {
        match self.sections.get(usize::from(function.section)) {
            Some(section) => section.rows::<A>(self.base, at, scratch),
            None => Vec::new(),
        }
    }

    /// Leaves the frame at an address by DWARF evaluation.
    pub(crate) fn step<A: Arch>(
        &self,
        address: Svma,
        registers: &RegisterSet,
        stack: &Stack<'_>,
        scratch: &mut Scratch,
    ) -> Result<Caller, StepError> {
        let at = self.relative(address).ok_or(StepError::Bad)?;
        let mut why = StepError::Bad;
        for section in &self.sections {
            match section.step::<A>(at, address, registers, stack, scratch) {
                Ok(caller) => return Ok(caller),
                Err(StepError::Bad) => {}
                Err(other) => why = other,
            }
        }
        Err(why)
    }
}

/// The rule that holds at an address, of those of its function.
fn rule_in(rows: &[(u32, Rule)], at: u32) -> Rule {
    let n = rows.partition_point(|&(start, _)| start <= at);
    let row = n.checked_sub(1).and_then(|at| rows.get(at));
    row.map(|&(_, rule)| rule).unwrap_or_default()
}

impl Compiled {
    fn nothing(budget: &Budget) -> Self {
        Self {
            functions: HashMap::default(),
            rows: Vec::new(),
            rules: Vec::new(),
            numbers: HashMap::default(),
            held: budget.hold_nothing(),
        }
    }

    fn rule_in(&self, rows: Rows, at: u32) -> Rule {
        let rows = self
            .rows
            .get(rows.from as usize..rows.to as usize)
            .unwrap_or_default();
        let n = rows.partition_point(|row| row.start <= at);
        let row = n.checked_sub(1).and_then(|at| rows.get(at));
        let rule = row.and_then(|row| self.rules.get(row.rule as usize));
        rule.copied().unwrap_or_default()
    }

    fn number(&mut self, rule: Rule) -> u32 {
        let next = u32::try_from(self.rules.len()).unwrap_or(u32::MAX);
        *self.numbers.entry(rule).or_insert_with(|| {
            self.rules.push(rule);
            next
        })
    }
}
