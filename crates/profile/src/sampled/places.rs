//! Where samples were taken.

/// A place in the code of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SamplePlace {
    /// The number of its image, which is the same whenever the recording is read.
    pub image: u32,
    /// Offset in the image's file; of the kernel's code the address in memory.
    pub address: u64,
}

/// Where each sample was taken, as far as that was asked for.
#[derive(Clone, Debug, Default)]
pub struct SamplePlaces {
    places: Vec<SamplePlace>,
    /// By index of the sample; [`NONE`] where it is not known.
    numbers: Vec<u32>,
}

/// Instead of the number of a place.
const NONE: u32 = u32::MAX;

impl SamplePlaces {
    /// Places by number, and the number of each sample's; what has none has a number that no place has.
    pub fn new(places: Vec<SamplePlace>, numbers: Vec<u32>) -> Self {
        Self { places, numbers }
    }

    /// Whether nothing is known of any sample.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// All places, by number.
    pub fn places(&self) -> &[SamplePlace] {
        &self.places
    }

    /// The number of a sample's place.
    #[inline]
    pub fn number(&self, sample: u32) -> Option<u32> {
        let number = self.numbers.get(sample as usize).copied();
        number.filter(|&number| number != NONE)
    }
}
