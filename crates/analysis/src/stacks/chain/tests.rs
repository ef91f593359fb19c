//! Chains are made up here, and the addresses that are visited compared.

use super::*;
use rprof_abi::Endian;

fn of(part: UserPart<'_>) -> UserStack<'_> {
    UserStack {
        part,
        missing: Missing::Nothing,
    }
}

fn encoded(entries: &[u64]) -> Vec<u8> {
    let bytes = entries.iter().flat_map(|entry| entry.to_le_bytes());
    bytes.collect()
}

fn addresses(ip: u64, entries: &[u64], max_stack: Option<usize>) -> Vec<(Level, u64)> {
    joined(ip, entries, None, max_stack)
}

fn joined(
    ip: u64,
    entries: &[u64],
    deferred: Option<&[u64]>,
    max_stack: Option<usize>,
) -> Vec<(Level, u64)> {
    let bytes = encoded(entries);
    let later = deferred.map(encoded);
    let deferred = later
        .as_deref()
        .map(|bytes| Callchain::from_encoded(bytes, Endian::Little));
    let user = of(deferred.map_or(UserPart::Recorded, UserPart::Later));
    let sample = SampleHead {
        ip: Some(ip),
        callchain: Some(Callchain::from_encoded(&bytes, Endian::Little)),
        ..SampleHead::default()
    };
    let mut all = Vec::new();
    let options = ChainOptions {
        stacks: true,
        max_stack,
        first: First::Own,
    };
    for_each_address(&sample, user, Misc::KERNEL, options, |address| {
        all.push((address.level.unwrap(), address.avma.0));
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
fn the_user_parts_marker_is_one_however_often_it_is_said() {
    let chain = [context::USER, context::USER, 100, context::USER, 61];
    // Behind frames it is what a broken frame pointer led to.
    let garbage = context::USER - 1;
    let user = [100, garbage, 60].map(|avma| (Level::User, avma));
    assert_eq!(addresses(100, &chain, None)[1..], user);
}

#[test]
fn with_precise_events_the_chain_begins_elsewhere_than_the_sample() {
    let bytes = encoded(&[context::USER, 50, 61]);
    let sample = SampleHead {
        ip: Some(47),
        callchain: Some(Callchain::from_encoded(&bytes, Endian::Little)),
        ..SampleHead::default()
    };
    let addresses = |first, max_stack| {
        let mut all = Vec::new();
        let options = ChainOptions {
            stacks: true,
            max_stack,
            first,
        };
        for_each_address(
            &sample,
            of(UserPart::Recorded),
            Misc::USER,
            options,
            |address| {
                all.push(address.avma.0);
            },
        );
        all
    };
    assert_eq!(addresses(First::Own, None), [47, 60]);
    assert_eq!(addresses(First::OfChain, None), [50, 60]);
    assert_eq!(addresses(First::Both, None), [47, 50, 60]);
    // As many as any of the others visits.
    assert_eq!(addresses(First::Both, Some(1)), [47, 50]);
}

#[test]
fn a_deferred_cookie_is_no_address_and_an_empty_chain_leaves_the_ip() {
    let chain = [context::KERNEL, 100, context::USER_DEFERRED, 7];
    assert_eq!(addresses(100, &chain, None), [(Level::Kernel, 100)]);
    assert_eq!(addresses(100, &[], None), [(Level::Kernel, 100)]);
}

#[test]
fn an_unwound_user_part_stands_for_the_recorded_one() {
    let frame = |avma, is_return| StackFrame {
        avma,
        sp: 0,
        slot: 0,
        is_return,
    };
    let frames = [
        frame(50, false),
        frame(81, true),
        frame(61, true),
        frame(70, false),
        frame(91, true),
    ];
    let bytes = encoded(&[context::KERNEL, 100, 201, context::USER, 50, 9]);
    let sample = SampleHead {
        ip: Some(100),
        callchain: Some(Callchain::from_encoded(&bytes, Endian::Little)),
        ..SampleHead::default()
    };
    let addresses = |misc, first, max_stack| {
        let mut all = Vec::new();
        let options = ChainOptions {
            stacks: true,
            max_stack,
            first,
        };
        let user = of(UserPart::Unwound(&frames));
        for_each_address(&sample, user, misc, options, |address| {
            all.push(address.avma.0);
        });
        all
    };
    // The call is before a return address, but not where a handler returns to, nor where the signal
    // interrupted.
    for first in [First::Own, First::OfChain] {
        let all = addresses(Misc::KERNEL, first, None);
        assert_eq!(all, [100, 200, 50, 80, 61, 70, 90]);
    }
    assert_eq!(addresses(Misc::KERNEL, First::Own, Some(3)), [100, 200, 50]);
}

#[test]
fn a_sample_in_user_code_is_the_first_of_its_unwound_frames() {
    let frame = |avma, is_return| StackFrame {
        avma,
        sp: 0,
        slot: 0,
        is_return,
    };
    let frames = [frame(50, false), frame(61, true)];
    let bytes = encoded(&[]);
    let firsts = [
        (true, First::Own),
        (true, First::OfChain),
        (false, First::Own),
    ];
    for (chain, first) in firsts {
        let chain = chain.then(|| Callchain::from_encoded(&bytes, Endian::Little));
        let sample = SampleHead {
            ip: Some(50),
            callchain: chain,
            ..SampleHead::default()
        };
        let mut all = Vec::new();
        let options = ChainOptions {
            stacks: true,
            max_stack: None,
            first,
        };
        let user = of(UserPart::Unwound(&frames));
        for_each_address(&sample, user, Misc::USER, options, |address| {
            all.push(address.avma.0);
        });
        assert_eq!(all, [50, 60]);
    }
}

#[test]
fn missing_frames_are_a_frame() {
    let of = |chain: &[u64], missing| {
        let bytes = encoded(chain);
        let sample = SampleHead {
            ip: Some(50),
            callchain: Some(Callchain::from_encoded(&bytes, Endian::Little)),
            ..SampleHead::default()
        };
        let options = ChainOptions {
            stacks: true,
            max_stack: None,
            first: First::Own,
        };
        let user = UserStack {
            part: UserPart::Recorded,
            missing,
        };
        let mut all = Vec::new();
        for_each_address(&sample, user, Misc::USER, options, |address| {
            all.push(address.level.map(|_| address.avma.0));
        });
        all
    };
    let (with, without) = ([context::USER, 50, 61, 0, 71], [context::USER, 50, 61, 71]);
    let marked = [Some(50), Some(60), None, Some(70)];
    assert_eq!(of(&with, Missing::After(3)), marked);
    assert_eq!(of(&without, Missing::After(3)), marked);
    let cut = [Some(50), Some(60), Some(70), None];
    assert_eq!(of(&without, Missing::Outermost), cut);
}

#[test]
fn a_deferred_user_part_is_joined() {
    let chain = [context::KERNEL, 100, context::USER_DEFERRED, 7];
    let later = [context::USER, 50, 61];
    let expected = [(Level::Kernel, 100), (Level::User, 50), (Level::User, 60)];
    assert_eq!(joined(100, &chain, Some(&later), None), expected);
}
