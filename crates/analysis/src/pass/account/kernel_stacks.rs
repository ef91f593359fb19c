//! The kernel's part of stacks: why a thread waits is in it. Each distinct one is named once.

use crate::Error;
use crate::locations::{Address, Location, TaskCache, distinct};
use crate::recording::Recording;
use crate::samples::DecodedSample;
use crate::stacks::{ChainOptions, First, StackSources};
use crate::symbolize::{Symbols, WantedSymbols};
use foldhash::{HashMap, HashMapExt};
use rprof_abi::context;
use rprof_base::{Avma, CodeAddress};
use rprof_profile::Level;
use rprof_scheduling::{Cause, is_bare_call, is_local_send, is_timer};
use rprof_symbols::{Detail, Request};

/// The number of no stack.
pub(super) const NO_STACK: u32 = u32::MAX;

/// Distinct stacks that a thread keeps: real recordings have some hundreds. Those beyond say nothing.
const MOST_STACKS: usize = 1 << 15;

/// What a stack says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StackFacts {
    /// Why a thread that was switched out in it waits.
    pub(super) cause: Cause,
    /// Whether what happened in it was a timer's doing.
    pub(super) is_timer: bool,
    /// Whether its thread sends to a socket of the same machine, and wakes who reads from that.
    pub(super) is_local_send: bool,
}

/// Distinct stacks of the kernel that a thread has seen.
#[derive(Debug)]
pub(super) struct KernelStacks {
    numbers: HashMap<Box<[u64]>, u32>,
    /// By number, innermost first; and what is waited for in the file that was waited for.
    stacks: Vec<(Vec<Location>, Cause)>,
    tasks: TaskCache,
    at_hand: Vec<u64>,
}

impl KernelStacks {
    pub(super) fn new() -> Self {
        Self {
            numbers: HashMap::new(),
            stacks: Vec::new(),
            tasks: TaskCache::new(),
            at_hand: Vec::new(),
        }
    }

    /// The number of the kernel's part of a sample's stack, where a thread waits for a file with that cause, if any.
    pub(super) fn number(
        &mut self,
        recording: &Recording<'_>,
        sample: &DecodedSample<'_>,
        of_file: Cause,
    ) -> u32 {
        let Some(chain) = sample.head.callchain else {
            return NO_STACK;
        };
        let entries = chain
            .entries()
            .skip_while(|&entry| entry != context::KERNEL);
        self.at_hand.clear();
        (self.at_hand).extend(entries.skip(1).take_while(|&entry| entry < context::MAX));
        if self.at_hand.is_empty() {
            return NO_STACK;
        }
        self.at_hand.push(of_file.number());
        if let Some(&number) = self.numbers.get(self.at_hand.as_slice()) {
            return number;
        }
        if self.stacks.len() >= MOST_STACKS {
            return NO_STACK;
        }
        let history = &recording.index.history;
        let (mappings, _) = self.tasks.at(history, (sample.pid, sample.tid), sample.key);
        let (_, entries) = self.at_hand.split_last().unwrap_or((&0, &[]));
        let locations = entries.iter().enumerate().map(|(at, &entry)| {
            let is_return = at > 0;
            let address = Address {
                level: Some(Level::Kernel),
                avma: CodeAddress::new(Avma(entry), is_return).lookup(),
                is_return,
            };
            mappings.location(history, address)
        });
        self.stacks.push((locations.collect(), of_file));
        let number = u32::try_from(self.stacks.len() - 1).unwrap_or(NO_STACK);
        (self.numbers).insert(self.at_hand.as_slice().into(), number);
        number
    }

    /// What the stacks of some threads say, by number.
    pub(super) fn facts(
        recording: &Recording<'_>,
        threads: &[Self],
    ) -> Result<Vec<Vec<StackFacts>>, Error> {
        let locations = threads.iter().flat_map(|one| &one.stacks);
        let locations = locations.flat_map(|(stack, _)| stack);
        let locations = distinct(locations);
        let chains = ChainOptions {
            stacks: false,
            max_stack: None,
            first: First::Own,
        };
        let wanted = WantedSymbols {
            request: Request {
                detail: Detail::Functions,
                ..Request::default()
            },
            positions: None,
            hide_unresolved: false,
        };
        let sources = StackSources::of(recording, chains);
        let symbols = Symbols::of(recording, &sources, locations, wanted)?;
        let facts_of = |(stack, of_file): &(Vec<Location>, Cause)| {
            let names = || stack.iter().filter_map(|&one| function(&symbols, one));
            StackFacts {
                cause: match Cause::of_functions(names()) {
                    Cause::Unknown if is_bare_call(names()) => *of_file,
                    cause => cause,
                },
                is_timer: is_timer(names()),
                is_local_send: is_local_send(names()),
            }
        };
        let of_thread = |one: &Self| one.stacks.iter().map(facts_of).collect();
        Ok(threads.iter().map(of_thread).collect())
    }
}

/// The function that a location is in, by the name of its symbol.
fn function(symbols: &Symbols, location: Location) -> Option<&str> {
    let outermost = symbols.frames(symbols.number(location)).last()?;
    let name = symbols.functions.of(*outermost).name?;
    Some(symbols.strings.of(name).into_raw())
}
