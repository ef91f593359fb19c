//! Functions of which some instructions are shown, one after the other while there is room for more.

use super::view::{View, over};
use super::wanted::Wanted;
use super::{FoundFunction, heat};
use anyhow::{Error, Result};
use rprof_analysis::{AskedCode, OpenCode};
use rprof_annotate::{CodeListing, Disassembled, SourceFiles};
use rprof_disassembly::Instruction;
use rprof_profile::code::FunctionCode;
use std::ops::ControlFlow;

/// Which instructions of a function are shown: their numbers, part by part and ascending. They are decoded without texts.
pub(crate) type ChooseInstructions<'a> =
    dyn Fn(&FunctionCode, &[Vec<Instruction>]) -> Vec<usize> + 'a;

/// Is handed a function's code and its listing; says whether more functions are wanted.
pub(crate) type TakeListing<'a> =
    dyn FnMut(&OpenCode, &CodeListing<'_>) -> Result<ControlFlow<()>> + 'a;

/// A function, and the addresses of the instructions that are shown, ascending.
struct Excerpt<'c> {
    asked: AskedCode<'c>,
    shown: Vec<u64>,
}

impl View<'_, '_> {
    /// Hands over functions that have code, the hottest first: listings without rows, whose instructions have texts,
    /// lines and functions only if they are chosen. What is said of them is read once for all functions of a file, which
    /// are listed only as far as `take` wants more. Returns the functions whose code cannot be shown, and why.
    pub(super) fn excerpts(
        &self,
        functions: Vec<FoundFunction>,
        choose: &ChooseInstructions<'_>,
        take: &mut TakeListing<'_>,
    ) -> Result<Vec<(FoundFunction, Error)>> {
        let mut held = self.reader.budget().hold_nothing();
        let mut refused = Vec::new();
        let opened = self.open_some(&Wanted::all(functions), &mut held, &mut |function, why| {
            refused.push((function.clone(), why));
            Ok(())
        })?;
        let mut opened: Vec<(f64, OpenCode)> = opened
            .into_iter()
            .map(|code| (heat_of(&code.function), code))
            .collect();
        opened.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        // What does not fit beside what is held is left out, as it is when it is opened.
        opened.retain(|(_, code)| self.hold(code).is_ok());
        let excerpts = opened.iter().map(|(_, code)| self.excerpt(code, choose));
        let (asked, shown): (Vec<AskedCode<'_>>, Vec<Vec<u64>>) = excerpts
            .collect::<Result<Vec<Excerpt<'_>>>>()?
            .into_iter()
            .map(|excerpt| (excerpt.asked, excerpt.shown))
            .unzip();
        let descriptions = self.recording.describe(&asked);
        drop(asked);
        let mut sources = SourceFiles::new(self.sources.clone(), self.reader.budget());
        for (((_, code), shown), description) in opened.iter().zip(shown).zip(descriptions) {
            let _held = self.hold(code).map_err(|_| over(code))?;
            let is_shown = |address: u64| shown.binary_search(&address).is_ok();
            let instructions = self.instructions(code, &is_shown)?;
            let function = Disassembled {
                code: &code.function,
                instructions: &instructions,
                frames: &description.frames,
                names: &description.names,
                authors: &description.authors,
            };
            self.fetch_sources(code, &mut sources);
            let percent_type = self.args.percent_type;
            let listing = CodeListing::without_rows(&function, percent_type, &mut sources);
            if take(code, &listing)?.is_break() {
                break;
            }
        }
        Ok(refused)
    }

    /// What is asked of the instructions that are shown.
    fn excerpt<'c>(
        &self,
        code: &'c OpenCode,
        choose: &ChooseInstructions<'_>,
    ) -> Result<Excerpt<'c>> {
        let _held = self.hold(code).map_err(|_| over(code))?;
        let instructions = self.instructions(code, &|_| false)?;
        let chosen = choose(&code.function, &instructions);
        let all: Vec<&Instruction> = instructions.iter().flatten().collect();
        let chosen: Vec<&Instruction> = chosen
            .iter()
            .filter_map(|&at| all.get(at).copied())
            .collect();
        let references = chosen.iter().filter_map(|one| one.reference);
        let references = references.map(|reference| (reference.address, reference.is_pointer));
        let mut shown: Vec<u64> = chosen.iter().map(|one| one.address).collect();
        let asked = AskedCode {
            code,
            addresses: shown.clone(),
            references: references.collect(),
        };
        shown.sort_unstable();
        Ok(Excerpt { asked, shown })
    }
}

/// Its shares of all events together.
fn heat_of(code: &FunctionCode) -> f64 {
    let events = code.events.iter().map(|event| {
        let counts = event.counts.iter();
        let own = counts.fold(0, |sum: u64, (_, count)| sum.saturating_add(count.weight));
        (own, event.all.weight)
    });
    heat(events)
}
