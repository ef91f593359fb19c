//! A function without samples of its own: which functions that it calls have them.

use super::super::next::words_of;
use super::super::reading::read;
use crate::args::AnnotateArgs;
use rprof_analysis::Options;
use rprof_base::Share;
use rprof_perfdata::Reader;
use rprof_profile::{Level, NodeKey, Profile};
use rprof_untrusted::quoted;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ffi::OsStr;

/// Functions that are named at most.
const N_NAMED: usize = 3;

/// What a function calls, directly or not.
#[derive(Debug, PartialEq, Eq)]
struct Below {
    /// The weight of all samples of the event.
    all: u64,
    /// That of samples below the function.
    weight: u64,
    /// Functions with names there: the weight of their own samples, and whether they are a program's; the heaviest first.
    functions: Vec<(String, u64, bool)>,
}

/// What is said of a function without samples of its own: what has those that it is a caller of, and the command that
/// shows the code. `None` if nobody knows.
pub(super) fn sentence(args: &AnnotateArgs, reader: &Reader, name: &str) -> Option<String> {
    // These count in another way than by one recording's stacks.
    if !args.caller.is_empty() || !args.recordings().others().is_empty() {
        return None;
    }
    if !reader.has_call_chains() {
        let record = "record with rprof record -g to see what it calls";
        return Some(format!("{name} has no samples of its own: {record}"));
    }
    let options = Options {
        nodes: NodeKey::Function,
        stacks: true,
        fde: !args.fde.no_fde,
        ..args.samples.options(reader)
    };
    let below = Below::of(&read(reader, &options).ok()?, name)?;
    Some(below.text(name, words_of(&args.recordings()).as_deref()))
}

impl Below {
    /// Of the first event with such samples.
    fn of(profile: &Profile, name: &str) -> Option<Self> {
        let named = |frame| profile.frames.of(frame).name;
        let text = |name| profile.strings.of(name).into_raw();
        let is_it = |frame| named(frame).is_some_and(|own| text(own) == name);
        profile.events.iter().find_map(|event| {
            let nodes = event.tree.nodes();
            let mut is_below = Vec::with_capacity(nodes.len());
            let mut weight = 0u64;
            let mut functions: BTreeMap<(&str, bool), u64> = BTreeMap::new();
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
                    let is_user = profile.frames.of(node.frame).level == Level::User;
                    let sum = functions.entry((text(own), is_user)).or_default();
                    *sum = sum.saturating_add(node.self_weight);
                }
            }
            let functions = functions.into_iter();
            let functions = functions.map(|((name, is_user), own)| (name.to_owned(), own, is_user));
            let mut functions: Vec<_> = functions.collect();
            functions.sort_by_key(|&(_, own, _)| Reverse(own));
            (weight > 0).then_some(Self {
                all: event.weight,
                weight,
                functions,
            })
        })
    }

    /// In words; `input` names the recording in a command.
    fn text(&self, name: &str, input: Option<&str>) -> String {
        let share = |weight| Share::of(weight, self.all);
        let named = self.functions.iter().take(N_NAMED);
        let mut named: Vec<String> = named
            .map(|(name, own, _)| format!("{name} {}%", share(*own)))
            .collect();
        if self.functions.len() > N_NAMED {
            named.push("...".to_owned());
        }
        let mut said = format!(
            "{name} has no samples of its own; what it calls has {}%",
            share(self.weight)
        );
        if !named.is_empty() {
            said += &format!(": {}", named.join(", "));
        }
        // Code of a program is there more often than the kernel's.
        let mut functions = self.functions.iter();
        let hottest = functions.clone().find(|(_, _, is_user)| *is_user);
        if let Some((input, (next, ..))) = input.zip(hottest.or_else(|| functions.next())) {
            said += &format!("; next: rprof annotate{input} {}", quoted(OsStr::new(next)));
        }
        said
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_profile::testing;

    #[test]
    fn what_a_function_calls_is_named_with_the_command_that_shows_it() {
        let profile = testing::profile(&[
            ("main;parse;scan", 5),
            ("main;parse;scan;copy", 1),
            ("main;parse;a b", 2),
            ("main;hash", 1),
            ("other;scan", 1),
        ]);
        let said = |name| Some(Below::of(&profile, name)?.text(name, Some(" -i x")));
        assert_eq!(
            said("parse").unwrap(),
            "parse has no samples of its own; what it calls has 80.00%: scan 50.00%, a b 20.00%, copy 10.00%; \
             next: rprof annotate -i x scan"
        );
        assert_eq!(
            said("main").unwrap(),
            "main has no samples of its own; what it calls has 90.00%: scan 50.00%, a b 20.00%, copy 10.00%, ...; \
             next: rprof annotate -i x scan"
        );
        assert_eq!(said("hash"), None);
        assert_eq!(said("absent"), None);
    }

    #[test]
    fn words_of_the_command_are_quoted() {
        let profile = testing::profile(&[("main;a b", 1)]);
        let below = Below::of(&profile, "main").unwrap();
        assert!(
            below
                .text("main", Some(""))
                .ends_with("next: rprof annotate 'a b'")
        );
        assert!(below.text("main", None).ends_with("a b 100.00%"));
    }
}
