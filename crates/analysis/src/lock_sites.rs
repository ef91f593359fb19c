//! Where locks are, whatever process has them, and what they are called: those in static data by the symbol of that.

use crate::binaries::locate;
use crate::locations::Mappings;
use crate::recording::Recording;
use crate::symbolize::KernelData;
use foldhash::HashMap;
use rprof_base::{Avma, DataPlace};
use rprof_machine::{History, ImageId};
use rprof_symbols::{Demangling, name_data};
use rprof_untrusted::printable;
use std::collections::BTreeMap;

/// A lock: in static data, the same in all processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LockSite {
    pub(crate) avma: u64,
    /// The object that it may be in.
    object: Option<(ImageId, DataPlace)>,
}

/// Addresses of user space are lower, on 64-bit machines.
const FIRST_OF_KERNEL: u64 = 1 << 63;

impl LockSite {
    /// By its address in a task.
    pub(crate) fn of(history: &History, mappings: Mappings, avma: u64) -> Self {
        if avma >= FIRST_OF_KERNEL {
            return Self::of_kernel(avma);
        }
        let object = history.data_place(mappings.user(), Avma(avma));
        Self { avma, object }
    }

    pub(crate) fn of_kernel(avma: u64) -> Self {
        Self { avma, object: None }
    }
}

/// The names of some locks.
#[derive(Debug, Default)]
pub(crate) struct LockNames(HashMap<LockSite, String>);

impl LockNames {
    pub(crate) fn of(
        recording: &Recording<'_>,
        sites: &[LockSite],
        demangling: Demangling,
    ) -> Self {
        let mut by_image: BTreeMap<u32, Vec<(LockSite, DataPlace)>> = BTreeMap::new();
        let mut of_kernel = Vec::new();
        for &site in sites {
            match site.object {
                Some((image, place)) => by_image.entry(image.0).or_default().push((site, place)),
                None if site.avma >= FIRST_OF_KERNEL => of_kernel.push(site),
                None => {}
            }
        }
        let mut names = Self::default();
        for (image, places) in by_image {
            names.add(recording, ImageId(image), &places, demangling);
        }
        if !of_kernel.is_empty() {
            let data = KernelData::of(recording);
            let named = of_kernel.into_iter();
            let named = named.filter_map(|site| Some((site, data.name(site.avma)?)));
            names.0.extend(named);
        }
        names
    }

    /// Those of one image.
    fn add(
        &mut self,
        recording: &Recording<'_>,
        id: ImageId,
        places: &[(LockSite, DataPlace)],
        demangling: Demangling,
    ) {
        let image = recording.index.history.images().of(id);
        let located = image.and_then(|image| locate(recording, id, image).ok());
        let Some(located) = located else {
            return;
        };
        let data = located.binary.static_data();
        let known = places
            .iter()
            .filter_map(|(site, place)| Some((*site, data.svma(*place)?)));
        let (sites, addresses): (Vec<_>, Vec<_>) = known.unzip();
        let named = name_data(&located, &addresses, demangling);
        let named = sites.into_iter().zip(named).filter_map(|(site, named)| {
            let named = named?;
            let name = printable(&named.name);
            let text = match named.offset {
                0 => name.into_owned(),
                offset => format!("{name}+{offset:#x}"),
            };
            Some((site, text))
        });
        self.0.extend(named);
    }

    /// That of a lock; `None` if it is in no object with a name.
    pub(crate) fn name(&self, site: LockSite) -> Option<&str> {
        self.0.get(&site).map(String::as_str)
    }
}
