//! A sample's addresses: innermost first, each with its privilege level, ready for look-up.
//!
//! Entries but the innermost of a level are return addresses ([`CodeAddress::Return`]): the call is before them. A call that never returns may be the last instruction of its
//! function, so looking up the return address itself would name the next one.

use super::ends::Missing;
use crate::locations::{Address, Location};
use rprof_abi::{Callchain, CpuMode, Misc, SampleHead, context};
use rprof_base::{Avma, CodeAddress};
use rprof_profile::Level;
use rprof_unwind::{GAP, StackFrame};

/// How much of a chain is wanted.
#[derive(Clone, Copy, Debug)]
pub struct ChainOptions {
    /// Whole stacks, or only where samples were taken.
    pub stacks: bool,
    /// At most this many frames, from the innermost on.
    pub max_stack: Option<usize>,
    /// Which address comes first.
    pub first: First,
}

impl ChainOptions {
    /// The location as it is counted.
    #[inline]
    pub(crate) fn counted(self, location: Location) -> Location {
        if self.stacks {
            location.in_stacks()
        } else {
            location
        }
    }
}

/// Which address of a sample comes first. A chain begins where the sample was taken, but with
/// precise events some instructions before; and it may leave the sample's level out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// The sample's own.
    Own,
    /// That of the chain, if there is one.
    OfChain,
    /// The sample's own, and then that of the chain, too: all that is shown by either.
    Both,
}

/// The user part of a sample's stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UserStack<'c> {
    /// Where it is.
    pub(crate) part: UserPart<'c>,
    /// What is missing of it.
    pub(crate) missing: Missing,
}

impl UserStack<'_> {
    /// What the chain has, as it is.
    pub(crate) const RECORDED: Self = Self {
        part: UserPart::Recorded,
        missing: Missing::Nothing,
    };
}

/// Where the user part of a sample's chain is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum UserPart<'c> {
    /// In the chain, if there is any.
    Recorded,
    /// In a record that came later.
    Later(Callchain<'c>),
    /// Unwound from a stack dump; what the chain has of it does not count.
    Unwound(&'c [StackFrame]),
}

/// Where a sample was taken, if that was recorded.
#[inline]
pub(crate) fn own_address(sample: &SampleHead<'_>, misc: Misc) -> Option<Address> {
    let avma = Avma(sample.ip?);
    Some(Address {
        level: Some(level_of(misc.cpu_mode())),
        avma,
        is_return: false,
    })
}

/// Calls `visit` for each frame of a sample, innermost first.
#[inline]
pub(crate) fn for_each_address(
    sample: &SampleHead<'_>,
    user: UserStack<'_>,
    misc: Misc,
    options: ChainOptions,
    mut visit: impl FnMut(Address),
) {
    let own_level = level_of(misc.cpu_mode());
    let chain = sample.callchain.filter(|_| options.stacks);
    let mut left = options.max_stack.unwrap_or(usize::MAX);
    // The first entry of a chain is the sample's own address, which is visited before it; unless
    // the chain leaves that level out (exclude_callchain_kernel).
    let first = options.first;
    let own = own_address(sample, misc).filter(|_| first != First::OfChain || chain.is_none());
    if let Some(own) = own {
        left = left.saturating_sub(usize::from(first != First::Both));
        visit(own);
    } else if first == First::Own {
        return;
    }
    let mut walk = Walk {
        level: own_level,
        skips: own.filter(|_| first != First::Both).map(|_| own_level),
        is_return: false,
        in_user: false,
        passes_user: matches!(user.part, UserPart::Unwound(_)),
        missing: user.missing,
        left,
    };
    let comes_later = chain.is_some_and(|chain| walk.run(chain, &mut visit));
    match user.part {
        UserPart::Later(chain) if comes_later => {
            walk.is_return = false;
            walk.run(chain, &mut visit);
        }
        UserPart::Unwound(frames) => walk.run_unwound(frames, &mut visit),
        UserPart::Recorded | UserPart::Later(_) => {}
    }
    if user.missing == Missing::Outermost && walk.left > 0 && options.stacks {
        visit(Address::TRUNCATED);
    }
}

/// Where a walk along a chain is.
struct Walk {
    level: Level,
    /// The first entry is skipped if it is of this level.
    skips: Option<Level>,
    is_return: bool,
    /// The user part is the last: what looks like another marker in it is what a broken frame
    /// pointer led to.
    in_user: bool,
    /// Entries of the user part are skipped.
    passes_user: bool,
    missing: Missing,
    /// Frames that may still be visited.
    left: usize,
}

impl Walk {
    /// Visits the entries of a chain; returns whether its user part comes later.
    #[inline]
    fn run(&mut self, chain: Callchain<'_>, visit: &mut impl FnMut(Address)) -> bool {
        let mut comes_later = false;
        for (at, entry) in (0..).zip(chain.entries()) {
            if comes_later {
                // A cookie, not an address; nothing follows it.
                break;
            }
            if self.missing == Missing::After(at) && self.left > 0 {
                visit(Address::TRUNCATED);
                if entry == GAP {
                    continue;
                }
            }
            if entry >= context::MAX && !self.in_user {
                self.in_user = entry == context::USER;
                comes_later = entry == context::USER_DEFERRED;
                self.level = level_of_context(entry, self.level);
                self.is_return = false;
                continue;
            }
            if self.in_user && entry == context::USER && !self.is_return {
                // simpleperf says it several times, in front.
                continue;
            }
            if self.passes_user && self.level == Level::User {
                continue;
            }
            let is_own = self.skips.take() == Some(self.level);
            if !is_own {
                if self.left == 0 {
                    return false;
                }
                self.left -= 1;
                visit(Address {
                    level: Some(self.level),
                    avma: CodeAddress::new(Avma(entry), self.is_return).lookup(),
                    is_return: self.is_return,
                });
            }
            self.is_return = true;
        }
        comes_later
    }

    /// Visits frames that were unwound.
    #[inline]
    fn run_unwound(&mut self, frames: &[StackFrame], visit: &mut impl FnMut(Address)) {
        let is_own = self.skips == Some(Level::User);
        for (at, frame) in frames.iter().enumerate().skip(usize::from(is_own)) {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            // Where a handler returns to was put there by the kernel: no call is before it.
            let caller = frames.get(at + 1);
            let code = if caller.is_some_and(|caller| !caller.is_return) {
                CodeAddress::Pc(Avma(frame.avma))
            } else {
                frame.code()
            };
            visit(Address {
                level: Some(Level::User),
                avma: code.lookup(),
                is_return: false,
            });
        }
    }
}

fn level_of(mode: CpuMode) -> Level {
    match mode {
        CpuMode::Kernel => Level::Kernel,
        CpuMode::Hypervisor => Level::Hypervisor,
        CpuMode::GuestKernel => Level::GuestKernel,
        CpuMode::GuestUser => Level::GuestUser,
        CpuMode::User | CpuMode::Unknown | CpuMode::Reserved(_) => Level::User,
    }
}

fn level_of_context(marker: u64, before: Level) -> Level {
    match marker {
        context::KERNEL => Level::Kernel,
        context::USER | context::USER_DEFERRED => Level::User,
        context::HV => Level::Hypervisor,
        context::GUEST_KERNEL => Level::GuestKernel,
        context::GUEST | context::GUEST_USER => Level::GuestUser,
        _ => before,
    }
}

#[cfg(test)]
mod tests;
