//! Built-in rules: code that C libraries and linkers leave without a description although its frames
//! are known, the function at the entry point and stubs of the procedure linkage table.

use crate::arch::{Arch, PltStubs};
use crate::rule::{Kind, Rule};
use rprof_images::Elf;

/// A range of such code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BuiltIn {
    start: u32,
    end: u32,
    code: Code,
}

#[derive(Clone, Copy, Debug)]
enum Code {
    /// The program begins here.
    Entry,
    /// Stubs of the procedure linkage table.
    Stubs(PltStubs),
}

/// Bytes after the entry point that belong to its function. The start-up code of C libraries is
/// shorter, and does nothing but call what never returns.
const ENTRY_LEN: u32 = 64;

impl BuiltIn {
    /// All of an image.
    pub(crate) fn of<A: Arch>(elf: &Elf, base: u64) -> Vec<Self> {
        let relative = |address: u64| u32::try_from(address.checked_sub(base)?).ok();
        let entry = elf.entry().and_then(|entry| relative(entry.0));
        let entry = entry.map(|start| Self {
            start,
            end: start.saturating_add(ENTRY_LEN),
            code: Code::Entry,
        });
        let stubs = [".plt", ".plt.sec", ".plt.got", ".iplt"].into_iter();
        let stubs = stubs.filter_map(|name| {
            let range = elf.section_range(name)?;
            let stubs = match name {
                ".plt" => A::plt_stubs(&elf.section(name)?),
                // They only jump.
                _ => PltStubs::default(),
            };
            Some(Self {
                start: relative(range.start.0)?,
                end: relative(range.end.0)?,
                code: Code::Stubs(stubs),
            })
        });
        entry.into_iter().chain(stubs).collect()
    }

    /// The rule at an address, if it is in the range.
    pub(crate) fn rule<A: Arch>(&self, at: u32) -> Option<Rule> {
        if !(self.start..self.end).contains(&at) {
            return None;
        }
        Some(match self.code {
            Code::Entry => Rule::of(Kind::Outermost),
            Code::Stubs(stubs) => {
                let n_pushed = stubs.n_pushed(at - self.start);
                Rule::just_called::<A>(n_pushed.into())
            }
        })
    }
}
