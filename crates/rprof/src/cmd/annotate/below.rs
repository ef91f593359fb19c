//! A function without samples of its own: which functions that it calls have them.

use super::super::next::words_of;
use super::super::reading::read;
use crate::args::AnnotateArgs;
use rprof_analysis::{ChoiceError, CodeRecording, FoundFunction, Options, WantedFunction};
use rprof_base::Share;
use rprof_perfdata::Reader;
use rprof_profile::{FilterError, Level, NodeKey, Profile};
use rprof_untrusted::quoted;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ffi::OsStr;

/// Functions that are named at most.
const N_NAMED: usize = 3;

/// Functions whose code is looked for at most, to suggest the command that shows it.
const N_TRIED: usize = 8;

/// What a function calls, directly or not.
#[derive(Debug, PartialEq, Eq)]
struct Below {
    /// The weight of all samples of the event.
    all: u64,
    /// That of samples below the function.
    weight: u64,
    /// Functions with names there, the heaviest first.
    functions: Vec<Called>,
}

/// A function that is called: functions of one name in several images are several.
#[derive(Debug, PartialEq, Eq)]
struct Called {
    name: String,
    /// Its image, as tables name it.
    image: String,
    level: Level,
    /// The weight of its own samples.
    own: u64,
}

/// What is said of a function without samples of its own: what has those that it is a caller of, and, if all samples
/// count, the command that shows the code. `None` if nobody knows.
pub(super) fn sentence(
    args: &AnnotateArgs,
    reader: &Reader,
    recording: &CodeRecording<'_>,
    name: &str,
) -> Option<String> {
    let filter = args.samples.filter();
    // These count in another way than by one recording's stacks, or leave out what is called.
    if !args.caller.is_empty() || !args.recordings().others().is_empty() || filter.has_functions() {
        return None;
    }
    let which = if filter.accepts_all() {
        ""
    } else {
        " that match the filters"
    };
    let none = format!("{name} has no samples of its own{which}");
    if !reader.has_call_chains() {
        let record = "record with rprof record -g to see what it calls";
        return Some(format!("{none}: {record}"));
    }
    let options = Options {
        nodes: NodeKey::Function,
        stacks: true,
        fde: !args.fde.no_fde,
        ..args.samples.options(reader)
    };
    let below = Below::of(&read(reader, &options).ok()?, name)?;
    let mut said = format!("{none}; {}", below.text());
    // Another command would show what the filters leave out.
    if !filter.leaves_out() {
        let input = words_of(&args.recordings());
        let shown = input.and_then(|input| Some((input, below.to_show(recording)?)));
        if let Some((input, shown)) = shown {
            said += &format!(
                "; next: rprof annotate{input} {}",
                quoted(OsStr::new(&shown))
            );
        }
    }
    Some(said)
}

impl Below {
    /// Of the first event with such samples.
    fn of(profile: &Profile, name: &str) -> Option<Self> {
        let text = |name| profile.strings.of(name).into_raw();
        let named = |frame| profile.frames.of(frame).name.map(text);
        let is_it = |frame| named(frame).is_some_and(|own| own == name);
        profile.events.iter().find_map(|event| {
            let nodes = event.tree.nodes();
            let mut is_below = Vec::with_capacity(nodes.len());
            let mut weight = 0u64;
            let mut functions: BTreeMap<(&str, &str, Level), u64> = BTreeMap::new();
            for node in nodes {
                let outer = node.parent.map(|parent| &nodes[parent as usize]);
                let is_called = node.parent.is_some_and(|parent| is_below[parent as usize])
                    || outer.is_some_and(|outer| is_it(outer.frame));
                is_below.push(is_called);
                if !is_called || is_it(node.frame) {
                    continue;
                }
                weight = weight.saturating_add(node.self_weight);
                if let Some(own) = named(node.frame).filter(|_| node.self_weight > 0) {
                    let frame = profile.frames.of(node.frame);
                    let function = (own, text(frame.image), frame.level);
                    let sum = functions.entry(function).or_default();
                    *sum = sum.saturating_add(node.self_weight);
                }
            }
            let functions = functions.into_iter();
            let functions = functions.map(|((name, image, level), own)| Called {
                name: name.to_owned(),
                image: image.to_owned(),
                level,
                own,
            });
            let mut functions: Vec<_> = functions.collect();
            functions.sort_by_key(|one| Reverse(one.own));
            (weight > 0).then_some(Self {
                all: event.weight,
                weight,
                functions,
            })
        })
    }

    /// In words.
    fn text(&self) -> String {
        let share = |weight| Share::of(weight, self.all);
        let is_of_name = |one: &&Called, name: &str| one.name == name;
        let named = self.functions.iter().take(N_NAMED).map(|one| {
            let all = self.functions.iter();
            match all.filter(|other| is_of_name(other, &one.name)).count() {
                1 => format!("{} {}%", one.name, share(one.own)),
                _ => format!("{} ({}) {}%", one.name, one.image, share(one.own)),
            }
        });
        let mut named: Vec<String> = named.collect();
        if self.functions.len() > N_NAMED {
            named.push("...".to_owned());
        }
        let said = format!("what it calls has {}%", share(self.weight));
        if named.is_empty() {
            said
        } else {
            format!("{said}: {}", named.join(", "))
        }
    }

    /// What `annotate` is asked for to show the hottest function that has code: of a program, for its code is there more
    /// often than the kernel's.
    fn to_show(&self, recording: &CodeRecording<'_>) -> Option<String> {
        self.programs_first()
            .take(N_TRIED)
            .find_map(|one| one.to_show(recording))
    }

    /// The hottest functions of programs, then those of kernels.
    fn programs_first(&self) -> impl Iterator<Item = &Called> {
        let of = |is_user| {
            let functions = self.functions.iter();
            functions.filter(move |one| (one.level == Level::User) == is_user)
        };
        of(true).chain(of(false))
    }
}

impl Called {
    /// The words that mean it alone, if there is code to show.
    fn to_show(&self, recording: &CodeRecording<'_>) -> Option<String> {
        let choose = |text: &str| {
            let files = |_: &str| Err(FilterError("a file of names".to_owned()));
            let wanted = WantedFunction::parse(text, files).ok()?;
            Some(recording.choose(&wanted))
        };
        let has_code = |function: &FoundFunction| recording.code(function).is_ok();
        match choose(&self.name)? {
            Ok(one) => has_code(&one).then(|| self.name.clone()),
            Err(ChoiceError::Inlined(_)) => Some(self.name.clone()),
            Err(ChoiceError::Several(all)) => {
                let samples = |one: &FoundFunction| -> u64 {
                    let own = one.own.iter();
                    own.map(|own| own.samples).sum()
                };
                let here = all.iter().filter(|one| {
                    let is_here = recording.image_name(one) == self.image;
                    is_here && one.level == self.level && samples(one) > 0
                });
                let one = here
                    .max_by_key(|one| samples(one))
                    .filter(|one| has_code(one))?;
                let text = format!("{}@{:#x}", one.name, one.start);
                choose(&text)?.is_ok().then_some(text)
            }
            Err(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_profile::testing;

    #[test]
    fn what_a_function_calls_is_named() {
        let profile = testing::profile(&[
            ("main;parse;scan", 5),
            ("main;parse;scan;copy", 1),
            ("main;parse;a b", 2),
            ("main;hash", 1),
            ("other;scan", 1),
        ]);
        let said = |name| Some(Below::of(&profile, name)?.text());
        assert_eq!(
            said("parse").unwrap(),
            "what it calls has 80.00%: scan 50.00%, a b 20.00%, copy 10.00%"
        );
        assert_eq!(
            said("main").unwrap(),
            "what it calls has 90.00%: scan 50.00%, a b 20.00%, copy 10.00%, ..."
        );
        assert_eq!(said("hash"), None);
        assert_eq!(said("absent"), None);
    }

    #[test]
    fn functions_of_one_name_are_told_apart_and_programs_are_suggested_first() {
        let called = |name: &str, image: &str, level, own| Called {
            name: name.to_owned(),
            image: image.to_owned(),
            level,
            own,
        };
        let below = Below {
            all: 10,
            weight: 8,
            functions: vec![
                called("copy", "[kernel.kallsyms]", Level::Kernel, 4),
                called("copy", "libc.so.6", Level::User, 3),
                called("scan", "words", Level::User, 1),
            ],
        };
        assert_eq!(
            below.text(),
            "what it calls has 80.00%: copy ([kernel.kallsyms]) 40.00%, copy (libc.so.6) 30.00%, scan 10.00%"
        );
        let first = below.programs_first().next().unwrap();
        assert_eq!(first.image, "libc.so.6");
    }
}
