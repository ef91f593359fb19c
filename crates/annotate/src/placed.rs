//! Instructions with the samples that are in them.

use crate::listed::{CountedEvent, Disassembled, ListedInstruction, ListedPart};
use crate::{flow, operand, skid};
use rprof_disassembly::{Flow, Instruction};
use rprof_profile::SampleCount;
use rprof_profile::code::{CodeEvent, CodePart, FunctionCode};

/// The parts and their instructions, without counts.
pub(crate) fn listed<'a>(
    function: &Disassembled<'a>,
) -> (Vec<ListedPart>, Vec<ListedInstruction<'a>>) {
    let (mut parts, mut all) = (Vec::new(), Vec::new());
    for (part, instructions) in function.code.parts.iter().zip(function.instructions) {
        let start = all.len();
        for instruction in instructions {
            let offset = instruction.address.wrapping_sub(part.address);
            let offset = usize::try_from(offset).unwrap_or(usize::MAX);
            let end = offset.saturating_add(instruction.len.into());
            let bytes = part.bytes.get(offset..end).unwrap_or_default();
            all.push(ListedInstruction {
                instruction,
                text: operand::named(instruction, function.names, &function.code.parts),
                bytes,
                counts: Vec::new(),
                line: None,
                chain: None,
                target: None,
                callee: callee(instruction, function),
            });
        }
        parts.push(ListedPart {
            symbol: part.symbol.clone(),
            address: part.address,
            instructions: start..all.len(),
        });
    }
    (parts, all)
}

/// The other function whose beginning an instruction calls or jumps to, also through a pointer.
fn callee<'a>(instruction: &Instruction, function: &Disassembled<'a>) -> Option<&'a str> {
    let address = match instruction.flow {
        Flow::Jump(_) | Flow::Call(_) => instruction.reference?.address,
        Flow::Next | Flow::Branch(_) | Flow::Return | Flow::Stop => return None,
    };
    let is_own = |part: &CodePart| part.address == address;
    if function.code.parts.iter().any(is_own) {
        return None;
    }
    let name = function.names.get(&address);
    Some(&name.filter(|name| name.offset == 0)?.symbol)
}

/// Puts an event's samples at the instructions that they are in.
pub(crate) fn counted(
    event: &CodeEvent,
    number: usize,
    instructions: &mut [ListedInstruction<'_>],
) -> CountedEvent {
    let mut listed = CountedEvent {
        name: event.name.clone(),
        kind: event.kind,
        precise_ip: event.precise_ip,
        skid: skid::explanation(event),
        local: SampleCount::default(),
        all: event.all,
        outside: SampleCount::default(),
        within: SampleCount::default(),
    };
    let places = flow::by_address(instructions);
    for &(address, count) in &event.counts {
        listed.local.add(count);
        let at = flow::covering(&places, instructions, address);
        let found = at.and_then(|at| instructions.get_mut(at));
        match found {
            Some(found) => {
                if found.instruction.address != address {
                    listed.within.add(count);
                }
                let n_events = found.counts.len().max(number + 1);
                found.counts.resize(n_events, SampleCount::default());
                if let Some(own) = found.counts.get_mut(number) {
                    own.add(count);
                }
            }
            None => listed.outside.add(count),
        }
    }
    listed
}

/// Samples of all events at each instruction of a function, part by part: those of [`CodeListing::instructions`], before
/// anything is listed.
///
/// [`CodeListing::instructions`]: crate::CodeListing::instructions
pub fn samples_at(code: &FunctionCode, instructions: &[Vec<Instruction>]) -> Vec<u64> {
    let all: Vec<&Instruction> = instructions.iter().flatten().collect();
    let places = flow::by_address(&all);
    let mut samples = vec![0u64; all.len()];
    for &(address, count) in code.events.iter().flat_map(|event| &event.counts) {
        let at = flow::covering(&places, &all, address);
        if let Some(own) = at.and_then(|at| samples.get_mut(at)) {
            *own = own.saturating_add(count.samples);
        }
    }
    samples
}

/// What is said of samples that are not at an instruction's start.
pub(crate) fn misplaced(event: &CountedEvent) -> Option<String> {
    let said = |n: u64, what: &str| match n {
        0 => None,
        1 => Some(format!("1 sample of {} is {what}", event.name)),
        _ => Some(format!("{n} samples of {} are {what}", event.name)),
    };
    let within = said(
        event.within.samples,
        "within an instruction, not at its start: this may not be the code that ran, or it contains data",
    );
    let outside = said(event.outside.samples, "outside the instructions shown");
    let all: Vec<String> = within.into_iter().chain(outside).collect();
    (!all.is_empty()).then(|| all.join("; "))
}
