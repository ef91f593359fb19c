//! Places that samples are told apart by beside the one where each was taken: the ends of branches, data, locks.

use crate::locations::{Address, Location, LocationCache, Mappings};
use crate::lock_sites::LockSite;
use crate::recording::Recording;
use crate::symbolize::Symbols;
use foldhash::HashMap;
use foldhash::fast::RandomState;
use rprof_base::{Counted, Interner};
use rprof_machine::{History, ImageId, RecordedImage};
use rprof_profile::{FrameId, Frames, Level, StrId, Strings, padded_hex};
use rprof_symbols::Demangling;
use rprof_untrusted::{Budget, Held};
use std::hash::Hash;
use std::num::NonZeroU32;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Such a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ValuePlace {
    pub(super) location: Location,
    /// The address, where that makes places differ; else 0.
    pub(super) avma: u64,
    /// Who accesses it, where that makes places differ.
    pub(super) by: Option<Level>,
}

impl ValuePlace {
    /// One that is the same in all processes.
    pub(super) const fn of(location: Location) -> Self {
        Self {
            location,
            avma: 0,
            by: None,
        }
    }
}

/// Such places by number, which all threads have in common. They are held against the reader's budget: a recording may
/// have another address of data in each of its samples.
#[derive(Debug)]
pub(super) struct Places<P>(Mutex<Numbered<P>>);

/// Places of values.
pub(super) type ValuePlaces = Places<ValuePlace>;

#[derive(Debug)]
struct Numbered<P> {
    all: Interner<u32, P, RandomState>,
    held: Held,
    /// How often there was no room for one more.
    n_refused: u64,
}

/// Of what does not fit.
const NO_ROOM: u64 = u64::MAX;

impl<P: Copy + Eq + Hash> Places<P> {
    /// Room is taken for this many at once.
    const STEP: usize = 1024;
    /// Bytes that one takes: as a value and as a key, and what tables leave empty.
    const BYTES: usize = 4 * size_of::<P>();

    /// None, of a budget.
    pub(super) fn new(budget: &Budget) -> Self {
        Self(Mutex::new(Numbered {
            all: Interner::default(),
            held: budget.hold_nothing(),
            n_refused: 0,
        }))
    }

    fn lock(&self) -> MutexGuard<'_, Numbered<P>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of a place, or `None` if there is no room for it.
    fn number(&self, place: P) -> Option<u64> {
        let mut numbered = self.lock();
        if let Some(known) = numbered.all.find(&place) {
            return Some(known.into());
        }
        let is_full = numbered.all.len().is_multiple_of(Self::STEP);
        if is_full
            && numbered
                .held
                .grow((Self::STEP * Self::BYTES) as u64)
                .is_err()
        {
            numbered.n_refused += 1;
            return None;
        }
        Some(numbered.all.intern(place).into())
    }

    /// The place with a number.
    pub(super) fn of(&self, number: u64) -> Option<P> {
        self.lock().all.get(u32::try_from(number).ok()?).copied()
    }

    /// All of them.
    pub(super) fn all(&self) -> Vec<P> {
        self.lock().all.values().to_vec()
    }

    /// What was left out.
    pub(super) fn warning(&self) -> Option<String> {
        let n = Some(self.lock().n_refused).filter(|&n| n > 0)?;
        let values = Counted::new(n, "value is", "values are");
        Some(format!(
            "{values} shown as [unknown]: more places than the memory budget allows (--mem 4G allows more)"
        ))
    }
}

/// Numbers that a thread has asked for: asking again would make threads wait for each other.
#[derive(Debug)]
struct KnownNumbers<P>(HashMap<P, u64>);

impl<P> Default for KnownNumbers<P> {
    fn default() -> Self {
        Self(HashMap::default())
    }
}

impl<P: Copy + Eq + Hash> KnownNumbers<P> {
    /// At most: threads take little memory. Others are asked for again.
    const MOST: usize = 1 << 15;

    fn of(&mut self, places: &Places<P>, place: P) -> u64 {
        if let Some(&known) = self.0.get(&place) {
            return known;
        }
        let Some(number) = places.number(place) else {
            return NO_ROOM;
        };
        if self.0.len() >= Self::MOST {
            self.0.clear();
        }
        self.0.insert(place, number);
        number
    }
}

/// The numbers of places that a thread has asked for.
#[derive(Debug, Default)]
pub(super) struct PlaceNumbers {
    values: KnownNumbers<ValuePlace>,
    locks: KnownNumbers<LockSite>,
    /// Of code, made for the first: so that an address is not looked up for each of its samples.
    of_code: Option<LocationCache>,
}

impl PlaceNumbers {
    /// The number of a place.
    pub(super) fn of(&mut self, places: &ValuePlaces, place: ValuePlace) -> u64 {
        self.values.of(places, place)
    }

    /// The number of a lock.
    pub(super) fn of_lock(&mut self, places: &Places<LockSite>, lock: LockSite) -> u64 {
        self.locks.of(places, lock)
    }

    /// The number of the code at an address.
    pub(super) fn of_code(
        &mut self,
        places: &ValuePlaces,
        (history, mappings): (&History, Mappings),
        address: Address,
    ) -> u64 {
        let Self {
            values, of_code, ..
        } = self;
        let place = |location: Location| ValuePlace {
            location,
            avma: location.address,
            by: address.level,
        };
        let cache = of_code.get_or_insert_with(LocationCache::new);
        let mut is_new = false;
        let number = cache.value(history, mappings, address, |location| {
            is_new = true;
            let number = values.of(places, place(location));
            u32::try_from(number).unwrap_or(u32::MAX)
        });
        match number {
            u32::MAX if is_new => NO_ROOM,
            // What had no room is asked for again, and counted.
            u32::MAX => self.of(places, place(mappings.location(history, address))),
            number => number.into(),
        }
    }
}

/// What places are called.
pub(super) struct Naming<'p> {
    pub(super) recording: &'p Recording<'p>,
    pub(super) symbols: &'p Symbols,
    pub(super) frames: &'p Frames,
    pub(super) strings: &'p mut Strings,
    /// How names are to read.
    pub(super) demangling: Demangling,
}

impl Naming<'_> {
    /// The image of a place.
    pub(super) fn image(&mut self, place: Option<ValuePlace>) -> StrId {
        let images = self.recording.index.history.images();
        let image = place.and_then(|place| images.of(ImageId(place.location.image)));
        let name = image.map(RecordedImage::short_name);
        let name = name.as_deref().unwrap_or(b"[unknown]");
        self.strings.intern(&String::from_utf8_lossy(name))
    }

    /// The function at a place as tables call it, with perf's sign of its level.
    pub(super) fn symbol(&mut self, place: Option<ValuePlace>) -> StrId {
        let frame = self.frame(place);
        let text = match frame.map(|frame| self.frames.function_of(frame)) {
            Some(function) => self.frames.of(function).symbol(self.strings),
            None => "[unknown]".to_owned(),
        };
        self.strings.intern(&text)
    }

    /// Data as perf calls it: how far it is into what has a name, or its address.
    pub(super) fn data(&mut self, place: Option<ValuePlace>) -> StrId {
        let place = place.map(|place| (place, place.by.unwrap_or(Level::User).sign()));
        let text = match (place, self.name(place.map(|(place, _)| place))) {
            (Some((place, sign)), Some(name)) => {
                let number = self.symbols.number(place.location);
                format!("[{sign}] {name}+{:#x}", self.symbols.offset(number))
            }
            (Some((place, sign)), None) => {
                format!("[{sign}] {}", padded_hex(place.avma))
            }
            (None, _) => "[unknown]".to_owned(),
        };
        self.strings.intern(&text)
    }

    /// Bytes of the function at a place.
    pub(super) fn size(&self, place: Option<ValuePlace>) -> Option<u32> {
        let number = self.symbols.number(place?.location);
        self.symbols.size(number).map(NonZeroU32::get)
    }

    /// Where the function at a place begins.
    pub(super) fn start(&self, place: Option<ValuePlace>) -> Option<u64> {
        let place = place?;
        let of_symbol = self.symbols.start(self.symbols.number(place.location));
        of_symbol.or_else(|| self.frames.of(self.frame(Some(place))?).start)
    }

    /// The line of the cache that data is in.
    pub(super) fn cacheline(&mut self, place: Option<ValuePlace>) -> StrId {
        let images = self.recording.index.history.images();
        let text = match place {
            Some(place) => {
                let is_mapped = images.of(ImageId(place.location.image)).is_some();
                let sign = match place.by {
                    Some(level) if is_mapped => level.sign(),
                    _ => 'X',
                };
                format!("[{sign}] {}", padded_hex(place.location.address))
            }
            None => "[unknown]".to_owned(),
        };
        self.strings.intern(&text)
    }

    /// The name of what is at a place.
    fn name(&self, place: Option<ValuePlace>) -> Option<String> {
        let frame = self.frames.function_of(self.frame(place)?);
        let name = self.frames.of(frame).name?;
        Some(self.strings.of(name).raw().to_owned())
    }

    /// The line in the source at a place.
    pub(super) fn srcline(&mut self, place: Option<ValuePlace>) -> StrId {
        let position = self
            .frame(place)
            .and_then(|frame| self.frames.of(frame).position);
        let text = match position {
            Some(place) => format!("{}:{}", self.strings.of(place.file).raw(), place.line),
            None => "??:0".to_owned(),
        };
        self.strings.intern(&text)
    }

    /// The function at a place, not one inlined there.
    fn frame(&self, place: Option<ValuePlace>) -> Option<FrameId> {
        let number = self.symbols.number(place?.location);
        self.symbols.frames(number).last().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_untrusted::Limits;

    fn place(address: u64) -> ValuePlace {
        ValuePlace::of(Location { image: 0, address })
    }

    fn places(room: usize) -> ValuePlaces {
        let bytes = (room * ValuePlaces::BYTES) as u64;
        ValuePlaces::new(&Budget::new(Limits::of_memory(bytes)))
    }

    #[test]
    fn places_beyond_the_budget_are_unknown_and_said_to_be() {
        let places = places(3 * ValuePlaces::STEP);
        let mut numbers = PlaceNumbers::default();
        let n = 4 * ValuePlaces::STEP as u64;
        let last = (0..n).map(|address| numbers.of(&places, place(address)));
        assert_eq!(last.max(), Some(NO_ROOM));
        assert_eq!(places.all().len(), 3 * ValuePlaces::STEP);
        assert_eq!(places.of(NO_ROOM), None);
        let warning = places.warning().unwrap();
        assert!(warning.starts_with("1024 values are"), "{warning}");
        // Those that are known still are.
        let first = numbers.of(&places, place(0));
        assert_eq!(places.of(first), Some(place(0)));
    }

    #[test]
    fn a_thread_asks_once_for_the_number_of_a_place() {
        let (first, second) = (places(ValuePlaces::STEP), places(ValuePlaces::STEP));
        let mut numbers = PlaceNumbers::default();
        let number = numbers.of(&first, place(7));
        assert_eq!(numbers.of(&second, place(7)), number);
        assert!(second.all().is_empty());
        assert_eq!(first.warning(), None);
    }

    #[test]
    fn what_threads_remember_is_bounded() {
        let places = places(4 * KnownNumbers::<ValuePlace>::MOST);
        let mut numbers = PlaceNumbers::default();
        for address in 0..3 * KnownNumbers::<ValuePlace>::MOST as u64 {
            assert_eq!(numbers.of(&places, place(address)), address);
        }
        assert!(numbers.values.0.len() <= KnownNumbers::<ValuePlace>::MOST);
        assert_eq!(numbers.of(&places, place(1)), 1);
    }
}
