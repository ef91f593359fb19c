//! A function by its name.

use super::found::FoundFunction;
use super::parts::named;
use super::recording::CodeRecording;
use rprof_machine::{ImageId, ImageKind};
use rprof_profile::{Level, NameList, SampleCount};
use std::num::NonZeroU32;

/// No function, or several, are meant by a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChoiceError {
    /// None has it. What is known, the heaviest first.
    Unknown(Vec<String>),
    /// These have it.
    Several(Vec<FoundFunction>),
}

/// Images that are searched for a function without samples.
const MOST_SEARCHED: usize = 64;

impl CodeRecording<'_> {
    /// The function that is meant by a name: one with samples, by its name as it is shown or mangled, with `@0xstart`
    /// behind it if need be; or by a pattern as filters have them. Else one without samples, of an image that has some.
    ///
    /// # Errors
    /// [`ChoiceError`].
    pub fn choose(&self, wanted: &str) -> Result<FoundFunction, ChoiceError> {
        let (name, start) = match wanted.rsplit_once('@') {
            Some((name, start)) if hex(start).is_some() => (name, hex(start)),
            _ => (wanted, None),
        };
        let readable = self.options.demangling.of(name.as_bytes());
        let is_start =
            |function: &&FoundFunction| start.is_none_or(|start| function.start == start);
        let all = || self.functions().iter().filter(is_start);
        let exact: Vec<&FoundFunction> = all()
            .filter(|one| one.name == name || one.name == readable)
            .collect();
        if !exact.is_empty() {
            return one_of(exact);
        }
        // `name.constprop.0`, `name.isra.0`.
        let is_clone = |one: &&FoundFunction| {
            let rest = one.name.strip_prefix(name);
            rest.is_some_and(|rest| rest.starts_with('.'))
        };
        let clones: Vec<&FoundFunction> = all().filter(is_clone).collect();
        if !clones.is_empty() {
            return one_of(clones);
        }
        let pattern = NameList::parse(name, |_| Ok(String::new())).unwrap_or_default();
        let matching: Vec<&FoundFunction> = match pattern.is_empty() {
            true => Vec::new(),
            false => all().filter(|one| pattern.accepts(&[&one.name])).collect(),
        };
        if !matching.is_empty() {
            return one_of(matching);
        }
        let without = self.without_samples(name, &readable);
        let without: Vec<&FoundFunction> = without.iter().filter(is_start).collect();
        if !without.is_empty() {
            return one_of(without);
        }
        Err(ChoiceError::Unknown(
            self.functions()
                .iter()
                .map(|one| one.name.clone())
                .collect(),
        ))
    }

    /// Whether an image that has samples has a function of this name, whether it has some itself or not.
    pub fn has_function(&self, name: &str) -> bool {
        let readable = self.options.demangling.of(name.as_bytes());
        let mut known = self.functions().iter();
        known.any(|one| one.name == name || one.name == readable)
            || !self.without_samples(name, &readable).is_empty()
    }

    /// Functions of this name in images that have samples.
    fn without_samples(&self, name: &str, readable: &str) -> Vec<FoundFunction> {
        let mut images: Vec<ImageId> = Vec::new();
        for function in self.functions() {
            if !images.contains(&function.image_id) && images.len() < MOST_SEARCHED {
                images.push(function.image_id);
            }
        }
        let demangling = self.options.demangling;
        let is_wanted = |symbol: &str| {
            let may_be_mangled = symbol.starts_with("_Z") || symbol.starts_with("_R");
            symbol == name || may_be_mangled && demangling.of(symbol.as_bytes()) == readable
        };
        let mut found = Vec::new();
        for id in images {
            let Some(image) = self.recording.index.history.images().of(id) else {
                continue;
            };
            if image.kind != ImageKind::User || image.is_jit_code() {
                continue;
            }
            let Ok(located) = self.files(id, image) else {
                continue;
            };
            let path = String::from_utf8_lossy(image.long_name()).into_owned();
            if !self.options.filter.dsos.accepts(&[&path, file_name(&path)]) {
                continue;
            }
            for (start, size) in named(&located, &is_wanted) {
                let size = NonZeroU32::new(u32::try_from(size).unwrap_or(u32::MAX));
                found.push(FoundFunction {
                    name: readable.to_owned(),
                    image: path.clone(),
                    start,
                    level: Level::User,
                    own: vec![SampleCount::default(); self.events.len()],
                    image_id: id,
                    size,
                    is_named: size.is_some(),
                    locations: Vec::new(),
                });
            }
        }
        found
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

fn one_of(found: Vec<&FoundFunction>) -> Result<FoundFunction, ChoiceError> {
    match found.as_slice() {
        [only] => Ok((*only).clone()),
        several => Err(ChoiceError::Several(
            several.iter().map(|one| (*one).clone()).collect(),
        )),
    }
}
