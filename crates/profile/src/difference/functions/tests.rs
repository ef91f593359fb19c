//! Functions of two builds; what must be true of any.

use super::*;
use crate::difference::{Programs, Side};
use crate::{FrameInfo, Profile, testing};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A profile with functions `image!name`; `image!+name` is inlined, `image!@5` a function without name.
fn recording(functions: &[String]) -> Profile {
    let mut profile = Profile::default();
    for function in functions {
        let (image, name) = function.split_once('!').unwrap();
        let mut frame = testing::function(&mut profile, name.trim_start_matches('+'), image);
        frame.is_inlined = name.starts_with('+');
        if let Some(start) = name.strip_prefix('@') {
            frame = FrameInfo {
                name: None,
                start: start.parse().ok(),
                is_fde: true,
                ..frame
            };
        }
        profile.frames.intern(frame);
    }
    profile
}

fn matched(recordings: &[(Side, &Profile)]) -> FunctionMatch {
    let programs = Programs::default();
    let recordings = recordings.iter().map(|&(side, profile)| SideFunctions {
        side,
        frames: &profile.frames,
        strings: &profile.strings,
        images: &[],
        programs: &programs,
    });
    FunctionMatch::of(&recordings.collect::<Vec<_>>())
}

/// The functions of each side, by what they are called.
fn rows(before: &[&str], after: &[&str]) -> Vec<String> {
    let of = |names: &[&str]| {
        let names = names.iter().map(|name| format!("prog!{name}"));
        recording(&names.collect::<Vec<_>>())
    };
    let (before, after) = (of(before), of(after));
    let matched = matched(&[(Side::Before, &before), (Side::After, &after)]);
    let functions = matched.functions().iter();
    let row = |function: &MatchedFunction| {
        let sign = match function.sides {
            Sides {
                before: true,
                after: true,
            } => "",
            Sides { before: true, .. } => "-",
            _ => "+",
        };
        format!("{sign}{}", function.label)
    };
    functions.map(row).collect()
}

#[test]
fn names_that_are_equal_decide() {
    let all = [
        "a<int>",
        "a<long>",
        "f{lambda()#1}",
        "f{lambda()#2}",
        "g.cold",
        "g",
    ];
    let mut same = rows(&all, &all);
    same.sort_unstable();
    let mut all = all;
    all.sort_unstable();
    assert_eq!(same, all);
}

#[test]
fn parts_that_one_side_has_otherwise_are_one_function() {
    assert_eq!(rows(&["g", "g.cold"], &["g"]), ["g"]);
    assert_eq!(rows(&["g.isra.0"], &["g.constprop.0"]), ["g"]);
    assert_eq!(rows(&["g.cold"], &["h"]), ["-g.cold", "+h"]);
    let hashes = ["a::b::h0123456789abcdef", "a::b::hfedcba9876543210"];
    assert_eq!(rows(&hashes[..1], &hashes[1..]), ["a::b"]);
}

#[test]
fn renamed_is_what_has_no_name_in_common() {
    let renamed = |before: &[&str], after: &[&str]| {
        let of = |names: &[&str]| {
            let names = names.iter().map(|name| format!("prog!{name}"));
            recording(&names.collect::<Vec<_>>())
        };
        let (before, after) = (of(before), of(after));
        let both = matched(&[(Side::Before, &before), (Side::After, &after)]);
        let functions = both.functions().iter();
        functions.map(|one| one.is_renamed).collect::<Vec<_>>()
    };
    assert_eq!(renamed(&["f", "f.part.0"], &["f"]), [false]);
    assert_eq!(renamed(&["f"], &["f"]), [false]);
    assert_eq!(renamed(&["f.isra.0"], &["f.constprop.0"]), [true]);
    assert_eq!(renamed(&["f"], &["g"]), [false, false]);
}

#[test]
fn methods_that_are_called_as_parts_are_others() {
    assert_eq!(
        rows(&["Pool.exit"], &["Pool.clone"]),
        ["+Pool.clone", "-Pool.exit"]
    );
    assert_eq!(
        rows(&["Pool.cold"], &["Pool.hot"]),
        ["-Pool.cold", "+Pool.hot"]
    );
    let jit = ["[JIT] tid 1!f.part.0".into(), "[JIT] tid 1!f".into()];
    let (before, after) = (recording(&jit[..1]), recording(&jit[1..]));
    let both = matched(&[(Side::Before, &before), (Side::After, &after)]);
    assert_eq!(both.functions().len(), 2);
}

#[test]
fn what_is_left_is_matched_by_its_name_in_the_source() {
    assert_eq!(
        rows(&["a<int>", "a<long>"], &["a<int>", "a<char>"]),
        ["a<...>", "a<int>"]
    );
    assert_eq!(
        rows(&["a<int>", "a<long>"], &["a<int>"]),
        ["a<int>", "-a<long>"]
    );
    assert_eq!(
        rows(&["f::{closure#1}"], &["f::{closure#2}", "f::{closure#3}"]),
        ["f::{closure}"]
    );
    assert_eq!(
        rows(&["A<u8>::operator<"], &["A<u8>::operator<="]),
        ["-A<u8>::operator<", "+A<u8>::operator<="]
    );
}

#[test]
fn inlined_functions_are_those_that_are_called() {
    assert_eq!(rows(&["+f"], &["f"]), ["f"]);
    let (before, after) = (recording(&["p!+f".into()]), recording(&["p!+f".into()]));
    let both = matched(&[(Side::Before, &before), (Side::After, &after)]);
    assert_eq!(both.functions()[0].symbol(), "[.] f (inlined)");
}

#[test]
fn functions_without_names_are_matched_by_address_in_one_build_only() {
    let profile = recording(&["p!@16".into(), "p!@32".into()]);
    let id = profile.frames.of(FrameId::from_number(0)).image;
    let labels = |before: &str, after: &str| {
        let build = |id_text: &str| vec![(id, Some(id_text.to_owned()))];
        let (before, after) = (build(before), build(after));
        let programs = Programs::default();
        let recorded = |side, images| SideFunctions {
            side,
            frames: &profile.frames,
            strings: &profile.strings,
            images,
            programs: &programs,
        };
        let recordings = [
            recorded(Side::Before, &before),
            recorded(Side::After, &after),
        ];
        let matched = FunctionMatch::of(&recordings);
        let labels = matched
            .functions()
            .iter()
            .map(|one| one.label.raw().to_owned());
        labels.collect::<Vec<_>>()
    };
    assert_eq!(labels("ab", "ab"), ["[p+0x10]", "[p+0x20]"]);
    assert_eq!(labels("ab", "cd"), ["[unknown] (p)"]);
}

fn functions() -> impl Strategy<Value = Vec<String>> {
    let name = "[+]?[ab](<(int|long)>)?(::\\{closure#[12]\\})?(\\.cold|\\.isra\\.[01])?";
    let name = prop_oneof![name, "@[1-3]"];
    let image = prop::sample::select(vec!["p", "p-1", "p-2", "[k]", "[JIT] tid 1", "[JIT] tid 2"]);
    let function = (image, name).prop_map(|(image, name)| format!("{image}!{name}"));
    prop::collection::vec(function, 0..12)
}

/// Sets of functions, as side and number in its list, with what each set is called.
fn classes(
    matched: &FunctionMatch,
    lists: [&[String]; 2],
) -> BTreeMap<BTreeSet<(usize, String)>, String> {
    let mut classes: BTreeMap<u32, BTreeSet<(usize, String)>> = BTreeMap::new();
    for (side, list) in lists.into_iter().enumerate() {
        let profile = recording(list);
        for function in list {
            let single = recording(std::slice::from_ref(function));
            let wanted = single
                .frames
                .label(FrameId::from_number(0), &single.strings);
            let image = single
                .strings
                .of(single.frames.of(FrameId::from_number(0)).image);
            let id = profile.frames.ids().find(|&id| {
                let frame = profile.frames.of(id);
                profile.frames.label(id, &profile.strings) == wanted
                    && profile.strings.of(frame.image).raw() == image.raw()
            });
            let number = matched.number(side, id.unwrap()).unwrap();
            classes
                .entry(number)
                .or_default()
                .insert((side, function.clone()));
        }
    }
    let named = classes.into_iter().map(|(number, set)| {
        let function = &matched.functions()[number as usize];
        (set, function.symbol())
    });
    named.collect()
}

proptest! {
    #[test]
    fn each_function_is_in_one_class_and_a_side_says_if_it_is_there(before in functions(), after in functions()) {
        let profiles = [recording(&before), recording(&after)];
        let matched = matched(&[(Side::Before, &profiles[0]), (Side::After, &profiles[1])]);
        let mut seen = vec![Sides::default(); matched.functions().len()];
        for (side, profile) in profiles.iter().enumerate() {
            for id in profile.frames.ids() {
                let number = matched.number(side, id).unwrap() as usize;
                seen[number].add([Side::Before, Side::After][side]);
            }
        }
        let said: Vec<Sides> = matched.functions().iter().map(|one| one.sides).collect();
        prop_assert_eq!(seen, said);
    }

    #[test]
    fn a_side_against_itself_has_no_one_sided_function(list in functions()) {
        let profile = recording(&list);
        let matched = matched(&[(Side::Before, &profile), (Side::After, &profile)]);
        for id in profile.frames.ids() {
            prop_assert_eq!(matched.number(0, id), matched.number(1, id));
        }
        prop_assert!(matched.functions().iter().all(|one| one.sides.are_both()));
    }

    #[test]
    fn neither_order_nor_side_decides(before in functions(), after in functions()) {
        let forwards = [recording(&before), recording(&after)];
        let of = |pair: &[Profile; 2]| matched(&[(Side::Before, &pair[0]), (Side::After, &pair[1])]);
        let matched_forwards = of(&forwards);
        let mut turned = [before.clone(), after.clone()];
        turned.iter_mut().for_each(|list| list.reverse());
        let reversed = [recording(&turned[0]), recording(&turned[1])];
        let expected = classes(&matched_forwards, [&before, &after]);
        let names = |matched: &FunctionMatch| -> Vec<String> {
            matched.functions().iter().map(MatchedFunction::symbol).collect()
        };
        prop_assert_eq!(names(&matched_forwards), names(&of(&reversed)));
        prop_assert_eq!(&expected, &classes(&of(&reversed), [&turned[0], &turned[1]]));
        let swapped = matched(&[(Side::After, &forwards[0]), (Side::Before, &forwards[1])]);
        let sets = |classes: BTreeMap<BTreeSet<(usize, String)>, String>| -> Vec<_> { classes.into_keys().collect() };
        prop_assert_eq!(sets(expected), sets(classes(&swapped, [&before, &after])));
    }
}
