//! Why functions have no code in a page.

use rprof_export::PageRefused;
use std::collections::{BTreeMap, BTreeSet};

/// A function whose code cannot be shown.
pub(super) struct Refused<Id> {
    /// The number of its image.
    pub(super) image: Id,
    /// Its name.
    pub(super) function: String,
    pub(super) why: String,
    /// Whether no other function of its image has code, for the same reason.
    pub(super) is_of_image: bool,
}

/// Why functions have no code. `images` are all that have samples, by number, with their names. Rows do not tell images of
/// one name apart: only if all of these have one reason is it that of each of their functions.
pub(super) fn refused_in_page<Id: Ord>(
    images: &BTreeMap<Id, String>,
    refused: Vec<Refused<Id>>,
) -> Vec<PageRefused> {
    let of_image = refused.iter().filter(|one| one.is_of_image);
    let of_image: BTreeMap<&Id, &str> =
        of_image.map(|one| (&one.image, one.why.as_str())).collect();
    let mut reasons: BTreeMap<&str, BTreeSet<Option<&str>>> = BTreeMap::new();
    for (id, name) in images {
        let why = of_image.get(id).copied();
        reasons.entry(name).or_default().insert(why);
    }
    let mut known = BTreeSet::new();
    let all = refused.iter().filter_map(|one| {
        let image = images.get(&one.image)?;
        let has_one_reason = reasons
            .get(image.as_str())
            .is_some_and(|why| why.len() == 1);
        let is_of_all = one.is_of_image && has_one_reason;
        let function = (!is_of_all).then(|| one.function.clone());
        let is_new = known.insert((image, function.clone()));
        is_new.then(|| PageRefused {
            image: image.clone(),
            function,
            why: one.why.clone(),
        })
    });
    all.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_of_one_name_share_a_reason_only_if_all_have_it() {
        let images = [
            (1, "libfoo.so"),
            (2, "libfoo.so"),
            (3, "[JIT] tid 7"),
            (4, "app"),
        ];
        let images = images.map(|(id, name)| (id, name.to_owned()));
        let images = BTreeMap::from(images);
        let one = |image, function: &str, why: &str, is_of_image| Refused {
            image,
            function: function.to_owned(),
            why: why.to_owned(),
            is_of_image,
        };
        let of = |refused: Vec<Refused<i32>>| -> Vec<(String, Option<String>, String)> {
            let refused = refused_in_page(&images, refused);
            let parts = refused.into_iter();
            parts
                .map(|one| (one.image, one.function, one.why))
                .collect()
        };
        let row = |image: &str, function: Option<&str>, why: &str| {
            (
                image.to_owned(),
                function.map(str::to_owned),
                why.to_owned(),
            )
        };
        let refused = vec![
            // The other image of its name has code.
            one(2, "f", "/b/libfoo.so: no file", true),
            one(3, "j", "no bytes", true),
            one(3, "k", "no bytes", true),
            one(4, "g", "no end", false),
        ];
        let expected = [
            row("libfoo.so", Some("f"), "/b/libfoo.so: no file"),
            row("[JIT] tid 7", None, "no bytes"),
            row("app", Some("g"), "no end"),
        ];
        assert_eq!(of(refused), expected);
        // Each has its own reason.
        let refused = vec![
            one(1, "f", "/a: no file", true),
            one(2, "g", "/b: no file", true),
        ];
        let expected = [
            row("libfoo.so", Some("f"), "/a: no file"),
            row("libfoo.so", Some("g"), "/b: no file"),
        ];
        assert_eq!(of(refused), expected);
        let refused = vec![one(1, "f", "no file", true), one(2, "g", "no file", true)];
        assert_eq!(of(refused), [row("libfoo.so", None, "no file")]);
    }
}
