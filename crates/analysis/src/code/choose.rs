//! A function by its name.

use super::found::FoundFunction;
use super::inlined::InlinedFunction;
use super::parts::{Part, base_of_cold, named};
use super::recording::CodeRecording;
use super::wanted::WantedFunction;
use rprof_images::Located;
use rprof_machine::{ImageId, ImageKind, RecordedImage};
use rprof_profile::{Level, SampleCount};
use rprof_symbols::Demangling;
use std::cmp::Reverse;
use std::num::NonZeroU32;

/// No function, or several, are meant by a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChoiceError {
    /// None has it. What is known, the heaviest first.
    Unknown(Vec<String>),
    /// These have it, but none of them begins where the one that is asked for should.
    Elsewhere(Vec<FoundFunction>),
    /// These have it.
    Several(Vec<FoundFunction>),
    /// It has no code of its own: it was inlined.
    Inlined(InlinedFunction),
}

/// Functions that may be meant.
type Step<R> = fn(&R, &WantedFunction) -> Vec<FoundFunction>;

/// Images that are searched for a function without samples.
const MOST_SEARCHED: usize = 64;

impl CodeRecording<'_> {
    /// The function that is meant: one with samples, by its name, as a clone (`name.isra.0`) or by a pattern; else one
    /// of an image that has samples, by its name in the file or its short form.
    ///
    /// # Errors
    /// [`ChoiceError`].
    pub fn choose(&self, wanted: &WantedFunction) -> Result<FoundFunction, ChoiceError> {
        let mut elsewhere: Vec<FoundFunction> = Vec::new();
        let steps: [Step<Self>; 4] = [
            Self::of_name,
            Self::of_clones,
            Self::of_pattern,
            Self::in_files,
        ];
        for step in steps {
            let found = step(self, wanted).into_iter();
            let (here, others): (Vec<_>, Vec<_>) = found.partition(|one| wanted.is_start(one));
            if !here.is_empty() {
                return one_of(here);
            }
            for other in others {
                let place = (other.image_id, other.start);
                let mut known = elsewhere.iter().map(|one| (one.image_id, one.start));
                if !known.any(|one| one == place) {
                    elsewhere.push(other);
                }
            }
        }
        if !elsewhere.is_empty() {
            return Err(ChoiceError::Elsewhere(elsewhere));
        }
        if let Some(inlined) = self.inlined(wanted) {
            return Err(ChoiceError::Inlined(inlined));
        }
        let names = self.functions().iter().map(|one| one.name.clone());
        Err(ChoiceError::Unknown(names.collect()))
    }

    /// Whether a function of this name is in an image that has samples: it may have none itself.
    pub fn has_function(&self, name: &str) -> bool {
        let wanted = WantedFunction::named(name);
        !self.of_name(&wanted).is_empty() || !self.in_files(&wanted).is_empty()
    }

    fn of_name(&self, wanted: &WantedFunction) -> Vec<FoundFunction> {
        let readable = self.options.demangling.of(wanted.name.as_bytes());
        self.with_samples(&|name| name == wanted.name || name == readable)
    }

    /// `name.constprop.0`, `name.isra.0`.
    fn of_clones(&self, wanted: &WantedFunction) -> Vec<FoundFunction> {
        self.with_samples(&|name| {
            let rest = name.strip_prefix(&wanted.name);
            rest.is_some_and(|rest| rest.starts_with('.'))
        })
    }

    fn of_pattern(&self, wanted: &WantedFunction) -> Vec<FoundFunction> {
        self.with_samples(&|name| wanted.accepts(name))
    }

    fn with_samples(&self, is_wanted: &dyn Fn(&str) -> bool) -> Vec<FoundFunction> {
        let all = self.functions().iter();
        all.filter(|one| is_wanted(&one.name)).cloned().collect()
    }

    /// Functions of this name in files of images that have samples; those with samples of their own, too.
    fn in_files(&self, wanted: &WantedFunction) -> Vec<FoundFunction> {
        let mut images: Vec<ImageId> = Vec::new();
        for function in self.functions() {
            if !images.contains(&function.image_id) && images.len() < MOST_SEARCHED {
                images.push(function.image_id);
            }
        }
        let mut found = Vec::new();
        for id in images {
            let Some(image) = self.recording.index.history.images().of(id) else {
                continue;
            };
            if image.kind != ImageKind::User || image.is_jit_code() {
                continue;
            }
            let path = String::from_utf8_lossy(image.long_name()).into_owned();
            if !self.options.filter.dsos.accepts(&[&path, file_name(&path)]) {
                continue;
            }
            if let Ok(located) = self.located(id, image) {
                found.extend(self.in_file(wanted, (id, image), &located));
            }
        }
        found
    }

    fn in_file(
        &self,
        wanted: &WantedFunction,
        (id, image): (ImageId, &RecordedImage),
        located: &Located,
    ) -> Vec<FoundFunction> {
        let demangling = self.options.demangling;
        let readable = demangling.of(wanted.name.as_bytes());
        let is_wanted = |symbol: &str| {
            let may_be_mangled = symbol.starts_with("_Z") || symbol.starts_with("_R");
            let is_readable = || {
                let short = Demangling::Short.of(symbol.as_bytes());
                short == wanted.name
                    || demangling.of(symbol.as_bytes()) == readable
                    || is_part(symbol, &wanted.name)
            };
            symbol == wanted.name || may_be_mangled && is_readable()
        };
        let cold = self.cold_parts(id, located);
        let function = |found: Part| {
            // A part stands for its function.
            let whole = cold.function(found.address);
            let base = base_of_cold(&found.symbol).filter(|_| whole.is_some());
            let symbol = base.unwrap_or(&found.symbol);
            let (start, size) = whole.unwrap_or((found.address, found.size));
            let mut sampled = self.functions().iter();
            if let Some(one) = sampled.find(|one| (one.image_id, one.start) == (id, start)) {
                return one.clone();
            }
            let size = NonZeroU32::new(u32::try_from(size).unwrap_or(u32::MAX));
            FoundFunction {
                name: demangling.of(symbol.as_bytes()),
                image: String::from_utf8_lossy(image.long_name()).into_owned(),
                start,
                is_jit: false,
                level: Level::User,
                own: vec![SampleCount::default(); self.events.len()],
                image_id: id,
                size,
                is_named: size.is_some(),
                locations: Vec::new(),
            }
        };
        let mut found: Vec<FoundFunction> = Vec::new();
        for one in named(located, &is_wanted).into_iter().map(function) {
            if !found.iter().any(|known| known.start == one.start) {
                found.push(one);
            }
        }
        found
    }
}

pub(super) fn weights(own: &[SampleCount]) -> Vec<u64> {
    own.iter().map(|count| count.weight).collect()
}

/// Whether a symbol is of a cold part of this name, as it is shown: a readable name with the suffix behind it.
fn is_part(symbol: &str, name: &str) -> bool {
    let Some(base) = base_of_cold(symbol) else {
        return false;
    };
    let suffix = symbol.get(base.len()..).unwrap_or_default();
    name.strip_suffix(suffix) == Some(&Demangling::Short.of(base.as_bytes()))
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The only one; several, the heaviest first.
fn one_of(mut found: Vec<FoundFunction>) -> Result<FoundFunction, ChoiceError> {
    found.sort_by_key(|one| Reverse(weights(&one.own)));
    match found.pop() {
        Some(only) if found.is_empty() => Ok(only),
        last => Err(ChoiceError::Several(
            found.into_iter().chain(last).collect(),
        )),
    }
}
