//! Whether frames called each other, by the code before their return addresses.

use super::read_remote::RemoteStackReader;
use super::truncated_stack::TruncatedStack;
use crate::live::address_space::LiveSpace;
use crate::live::process_memory::ProcessMemory;
use crate::live::walk::WalkContext;
use foldhash::HashMap;
use rprof_abi::Machine;
use rprof_unwind::{AddressSpace, Call, LONGEST_CALL, StackFrame, call_before, is_jump_stub};

/// Return addresses that are remembered.
const MAX_CALLS: usize = 1 << 16;

/// Looks at the calls before return addresses.
#[derive(Debug, Default)]
pub(super) struct CallVerifier {
    /// By the number of an address space and the return address.
    calls: HashMap<(u32, u64), Call>,
}

/// The code of a process.
#[derive(Clone, Copy)]
pub(super) struct CodeOf<'c> {
    pub(super) machine: Machine,
    pub(super) space: &'c LiveSpace<'c>,
}

impl<'c> CodeOf<'c> {
    /// That of the process whose stack is walked.
    pub(super) fn new(context: &WalkContext<'c>) -> Self {
        Self {
            machine: context.registers.machine(),
            space: context.space,
        }
    }
}

impl CallVerifier {
    /// Whether frames that were found with what was read called each other. The first is the
    /// outermost that the dump has.
    ///
    /// Every return address must follow a call. Where that call names its target, it must be the
    /// callee. The first call must name it, unless the end of the dump is as it was.
    pub(super) fn are_calls(
        &mut self,
        reader: &mut RemoteStackReader,
        truncated: TruncatedStack<'_>,
        frames: &[StackFrame],
        code: CodeOf<'_>,
    ) -> bool {
        if self.calls.len() > MAX_CALLS {
            self.calls.clear();
        }
        let mut is_certain = reader.is_overlap_unchanged(truncated);
        for pair in frames.windows(2) {
            let &[callee, caller] = pair else { continue };
            if !caller.is_return {
                // Interrupted by a signal: the kernel called.
                continue;
            }
            match self.call_before(reader.memory(), code, caller.avma) {
                Call::None => return false,
                Call::Somewhere if is_certain => {}
                Call::Somewhere => return false,
                Call::To(target) if code.space.function(callee) == Some(target) => {
                    is_certain = true;
                }
                Call::To(_) => return false,
            }
        }
        is_certain
    }

    /// The call before a return address.
    pub(super) fn call_before(
        &mut self,
        memory: &mut ProcessMemory,
        code: CodeOf<'_>,
        avma: u64,
    ) -> Call {
        let CodeOf { machine, space } = code;
        let call = self.calls.entry((space.number(), avma));
        *call.or_insert_with(|| read_call(memory, machine, space.pid, avma))
    }

    /// Forgets what it knows by numbers of address spaces.
    pub(super) fn forget(&mut self) {
        self.calls.clear();
    }
}

fn read_call(memory: &mut ProcessMemory, machine: Machine, pid: i32, avma: u64) -> Call {
    let mut code = [0; LONGEST_CALL];
    let n_read = memory.read(pid, avma.wrapping_sub(LONGEST_CALL as u64), &mut code);
    let call = match n_read {
        Some(LONGEST_CALL) => call_before(machine, avma, &code),
        _ => Call::None,
    };
    let Call::To(target) = call else {
        return call;
    };
    code.fill(0);
    memory.read(pid, target, &mut code);
    if is_jump_stub(machine, &code) {
        Call::Somewhere
    } else {
        call
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jumps_through_a_table_are_stubs() {
        let x86 = |code: [u8; 8]| is_jump_stub(Machine::X86_64, &code);
        assert!(x86([0xff, 0x25, 1, 2, 3, 4, 0x90, 0x90]));
        assert!(x86([0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 1]));
        assert!(!x86([0x55, 0x48, 0x89, 0xe5, 0, 0, 0, 0]));
        let aarch64 = |code: [u8; 8]| is_jump_stub(Machine::Aarch64, &code);
        assert!(aarch64([0x10, 0, 0, 0x90, 0x11, 2, 0x40, 0xf9]));
        assert!(!aarch64([0xfd, 0x7b, 0xbf, 0xa9, 0, 0, 0, 0]));
    }

    #[test]
    fn what_cannot_be_read_is_no_call() {
        let mut memory = ProcessMemory::default();
        let pid = i32::try_from(std::process::id()).unwrap();
        let call = read_call(&mut memory, Machine::X86_64, pid, 16);
        assert_eq!(call, Call::None);
    }
}
