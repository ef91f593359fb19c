//! Images of two sides that are one: by build id, by name, by name without version, and the program that was recorded.

use super::classes::{Sides, shared};
use super::{Side, SideFunctions};
use crate::StrId;
use foldhash::HashMap;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// What stands for all JIT code.
const JIT: &str = "[JIT]";

/// What an image is called on both sides: JIT code and the vdso have other names in each process.
fn name_by_kind(name: &str) -> &str {
    let is_jit = name.starts_with("[JIT]")
        || (name.starts_with("perf-") && name.ends_with(".map"))
        || (name.starts_with("jitted-") && name.ends_with(".so"))
        || (name.starts_with("jit-") && name.ends_with(".dump"));
    match name {
        _ if is_jit => JIT,
        "[vdso32]" | "[vdso64]" | "linux-vdso.so.1" | "linux-gate.so.1" => "[vdso]",
        _ => name.strip_suffix(" (deleted)").unwrap_or(name),
    }
}

/// What stands between the words of a file's name.
const SEPARATORS: [char; 5] = ['-', '_', '.', '+', '~'];

/// A file's name without versions and hashes: `libfoo.so.1.2` is `libfoo.so`, `prog-0123456789abcdef` is `prog`.
/// What is in brackets is no file.
pub fn unversioned(image: &str) -> Cow<'_, str> {
    let end = |text: &str| text.find(SEPARATORS).unwrap_or(text.len());
    let first = end(image);
    if image.starts_with('[') || first == 0 {
        return Cow::Borrowed(image);
    }
    let (begin, mut rest) = image.split_at(first);
    let mut out = begin.to_owned();
    while !rest.is_empty() {
        // All separators are one byte long.
        let (word, others) = rest.split_at(1 + end(&rest[1..]));
        if !is_version(&word[1..]) {
            out.push_str(word);
        }
        rest = others;
    }
    Cow::Owned(out)
}

/// Whether a word of a file's name is a number, or a hash.
fn is_version(word: &str) -> bool {
    let digits = word.strip_prefix('v').unwrap_or(word);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_hash = word.len() >= 7
        && word.bytes().all(|byte| byte.is_ascii_hexdigit())
        && word.contains(|c: char| c.is_ascii_digit());
    is_number || is_hash
}

/// An image of one side.
#[derive(Debug)]
struct SideImage<'a> {
    side: Side,
    name: &'a str,
    build_ids: BTreeSet<&'a str>,
    /// Own samples of its functions.
    samples: u64,
    class: Option<u32>,
}

/// Images that are one.
#[derive(Debug, Default)]
struct ImageClass {
    /// What it is called: after, if it is there.
    name: String,
    /// Whether all of them have one and the same build id: an address is the same in each.
    is_one_build: bool,
}

/// The images of all recordings, each in one class.
#[derive(Debug, Default)]
pub(super) struct ImageMatch {
    classes: Vec<ImageClass>,
    of: HashMap<(Side, String), u32>,
    /// A program that has other names before and after, and by nothing else was found to be the same.
    pub(super) renamed: Option<(String, String)>,
}

impl ImageMatch {
    pub(super) fn of(recordings: &[SideFunctions<'_>]) -> Self {
        let mut images = Classing {
            images: side_images(recordings),
            n_classes: 0,
        };
        images.by_name_and_build();
        images.by_build();
        images.by_key(|image| Some(image.name.to_owned()));
        images.by_key(|image| Some(unversioned(image.name).into_owned()));
        let renamed = images.by_program(recordings);
        Self {
            renamed,
            ..images.finish()
        }
    }

    /// What the images of a class are called.
    pub(super) fn name(&self, class: u32) -> &str {
        let class = self.classes.get(class as usize);
        class.map_or("[unknown]", |class| &class.name)
    }

    /// Whether a class is code that was made while programs ran.
    pub(super) fn is_jit(&self, class: u32) -> bool {
        self.name(class) == JIT
    }

    /// Whether addresses mean the same in all images of a class.
    pub(super) fn is_one_build(&self, class: u32) -> bool {
        let class = self.classes.get(class as usize);
        class.is_some_and(|class| class.is_one_build)
    }

    /// The class of an image of a side.
    pub(super) fn class(&self, side: Side, name: &str) -> u32 {
        let name = name_by_kind(name).to_owned();
        self.of.get(&(side, name)).copied().unwrap_or(u32::MAX)
    }
}

/// Images on their way to classes.
struct Classing<'a> {
    images: Vec<SideImage<'a>>,
    n_classes: u32,
}

/// The images that have functions, each once for its side, in the order of their names.
fn side_images<'a>(recordings: &[SideFunctions<'a>]) -> Vec<SideImage<'a>> {
    let mut images: BTreeMap<(&str, Side), (BTreeSet<&str>, u64)> = BTreeMap::new();
    for recording in recordings {
        let name = |id| name_by_kind(recording.strings.of(id).into_raw());
        let mut used: BTreeMap<StrId, u64> = BTreeMap::new();
        for function in recording.frames.ids() {
            let samples = used.entry(recording.frames.of(function).image).or_default();
            *samples = samples.saturating_add(recording.programs.samples_of(function));
        }
        for (image, samples) in used {
            let (_, sum) = images.entry((name(image), recording.side)).or_default();
            *sum = sum.saturating_add(samples);
        }
        for (image, build_id) in recording.images {
            if let Some((ids, _)) = images.get_mut(&(name(*image), recording.side)) {
                ids.extend(build_id.as_deref());
            }
        }
    }
    let image = |((name, side), (build_ids, samples))| SideImage {
        side,
        name,
        build_ids,
        samples,
        class: None,
    };
    images.into_iter().map(image).collect()
}

impl Classing<'_> {
    fn new_class(&mut self) -> u32 {
        self.n_classes += 1;
        self.n_classes - 1
    }

    /// Files that are the same, under the same name.
    fn by_name_and_build(&mut self) {
        let pairs = self.images.iter().flat_map(|image| {
            let ids = image.build_ids.iter();
            ids.map(|&id| (image.side, (image.name, id)))
        });
        let same: BTreeSet<&str> = shared(pairs).into_iter().map(|(name, _)| name).collect();
        self.by_key(|image| same.contains(image.name).then(|| image.name.to_owned()));
    }

    /// Images with a build id in common, directly or through others.
    fn by_build(&mut self) {
        let mut groups: HashMap<&str, Vec<usize>> = HashMap::default();
        let open = |(_, image): &(usize, &SideImage<'_>)| image.class.is_none();
        for (number, image) in self.images.iter().enumerate().filter(open) {
            for &id in &image.build_ids {
                groups.entry(id).or_default().push(number);
            }
        }
        let mut first: Vec<usize> = (0..self.images.len()).collect();
        let root = |first: &[usize], mut at: usize| {
            while first[at] != at {
                at = first[at];
            }
            at
        };
        for group in groups.values() {
            for pair in group.windows(2) {
                let (one, other) = (root(&first, pair[0]), root(&first, pair[1]));
                first[one.max(other)] = one.min(other);
            }
        }
        let roots: HashMap<(&str, Side), usize> = (0..self.images.len())
            .map(|number| {
                let image = &self.images[number];
                ((image.name, image.side), root(&first, number))
            })
            .collect();
        self.by_key(|image| roots.get(&(image.name, image.side)).copied());
    }

    /// Makes a class of images without one whose key both sides have.
    fn by_key<K: Eq + std::hash::Hash>(&mut self, key: impl Fn(&SideImage<'_>) -> Option<K>) {
        let open = self.images.iter().filter(|image| image.class.is_none());
        let both = shared(open.filter_map(|image| Some((image.side, key(image)?))));
        let mut classes: HashMap<K, u32> = HashMap::default();
        for number in 0..self.images.len() {
            let image = &self.images[number];
            let Some(key) = key(image).filter(|key| image.class.is_none() && both.contains(key))
            else {
                continue;
            };
            let class = match classes.get(&key) {
                Some(&class) => class,
                None => {
                    let class = self.new_class();
                    classes.insert(key, class);
                    class
                }
            };
            self.images[number].class = Some(class);
        }
    }

    /// If one program of each side is left, and no other has as many samples there, it is the one that was recorded,
    /// under another name.
    fn by_program(&mut self, recordings: &[SideFunctions<'_>]) -> Option<(String, String)> {
        let left = |side: Side| {
            let programs = self.images.iter().filter(|image| {
                let mut recorded = recordings.iter().filter(|one| one.side == side);
                image.side == side && recorded.any(|one| one.is_program(image.name))
            });
            let (left, known): (Vec<&SideImage<'_>>, Vec<_>) =
                programs.partition(|image| image.class.is_none());
            let most = known.iter().map(|image| image.samples).max().unwrap_or(0);
            match left[..] {
                [one] if one.samples > most => Some(one.name.to_owned()),
                _ => None,
            }
        };
        let (before, after) = (left(Side::Before)?, left(Side::After)?);
        self.by_key(|image| {
            let name = match image.side {
                Side::Before => &before,
                Side::After => &after,
            };
            (image.name == name).then_some(())
        });
        Some((before, after))
    }

    /// Those that are left are alone.
    fn finish(mut self) -> ImageMatch {
        let mut found = ImageMatch::default();
        let mut ids: Vec<BTreeSet<&str>> = Vec::new();
        for number in 0..self.images.len() {
            let class = match self.images[number].class {
                Some(class) => class,
                None => self.new_class(),
            };
            self.images[number].class = Some(class);
        }
        found
            .classes
            .resize_with(self.n_classes as usize, || ImageClass {
                is_one_build: true,
                ..ImageClass::default()
            });
        ids.resize(self.n_classes as usize, BTreeSet::new());
        let mut sides = vec![Sides::default(); self.n_classes as usize];
        for image in &self.images {
            let class = image.class.unwrap_or_default();
            let (of, at) = (&mut found.classes[class as usize], class as usize);
            let is_better = image.side == Side::After && !sides[at].after;
            if of.name.is_empty() || is_better {
                image.name.clone_into(&mut of.name);
            }
            sides[at].add(image.side);
            of.is_one_build &= image.build_ids.len() == 1;
            ids[at].extend(&image.build_ids);
            of.is_one_build &= ids[at].len() == 1;
            let key = (image.side, image.name.to_owned());
            found.of.insert(key, class);
        }
        found
    }
}

#[cfg(test)]
mod tests;
