//! The frame pointer of a thread of which only the instruction and the stack pointer are known.
//!
//! The innermost functions may need no more than these: their frames are found by the stack pointer alone. The first
//! one that keeps a frame pointer has pushed it just below its return address. That address follows a call of this
//! function, which few other words of the stack do: words that older calls have left behind may. So only a place from
//! where the walk leads to the stack's end counts, and only if there is one such place. Where no call says that it is of
//! this function, as where threads begin, the innermost return address is taken: that is a guess.

use super::address_space::LiveSpace;
use super::process_memory::ProcessMemory;
use super::walk::WalkContext;
use rprof_abi::Machine;
use rprof_unwind::{
    AddressSpace, Call, LONGEST_CALL, Mapped, RegisterSet, Stack, StackFrame, Unwinder,
    call_before, jump_slot,
};

/// Places that are looked at.
const MOST_PLACES: usize = 64;

/// Code of a jump through a table, and of what may be before it.
const JUMP_BYTES: usize = 16;

/// How a stack was completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Completed {
    /// The call of the function names it.
    Proved,
    /// It is called through a pointer.
    Guessed {
        /// The image of the function.
        image: u32,
    },
}

/// Walks a stack again, with a frame pointer that is found in it. `None` if none is found: frames are as they were.
pub(super) fn complete(
    unwinder: &mut Unwinder,
    (space, registers): (&LiveSpace<'_>, RegisterSet),
    (stack, bytes, start): (Stack<'_>, &[u8], u64),
    frames: &mut Vec<StackFrame>,
) -> Option<Completed> {
    let last = *frames.last()?;
    let code = CallsOf {
        machine: registers.machine(),
        function: space.function(last)?,
        space,
    };
    let sp = last.sp.max(start);
    let mut walk = |place: u64| {
        let mut registers = registers;
        registers.set_frame_pointer(place);
        let mut context = WalkContext {
            unwinder: &mut *unwinder,
            space,
            registers: &registers,
        };
        let mut walked = Vec::new();
        let outcome = context.walk(stack, &mut walked);
        outcome.is_complete().then_some(walked)
    };
    let places = code.places(bytes, (start, sp));
    let mut proved = places.iter().filter(|(_, call)| *call == CallTo::Function);
    let mut found = proved.by_ref().filter_map(|&(place, _)| walk(place));
    let (first, second) = (found.next(), found.next());
    if let Some(walked) = first {
        if second.is_some() {
            return None;
        }
        *frames = walked;
        return Some(Completed::Proved);
    }
    let &(place, call) = places.first()?;
    let Mapped::Image { image, .. } = space.find(last.code().lookup().0) else {
        return None;
    };
    *frames = Some(place)
        .filter(|_| call == CallTo::Pointer)
        .and_then(walk)?;
    Some(Completed::Guessed { image })
}

/// What a call leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallTo {
    /// The function.
    Function,
    /// Another one.
    Other,
    /// What a register or a word of memory says.
    Pointer,
}

/// Calls of a function.
struct CallsOf<'c> {
    machine: Machine,
    /// Where it begins (AVMA).
    function: u64,
    space: &'c LiveSpace<'c>,
}

impl CallsOf<'_> {
    /// Where a function may have pushed the frame pointer (AVMA), with the call above: `bytes` of the stack begin at
    /// `start`, and the frame at `sp`.
    fn places(&self, bytes: &[u8], (start, sp): (u64, u64)) -> Vec<(u64, CallTo)> {
        // The frame pointer is in the word below.
        let skip = usize::try_from(sp.saturating_sub(start) / 8 + 1).unwrap_or(usize::MAX);
        let (words, _) = bytes.as_chunks::<8>();
        let words = (0u64..).zip(words).skip(skip);
        let mut memory = ProcessMemory::default();
        let places = words.filter_map(|(number, word)| {
            let returns_to = u64::from_ne_bytes(*word);
            let code = self.space.find(returns_to.wrapping_sub(1));
            let is_code = !matches!(code, Mapped::Nothing);
            let call = is_code.then(|| self.call_before(&mut memory, returns_to))??;
            Some((start.wrapping_add((number - 1) * 8), call))
        });
        places.take(MOST_PLACES).collect()
    }

    /// The call before an address.
    fn call_before(&self, memory: &mut ProcessMemory, returns_to: u64) -> Option<CallTo> {
        let mut code = [0; LONGEST_CALL];
        let from = returns_to.wrapping_sub(LONGEST_CALL as u64);
        let n_read = memory.read(self.space.pid, from, &mut code);
        n_read.filter(|&n_read| n_read == LONGEST_CALL)?;
        let (slot, other) = match call_before(self.machine, returns_to, &code) {
            Call::None => return None,
            Call::To(target) if target == self.function => return Some(CallTo::Function),
            // Through a stub, maybe.
            Call::To(target) => {
                let mut stub = [0; JUMP_BYTES];
                memory.read(self.space.pid, target, &mut stub);
                (jump_slot(self.machine, target, &stub), CallTo::Other)
            }
            // As libraries are called without stubs.
            Call::Somewhere => (jump_slot(self.machine, from, &code), CallTo::Pointer),
        };
        let is_function = slot.is_some_and(|slot| self.leads_here(memory, slot));
        Some(if is_function { CallTo::Function } else { other })
    }

    /// Whether a word of a table is the function's address.
    fn leads_here(&self, memory: &mut ProcessMemory, slot: u64) -> bool {
        let mut word = [0; 8];
        let n_read = memory.read(self.space.pid, slot, &mut word);
        n_read == Some(word.len()) && u64::from_ne_bytes(word) == self.function
    }
}
