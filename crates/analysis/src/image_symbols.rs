//! Where the names of a recording come from: for each image how much of it is named, by what, or
//! why not.

use crate::Error;
use crate::binaries::locate;
use crate::hints::hints;
use crate::index::{EmbeddedSymbols, SampleOrder};
use crate::locations::{Location, distinct};
use crate::pass::{
    GroupBy, Grouping, Progress, Query, WantedFrames, count_flat, find_locations, progress_of,
};
use crate::recording::Recording;
use crate::stacks::First;
use crate::symbolize::{Kernel, Symbols};
use foldhash::HashMap;
use rprof_images::{Elf, Located};
use rprof_locate::Locator;
use rprof_machine::{ImageId, ImageKind, RecordedImage};
use rprof_perfdata::Reader;
use rprof_profile::Filter;
use rprof_symbols::{Detail, Reason, Request};
use std::cell::OnceCell;

/// One image.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ImageSymbols {
    /// Its path, as the recording has it.
    pub path: String,
    /// Its build id, as the recording has it.
    pub build_id: Option<String>,
    /// Weight of the samples that were taken in it, all events together.
    pub weight: u64,
    /// That of samples at addresses without a name.
    pub unnamed_weight: u64,
    /// Distinct addresses in it, those of callers included.
    pub addresses: usize,
    /// Those that have a name.
    pub named: usize,
    /// The files that are used for it.
    pub files: Vec<String>,
    /// What names come from, and what else there is: `symtab`, `dynsym`, `inlines`, `lines`, `cfi`
    /// (of files); `map`, `jitdump`, `kallsyms`, `record`, `embedded`.
    pub sources: Vec<&'static str>,
    /// Why names are missing.
    pub reason: Option<String>,
    /// What would give them.
    pub hint: Option<String>,
}

/// All images of a recording.
#[derive(Clone, Debug, Default)]
pub struct RecordingSymbols {
    /// Weight of all samples.
    pub weight: u64,
    /// Images, the heaviest first.
    pub images: Vec<ImageSymbols>,
    /// What could not be used, one sentence each.
    pub warnings: Vec<String>,
}

/// Finds out where the names of each image come from.
///
/// # Errors
/// [`Error`] if the recording cannot be read.
pub fn load_symbols(
    reader: &Reader,
    locator: &Locator,
    progress: &mut Progress<'_>,
) -> Result<RecordingSymbols, Error> {
    let recording = Recording::open(reader, locator, SampleOrder::Any)?;
    let filter = Filter::default();
    let flat = Query::of(&recording, &filter, WantedFrames::Innermost, First::Own)?;
    let grouping = Grouping::of(&recording, &GroupBy::default())?;
    let flat = count_flat(&flat, &grouping, &mut |_| {})?;
    let weights = flat.weights();
    let query = Query::of(&recording, &filter, WantedFrames::All, First::Own)?;
    let n_chunks = recording.n_chunks();
    let mut done = |done| progress(progress_of(0.5, 0.4, done, n_chunks));
    let mut locations = find_locations(&query, |_, _| {}, &mut done)?.locations;
    locations.extend(weights.keys().map(|location| location.in_stacks()));
    let locations = distinct(locations.iter());
    let request = Request {
        detail: Detail::Inlines,
        ..Request::default()
    };
    let finding = Finding {
        embedded: EmbeddedSymbols::of_mapped(reader, &recording.index.history),
        recording: &recording,
        kernel: OnceCell::new(),
        symbols: query.symbolize(locations, request)?,
    };
    let mut images = finding.images(&weights);
    images.sort_by(|a, b| b.weight.cmp(&a.weight).then_with(|| a.path.cmp(&b.path)));
    let warnings = recording.warnings().chain(finding.symbols.warnings);
    Ok(RecordingSymbols {
        weight: weights
            .values()
            .fold(0, |sum, &one| sum.saturating_add(one)),
        images,
        warnings: warnings.chain(flat.ignored.warnings()).collect(),
    })
}

/// What was found, by image.
struct Finding<'a> {
    recording: &'a Recording<'a>,
    /// Read when one of its images is to be told of.
    kernel: OnceCell<Kernel<'a>>,
    embedded: EmbeddedSymbols,
    symbols: Symbols,
}

impl Finding<'_> {
    fn images(&self, weights: &HashMap<Location, u64>) -> Vec<ImageSymbols> {
        let all = self.recording.index.history.images();
        let mut by_image: HashMap<ImageId, &[Location]> = HashMap::default();
        for run in self.symbols.locations().chunk_by(|a, b| a.image == b.image) {
            if let Some(first) = run.first() {
                by_image.insert(ImageId(first.image), run);
            }
        }
        let own = |id| by_image.get(&id).copied().unwrap_or_default();
        let unnamed: Vec<_> = self.symbols.unnamed.iter().collect();
        let reasons: Vec<(&RecordedImage, &Reason)> = unnamed
            .iter()
            .filter_map(|(id, reason)| Some((all.of(*id)?, reason)))
            .collect();
        let hints = hints(self.recording, &reasons);
        let mut images: Vec<ImageSymbols> = all
            .iter()
            .map(|(id, image)| self.image((id, image), own(id), weights))
            .collect();
        for ((id, reason), hint) in unnamed.into_iter().zip(hints) {
            if let Some(image) = images.get_mut(id.0 as usize) {
                image.reason = Some(reason.to_string());
                image.hint = hint;
                if image.named == 0 {
                    image.sources.clear();
                }
            }
        }
        images.extend(self.outside(weights));
        images
    }

    fn image(
        &self,
        (id, image): (ImageId, &RecordedImage),
        locations: &[Location],
        weights: &HashMap<Location, u64>,
    ) -> ImageSymbols {
        let mut found = ImageSymbols {
            path: String::from_utf8_lossy(image.long_name()).into_owned(),
            build_id: image.build_id.as_ref().map(ToString::to_string),
            addresses: locations.len(),
            ..ImageSymbols::default()
        };
        for location in locations {
            let weight = weights.get(location).copied().unwrap_or(0);
            found.weight = found.weight.saturating_add(weight);
            if self.symbols.is_named(self.symbols.number(*location)) {
                found.named += 1
            } else {
                found.unnamed_weight = found.unnamed_weight.saturating_add(weight)
            }
        }
        if !locations.is_empty() {
            self.add_sources((id, image), locations, &mut found);
        }
        found
    }

    /// Files and what they have, in the order in which they are asked.
    fn add_sources(
        &self,
        (id, image): (ImageId, &RecordedImage),
        locations: &[Location],
        found: &mut ImageSymbols,
    ) {
        let n_known = self.embedded.n_known(image, locations);
        if n_known > 0 || self.embedded.lists(image) {
            found.sources.push("embedded");
        }
        if n_known == locations.len() || self.embedded.lists(image) {
            return;
        }
        match image.kind {
            ImageKind::User if image.process_of_map().is_some() => {
                found.sources.push("map");
                found.files.push(found.path.clone());
            }
            ImageKind::User if image.is_jitdump() => {
                found.sources.push("jitdump");
                found.files.push(found.path.clone());
            }
            ImageKind::User => {
                if let Ok(located) = locate(self.recording, id, image) {
                    add_files(&located, found);
                }
            }
            ImageKind::Kernel { .. } | ImageKind::Module { .. } => {
                let kernel = self.kernel.get_or_init(|| Kernel::of(self.recording));
                let (sources, files) = kernel.sources(image);
                found.sources.extend(sources);
                let shown = files.iter().map(|path| path.display().to_string());
                found.files.extend(shown);
            }
            // Its name is what the recording calls it.
            ImageKind::KernelSymbol | ImageKind::KernelFunction | ImageKind::OutOfLine => {
                found.sources.push("record");
            }
            ImageKind::GuestKernel | ImageKind::GuestUser => {
                found.reason = Some("guest code: its files are not here".to_owned());
            }
        }
    }

    /// Samples in no image at all.
    fn outside(&self, weights: &HashMap<Location, u64>) -> Option<ImageSymbols> {
        let images = self.recording.index.history.images();
        let outside = weights
            .iter()
            .filter(|(location, _)| images.of(ImageId(location.image)).is_none());
        let (addresses, weight) = outside.fold((0, 0u64), |(n, sum), (_, &weight)| {
            (n + 1, sum.saturating_add(weight))
        });
        (addresses > 0).then(|| ImageSymbols {
            path: "[unknown]".to_owned(),
            weight,
            unnamed_weight: weight,
            addresses,
            reason: Some("nothing was mapped there, according to the recording".to_owned()),
            ..ImageSymbols::default()
        })
    }
}

fn add_files(located: &Located, found: &mut ImageSymbols) {
    let mut all: Vec<&Elf> = vec![&located.binary];
    all.extend(&located.debug);
    let shown = |elf: &Elf| elf.path().display().to_string();
    found.files.extend(all.iter().map(|elf| shown(elf)));
    let has = |name: &str| all.iter().any(|elf| elf.has_section(name));
    let tables = if has(".symtab") {
        &[("symtab", ".symtab")][..]
    } else {
        &[("dynsym", ".dynsym")]
    };
    let sections = [
        ("inlines", ".debug_info"),
        ("lines", ".debug_line"),
        ("cfi", ".eh_frame"),
        ("cfi", ".debug_frame"),
    ];
    for (source, section) in tables.iter().chain(&sections) {
        if has(section) && !found.sources.contains(source) {
            found.sources.push(source);
        }
    }
    if located.mini().is_some() {
        found.sources.push("minidebuginfo");
    }
    if located.dwarf().is_none() && has(".gopclntab") {
        found.sources.push("gopclntab");
    }
    let others = [
        ("dwz", located.alternate()),
        (
            "dwp",
            located.split_files().and_then(|split| split.package()),
        ),
    ];
    for (source, file) in others {
        if let Some(file) = file {
            found.sources.push(source);
            found.files.push(shown(&file));
        }
    }
}
