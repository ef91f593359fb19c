//! The frame pointer of a thread of which only the instruction and the stack pointer are known.
//!
//! The innermost functions may need no more than these: their frames are found by the stack pointer alone. The first
//! one that keeps a frame pointer has pushed it just below its return address. How far that is from the stack pointer,
//! the code that the function begins with says, if its frame has a fixed size: then the place is known, and there must be
//! a return address. Otherwise a return address is searched that follows a call of this function. Older calls may have
//! left one behind, so what is found that way is a guess, and none if the walk leads to the stack's end from more than one
//! such place.

use super::address_space::LiveSpace;
use super::process_memory::ProcessMemory;
use super::walk::WalkContext;
use rprof_abi::Machine;
use rprof_unwind::{
    AddressSpace, Call, LONGEST_CALL, Mapped, RegisterSet, Stack, StackFrame, Unwinder,
    call_before, frame_bytes, jump_slot,
};

/// Words of the stack that are looked at if they may be return addresses: each is read code.
const MOST_LOOKED: usize = 256;

/// Places from where the stack is walked.
const MOST_PLACES: usize = 8;

/// Code that functions begin with.
const PROLOGUE_BYTES: usize = 96;

/// Code of a jump through a table, and of what may be before it.
const JUMP_BYTES: usize = 16;

/// How a stack was completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Completed {
    /// The function says where it has pushed the frame pointer.
    Proved,
    /// It was called there, at some time.
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
    let mut code = CallsOf {
        machine: registers.machine(),
        function: space.function(last)?,
        space,
        memory: ProcessMemory::default(),
    };
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
    let sp = last.sp.max(start);
    let Mapped::Image { image, .. } = space.find(last.code().lookup().0) else {
        return None;
    };
    if let Some(frame_bytes) = code.frame_bytes() {
        let place = sp.checked_add(frame_bytes)?;
        let call = code.call_before(word_at(bytes, place.checked_add(8)?.checked_sub(start)?)?)?;
        *frames = walk(place)?;
        return Some(match call {
            // Another function may have jumped to it.
            CallTo::Other => Completed::Guessed { image },
            CallTo::Function | CallTo::Pointer => Completed::Proved,
        });
    }
    let mut found = code
        .places(bytes, (start, sp))?
        .into_iter()
        .filter_map(walk);
    let (only, another) = (found.next()?, found.next());
    *frames = Some(only).filter(|_| another.is_none())?;
    Some(Completed::Guessed { image })
}

/// The word of the stack at an offset in bytes.
fn word_at(bytes: &[u8], at: u64) -> Option<u64> {
    let at = usize::try_from(at).ok()?;
    Some(u64::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
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
    memory: ProcessMemory,
}

impl CallsOf<'_> {
    /// Bytes from its stack pointer up to its frame pointer, if its code says so.
    fn frame_bytes(&mut self) -> Option<u64> {
        let mut code = [0; PROLOGUE_BYTES];
        let n_read = self.memory.read(self.space.pid, self.function, &mut code)?;
        frame_bytes(self.machine, code.get(..n_read)?)
    }

    /// Where the function may have pushed the frame pointer (AVMA): `bytes` of the stack begin at `start`, and its frame
    /// at `sp`. `None` if there is too much to look at.
    fn places(&mut self, bytes: &[u8], (start, sp): (u64, u64)) -> Option<Vec<u64>> {
        // The frame pointer is in the word below.
        let skip = usize::try_from(sp.saturating_sub(start) / 8 + 1).unwrap_or(usize::MAX);
        let (words, _) = bytes.as_chunks::<8>();
        let (mut n_looked, mut places) = (0, Vec::new());
        for (number, word) in (0u64..).zip(words).skip(skip) {
            let returns_to = u64::from_ne_bytes(*word);
            if matches!(self.space.find(returns_to.wrapping_sub(1)), Mapped::Nothing) {
                continue;
            }
            n_looked += 1;
            if self.call_before(returns_to) == Some(CallTo::Function) {
                places.push(start.wrapping_add((number - 1) * 8));
            }
            if n_looked > MOST_LOOKED || places.len() > MOST_PLACES {
                return None;
            }
        }
        Some(places)
    }

    /// The call before an address.
    fn call_before(&mut self, returns_to: u64) -> Option<CallTo> {
        let mut code = [0; LONGEST_CALL];
        let from = returns_to.wrapping_sub(LONGEST_CALL as u64);
        let n_read = self.memory.read(self.space.pid, from, &mut code);
        n_read.filter(|&n_read| n_read == LONGEST_CALL)?;
        let (slot, other) = match call_before(self.machine, returns_to, &code) {
            Call::None => return None,
            Call::To(target) if target == self.function => return Some(CallTo::Function),
            // Through a stub, maybe.
            Call::To(target) => {
                let mut stub = [0; JUMP_BYTES];
                self.memory.read(self.space.pid, target, &mut stub);
                (jump_slot(self.machine, target, &stub), CallTo::Other)
            }
            // As libraries are called without stubs.
            Call::Somewhere => (jump_slot(self.machine, from, &code), CallTo::Pointer),
        };
        let is_function = slot.is_some_and(|slot| self.leads_here(slot));
        Some(if is_function { CallTo::Function } else { other })
    }

    /// Whether a word of a table is the function's address.
    fn leads_here(&mut self, slot: u64) -> bool {
        let mut word = [0; 8];
        let n_read = self.memory.read(self.space.pid, slot, &mut word);
        n_read == Some(word.len()) && u64::from_ne_bytes(word) == self.function
    }
}
