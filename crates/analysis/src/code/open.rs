//! A function's code, of the file that was recorded.

use super::error::CodeError;
use super::found::FoundFunction;
use super::parts::{LeftOut, base_of_cold};
use super::recording::CodeRecording;
use super::{jit, kernel};
use crate::locations::Location;
use rprof_base::{BuildId, FileOffset, Svma};
use rprof_images::{Elf, Located, MAX_CODE};
use rprof_machine::{ImageId, ImageKind};
use rprof_profile::SampleCount;
use rprof_profile::code::{CodePart, FunctionCode};
use rprof_symbols::{Reason, function_range};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

/// A function's code, and the files that say more of it.
#[derive(Debug)]
pub struct OpenCode {
    /// The code, with its counts.
    pub function: FunctionCode,
    pub(super) image_id: ImageId,
    pub(super) source: CodeSource,
}

/// What says more of code.
#[derive(Debug)]
pub(super) enum CodeSource {
    /// Files of a program or library; their addresses are those of the code.
    User(Rc<Located>),
    /// A jitdump, and where the code is in it.
    Jit {
        /// The jitdump.
        path: PathBuf,
        /// Where its code begins, in memory and in the file.
        load: (u64, FileOffset),
    },
    /// A file of the kernel, or of a module, and how far its addresses are from those in memory.
    Kernel(Rc<Located>, u64),
}

impl OpenCode {
    /// The build id of the file that the code is of, if it has one.
    pub fn build_id(&self) -> Option<&BuildId> {
        match &self.source {
            CodeSource::User(located) | CodeSource::Kernel(located, _) => located.binary.build_id(),
            CodeSource::Jit { .. } => None,
        }
    }
}

impl CodeRecording<'_> {
    /// The code of a function, with what was counted in it.
    ///
    /// # Errors
    /// [`CodeError`].
    pub fn code(&self, function: &FoundFunction) -> Result<OpenCode, CodeError> {
        let images = self.recording.index.history.images();
        let no_file = |reason: Reason| CodeError::NoFile {
            image: function.image.clone(),
            reason,
        };
        let Some(image) = images.of(function.image_id) else {
            return Err(no_file(Reason::NoFile(rprof_images::NoFile::Missing)));
        };
        match image.kind {
            ImageKind::User if image.process_of_map().is_some() => Err(CodeError::PerfMap {
                image: function.image.clone(),
            }),
            ImageKind::User if image.is_jitdump() => jit::code(self, function, image),
            ImageKind::User => {
                let located = self.located(function.image_id, image);
                let located = located.map_err(|reason| no_file(Reason::NoFile(reason)))?;
                self.user_code(function, located)
            }
            ImageKind::Kernel { .. } | ImageKind::Module { .. } => {
                kernel::code(self, function, image)
            }
            ImageKind::KernelSymbol | ImageKind::OutOfLine => Err(no_code(
                function,
                "made by the kernel while it ran (BPF, a trampoline)",
            )),
            ImageKind::GuestKernel | ImageKind::GuestUser => {
                Err(no_code(function, "a guest's code"))
            }
        }
    }

    fn user_code(
        &self,
        function: &FoundFunction,
        located: Rc<Located>,
    ) -> Result<OpenCode, CodeError> {
        let cold = self.cold_parts(function.image_id, &located);
        let mut code = self.of_file(function, &located, 0)?;
        for part in cold.of_function(function.start) {
            let end = part.address.saturating_add(part.size);
            let name = self.options.demangling.of(part.symbol.as_bytes());
            let name = cold.complete(name, part.address);
            code.notes.push(format!(
                "{name} at {:#x} is a part of {} that is seldom run: the compiler put it elsewhere",
                part.address, function.name
            ));
            let range = part.address..end;
            let part = code_part(function, &located.binary, &name, range)?;
            code.parts.push(part);
        }
        let left_out = cold.left_out(function.start);
        code.notes
            .extend(left_out.map(|parts| self.left_out(parts)));
        let svma = |location: Location| located.binary.svma(FileOffset(location.address));
        code.events = self.events();
        self.count(function, &mut code, &|location| Some(svma(location)?.0));
        Ok(OpenCode {
            function: code,
            image_id: function.image_id,
            source: CodeSource::User(located),
        })
    }

    /// What is said of cold parts that may be a function's.
    fn left_out(&self, parts: &LeftOut) -> String {
        let base = base_of_cold(&parts.first).unwrap_or(&parts.first);
        let suffix = parts.first.get(base.len()..).unwrap_or_default();
        let first = self.options.demangling.of(base.as_bytes()) + suffix;
        match parts.n {
            1 => format!(
                "{first} is not shown here: it is not certain that it is a part of this function"
            ),
            n => format!(
                "{n} parts ({first}, ...) are not shown here: it is not certain that they are parts of this function"
            ),
        }
    }

    /// The code that a file has, its addresses `shift`ed; without counts and cold parts.
    pub(super) fn of_file(
        &self,
        function: &FoundFunction,
        located: &Located,
        shift: u64,
    ) -> Result<FunctionCode, CodeError> {
        let image = || function.image.clone();
        let binary = &located.binary;
        if located.is_debug_only() {
            return Err(CodeError::DebugOnly {
                image: image(),
                file: binary.path().display().to_string(),
            });
        }
        let machine = binary.machine_name();
        let machine = machine.ok_or_else(|| CodeError::UnknownMachine { image: image() })?;
        let start = function.start.wrapping_sub(shift);
        let end = end_of(function, located, Svma(start)).ok_or_else(|| CodeError::NoEnd {
            name: function.name.clone(),
            image: image(),
        })?;
        let mut part = code_part(function, binary, &function.name, start..end)?;
        part.address = part.address.wrapping_add(shift);
        Ok(FunctionCode {
            name: function.name.clone(),
            image: image(),
            file: binary.path().display().to_string(),
            machine: machine.to_owned(),
            level: function.level,
            inlined: None,
            parts: vec![part],
            events: Vec::new(),
            notes: Vec::new(),
        })
    }

    /// Counts samples by address.
    pub(super) fn count(
        &self,
        function: &FoundFunction,
        code: &mut FunctionCode,
        address_of: &dyn Fn(Location) -> Option<u64>,
    ) {
        let mut at: BTreeMap<u64, Vec<SampleCount>> = BTreeMap::new();
        for &location in &function.locations {
            let Some(address) = address_of(location) else {
                continue;
            };
            let counts = self.counts_at(location);
            let sums = at.entry(address).or_default();
            sums.resize(self.events.len(), SampleCount::default());
            sums.iter_mut()
                .zip(counts)
                .for_each(|(sum, one)| *sum += one);
        }
        for (number, event) in code.events.iter_mut().enumerate() {
            let own = at.iter().filter_map(|(&address, counts)| {
                let count = counts.get(number).copied()?;
                (count.samples > 0).then_some((address, count))
            });
            event.counts = own.collect();
        }
    }
}

/// A function that an image has no code of.
fn no_code(function: &FoundFunction, what: &'static str) -> CodeError {
    CodeError::NoCode {
        image: function.image.clone(),
        what,
    }
}

/// Where a function ends: as its symbol says, else as unwind tables do.
fn end_of(function: &FoundFunction, located: &Located, start: Svma) -> Option<u64> {
    let size = function.size.map(|size| u64::from(size.get()));
    let by_symbol = size.filter(|_| function.is_named);
    if let Some(size) = by_symbol {
        return start.0.checked_add(size);
    }
    let range = function_range(located, start)?;
    (range.start == start).then_some(range.end.0)
}

fn code_part(
    function: &FoundFunction,
    binary: &Elf,
    symbol: &str,
    range: std::ops::Range<u64>,
) -> Result<CodePart, CodeError> {
    check_len(function, range.end.saturating_sub(range.start))?;
    let bytes = binary.bytes_at(&(Svma(range.start)..Svma(range.end)));
    let bytes = bytes.ok_or_else(|| CodeError::NotInFile {
        name: function.name.clone(),
        image: function.image.clone(),
        start: range.start,
        end: range.end,
    })?;
    Ok(CodePart {
        symbol: symbol.to_owned(),
        address: range.start,
        bytes,
    })
}

/// Refuses what no compiler makes.
pub(super) fn check_len(function: &FoundFunction, len: u64) -> Result<(), CodeError> {
    match len > MAX_CODE {
        true => Err(CodeError::TooLong {
            name: function.name.clone(),
            image: function.image.clone(),
            len,
        }),
        false => Ok(()),
    }
}
