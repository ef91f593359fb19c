//! A sample's addresses: innermost first, each with its privilege level, ready for look-up.
//!
//! The one place of "minus one": entries but the innermost of a level are return addresses, and
//! the call is before them. A call that never returns may be the last instruction of its
//! function, so looking up the return address itself would name the next one.

use rprof_abi::{CpuMode, Misc, Sample, context};
use rprof_images::Avma;
use rprof_profile::Level;

/// How much of a chain is wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChainOptions {
    pub(crate) stacks: bool,
    pub(crate) max_stack: Option<usize>,
}

/// Calls `visit` for each frame of a sample, innermost first.
#[inline]
pub(crate) fn for_each_address(
    sample: &Sample<'_>,
    misc: Misc,
    options: ChainOptions,
    mut visit: impl FnMut(Level, Avma),
) {
    let Some(ip) = sample.ip else {
        return;
    };
    let mut level = level_of(misc.cpu_mode());
    visit(level, Avma(ip));
    let Some(chain) = sample.callchain.filter(|_| options.stacks) else {
        return;
    };
    let mut left = options.max_stack.unwrap_or(usize::MAX).saturating_sub(1);
    // The first entry is the sample's own address, which is already visited; unless the chain
    // leaves that level out (exclude_callchain_kernel).
    let own_level = level;
    let mut is_own = true;
    let mut is_return = false;
    let mut in_user = false;
    let mut entries = chain.entries();
    while let Some(entry) = entries.next() {
        // The user part is the last: what looks like a marker in it is what a broken frame
        // pointer led to.
        if entry >= context::MAX && !in_user {
            in_user = entry == context::USER;
            if entry == context::USER_DEFERRED {
                // A cookie follows, not an address.
                entries.next();
            }
            level = level_of_context(entry, level);
            is_return = false;
            continue;
        }
        if !(is_own && level == own_level) {
            if left == 0 {
                return;
            }
            left -= 1;
            let address = if is_return {
                entry.wrapping_sub(1)
            } else {
                entry
            };
            visit(level, Avma(address));
        }
        is_own = false;
        is_return = true;
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
mod tests {
    use super::*;
    use rprof_abi::{Callchain, Endian};

    fn addresses(ip: u64, entries: &[u64], max_stack: Option<usize>) -> Vec<(Level, u64)> {
        let bytes: Vec<u8> = entries
            .iter()
            .flat_map(|entry| entry.to_le_bytes())
            .collect();
        let sample = Sample {
            ip: Some(ip),
            callchain: Some(Callchain::from_encoded(&bytes, Endian::Little)),
            ..Sample::default()
        };
        let mut all = Vec::new();
        let options = ChainOptions {
            stacks: true,
            max_stack,
        };
        for_each_address(&sample, Misc::KERNEL, options, |level, address| {
            all.push((level, address.0))
        });
        all
    }

    #[test]
    fn return_addresses_are_looked_up_one_before() {
        let chain = [context::KERNEL, 100, 201, context::USER, 50, 61, 71];
        let expected = [
            (Level::Kernel, 100),
            (Level::Kernel, 200),
            (Level::User, 50),
            (Level::User, 60),
            (Level::User, 70),
        ];
        assert_eq!(addresses(100, &chain, None), expected);
        assert_eq!(addresses(100, &chain, Some(3)), expected[..3]);
    }

    #[test]
    fn a_chain_without_the_samples_own_level_keeps_its_first_frame() {
        let chain = [context::USER, 50, 61];
        let expected = [(Level::Kernel, 100), (Level::User, 50), (Level::User, 60)];
        assert_eq!(addresses(100, &chain, None), expected);
    }

    #[test]
    fn garbage_in_the_user_part_is_no_marker() {
        let chain = [context::USER, 100, context::KERNEL, 61];
        let levels: Vec<Level> = addresses(100, &chain, None)
            .iter()
            .map(|&(level, _)| level)
            .collect();
        // The sample itself was taken in the kernel here; its chain has a user part only.
        assert_eq!(
            levels,
            [Level::Kernel, Level::User, Level::User, Level::User]
        );
    }

    #[test]
    fn a_deferred_cookie_is_no_address_and_an_empty_chain_leaves_the_ip() {
        let chain = [context::KERNEL, 100, context::USER_DEFERRED, 7];
        assert_eq!(addresses(100, &chain, None), [(Level::Kernel, 100)]);
        assert_eq!(addresses(100, &[], None), [(Level::Kernel, 100)]);
    }
}
