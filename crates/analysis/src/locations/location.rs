//! Where code is, whatever process runs it: an image and an offset.

use super::address::Address;
use rprof_base::Avma;
use rprof_machine::{AddressLocation, Epoch, History};
use rprof_profile::Level;

/// A code location; sorts by image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location {
    /// Number of the image, or one of the pseudo images below.
    pub image: u32,
    /// Offset in its file, or for kernel code and unmapped addresses the address itself.
    pub address: u64,
}

/// Addresses that no mapping holds, by level.
pub(crate) const UNMAPPED_USER: u32 = u32::MAX;
pub(crate) const UNMAPPED_KERNEL: u32 = u32::MAX - 1;
pub(crate) const UNMAPPED_OTHER: u32 = u32::MAX - 2;
/// Frames that are missing.
pub(crate) const TRUNCATED: u32 = u32::MAX - 3;
/// Time in which no stack was sampled.
pub(crate) const NO_STACK: u32 = u32::MAX - 4;

impl Location {
    /// The location as stacks are counted by it: all addresses that no mapping holds are one, or the
    /// garbage of broken chains would fill the memory.
    pub fn in_stacks(self) -> Self {
        match self.image {
            UNMAPPED_USER | UNMAPPED_KERNEL | UNMAPPED_OTHER => Self { address: 0, ..self },
            _ => self,
        }
    }
}

/// Where an address points; no level stands for frames that are missing.
pub(super) fn location_of(
    history: &History,
    epoch: Epoch,
    level: Option<Level>,
    avma: Avma,
) -> Location {
    let Some(level) = level else {
        return Location {
            image: if avma == Address::NO_STACK.avma {
                NO_STACK
            } else {
                TRUNCATED
            },
            address: 0,
        };
    };
    let unmapped = |image| Location {
        image,
        address: avma.0,
    };
    let is_kernel = matches!(level, Level::Kernel | Level::GuestKernel);
    match history.resolve(epoch, avma) {
        // A hypervisor's code is in no recording.
        _ if level == Level::Hypervisor => unmapped(UNMAPPED_OTHER),
        AddressLocation::Kernel { image, avma } if is_kernel => Location {
            image: image.0,
            address: avma.0,
        },
        AddressLocation::User { image, offset } if !is_kernel => Location {
            image: image.0,
            address: offset.0,
        },
        _ => match level {
            Level::Kernel => unmapped(UNMAPPED_KERNEL),
            Level::User => unmapped(UNMAPPED_USER),
            _ => unmapped(UNMAPPED_OTHER),
        },
    }
}

/// Where an address points that is kernel or user by its mapping alone, as perf looks up those of branches.
pub(super) fn location_by_mapping(
    history: &History,
    [user, kernel]: [Epoch; 2],
    avma: Avma,
) -> Location {
    let found = [(user, Level::User), (kernel, Level::Kernel)]
        .into_iter()
        .map(|(epoch, level)| location_of(history, epoch, Some(level), avma))
        .find(|location| location.image < NO_STACK);
    found.unwrap_or(Location {
        image: UNMAPPED_OTHER,
        address: avma.0,
    })
}

/// Each of these once, sorted.
pub(crate) fn distinct<'a>(locations: impl Iterator<Item = &'a Location>) -> Vec<Location> {
    let mut all: Vec<Location> = locations.copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}
