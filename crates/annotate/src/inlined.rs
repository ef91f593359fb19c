//! The code of a function that was inlined: what of another function's code it is.

use crate::listed::Disassembled;
use rprof_disassembly::Instruction;
use rprof_profile::SampleCount;
use rprof_profile::code::{CallSite, CodeFrame, CodeFrames, CodePart, FunctionCode, InlinedCode};

/// A function's code, cut down to what was inlined into it, with its instructions part by part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutCode {
    /// The code; its samples are those of the instructions that are left.
    pub code: FunctionCode,
    /// The instructions of each of its parts.
    pub instructions: Vec<Vec<Instruction>>,
}

impl CutCode {
    /// Cuts a function down to the instructions that belong to one inlined into it: `depth` says of an address which
    /// of its frames that is, counted from the innermost. Nothing if there are no such instructions.
    pub fn of(function: &Disassembled<'_>, depth: &dyn Fn(u64) -> Option<usize>) -> Option<Self> {
        let mut cut = Cut::default();
        for (part, instructions) in function.code.parts.iter().zip(function.instructions) {
            let mut run: Vec<Instruction> = Vec::new();
            for instruction in instructions {
                let chain = function.frames.get(&instruction.address);
                let depth = depth(instruction.address);
                match chain.zip(depth).and_then(|(chain, depth)| of(chain, depth)) {
                    Some((own, caller)) => {
                        cut.add(instruction, own, caller);
                        run.push(instruction.clone());
                    }
                    None => cut.end(part, std::mem::take(&mut run)),
                }
            }
            cut.end(part, run);
        }
        cut.finish(function.code)
    }
}

/// A function of a chain, and the one that it was inlined into.
fn of(chain: &CodeFrames, depth: usize) -> Option<(&CodeFrame, &CodeFrame)> {
    Some((chain.0.get(depth)?, chain.0.get(depth + 1)?))
}

/// Instructions that were found so far.
#[derive(Default)]
struct Cut {
    /// Names of what was inlined, each once.
    names: Vec<String>,
    sites: Vec<CallSite>,
    /// Where each instruction begins and ends, and its call site.
    places: Vec<(u64, u64, usize)>,
    parts: Vec<CodePart>,
    instructions: Vec<Vec<Instruction>>,
}

impl Cut {
    fn add(&mut self, instruction: &Instruction, own: &CodeFrame, caller: &CodeFrame) {
        if !self.names.contains(&own.function) {
            self.names.push(own.function.clone());
        }
        let is_known = |site: &CallSite| site.caller == *caller;
        let site = self.sites.iter().position(is_known).unwrap_or_else(|| {
            self.sites.push(CallSite {
                caller: caller.clone(),
                counts: Vec::new(),
            });
            self.sites.len() - 1
        });
        let end = instruction.address.saturating_add(instruction.len.into());
        self.places.push((instruction.address, end, site));
    }

    /// Makes instructions that follow each other a part.
    fn end(&mut self, part: &CodePart, run: Vec<Instruction>) {
        let (Some(first), Some(last)) = (run.first(), run.last()) else {
            return;
        };
        let offset = |address: u64| usize::try_from(address.wrapping_sub(part.address)).ok();
        let end = last.address.saturating_add(last.len.into());
        let bytes = offset(first.address).zip(offset(end));
        let bytes = bytes.and_then(|(start, end)| part.bytes.get(start..end.min(part.bytes.len())));
        let symbol = match first.address.wrapping_sub(part.address) {
            0 => part.symbol.clone(),
            offset => format!("{}+{offset:#x}", part.symbol),
        };
        self.parts.push(CodePart {
            symbol,
            address: first.address,
            bytes: bytes.unwrap_or_default().to_vec(),
        });
        self.instructions.push(run);
    }

    /// The call site of the instruction that covers an address.
    fn site(&self, address: u64) -> Option<usize> {
        let at = self.places.partition_point(|place| place.0 <= address);
        let (_, end, site) = *self.places.get(at.checked_sub(1)?)?;
        (address < end).then_some(site)
    }

    fn finish(mut self, of: &FunctionCode) -> Option<CutCode> {
        self.places.sort_unstable();
        let mut code = of.clone();
        for (event, counted) in code.events.iter_mut().enumerate() {
            let all = std::mem::take(&mut counted.counts);
            for (address, count) in all {
                let Some(site) = self.site(address) else {
                    continue;
                };
                counted.counts.push((address, count));
                if let Some(site) = self.sites.get_mut(site) {
                    let n_events = site.counts.len().max(event + 1);
                    site.counts.resize(n_events, SampleCount::default());
                    site.counts[event] += count;
                }
            }
        }
        code.inlined = Some(InlinedCode {
            function: Some(self.names.join(", ")).filter(|names| !names.is_empty())?,
            into: std::mem::take(&mut code.name),
            sites: self.sites,
        });
        code.name = code.inlined.as_ref()?.function.clone();
        code.parts = self.parts;
        Some(CutCode {
            code,
            instructions: self.instructions,
        })
    }
}
