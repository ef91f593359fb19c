//! The command that helps most after a profile was seen: against its worst flaw, or for the next look.

use crate::args::Recordings;
use crate::say;
use rprof_profile::{Account, EventProfile, Flaw, Level, Profile, Quality};
use rprof_untrusted::quoted;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::Path;

/// What was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// A table.
    Report,
    /// A table, by somebody whose terminal has an interface.
    Screen,
    /// A table of functions' own samples.
    OwnSamples,
    /// A table with waits that does not say what these are for, of this part of the time of threads.
    Waits(Account),
    /// A picture of an event, by its number.
    Flame(usize),
}

/// Suggests a command to somebody who watches; none of a recording that is gone. Of some of its samples, only a better
/// recording is suggested: another command would show what was left out.
pub(crate) fn suggest(seen: Seen, profile: &Profile, recordings: &Recordings, is_filtered: bool) {
    say::next(|| {
        better(profile, recordings)
            .or_else(|| command(seen, profile, recordings).filter(|_| !is_filtered))
    });
}

/// Recordings that a suggestion names at most.
const MOST_NAMED: usize = 4;

/// The words that name the recordings in another command; `None` if it cannot be given the same.
pub(super) fn words_of(recordings: &Recordings) -> Option<String> {
    let first = recordings.first();
    let others = recordings.others();
    // What came through a pipe is gone.
    let is_pipe = |path: &Path| path == Path::new("-");
    if is_pipe(first.path()) || others.iter().any(|path| is_pipe(path)) {
        return None;
    }
    let name = quoted(first.path().as_os_str());
    match others {
        [] if first.is_default() => Some(String::new()),
        [] => Some(format!(" -i {name}")),
        _ if others.len() >= MOST_NAMED => None,
        _ => {
            let others = others
                .iter()
                .map(|path| format!(" {}", quoted(path.as_os_str())));
            Some(format!(" {name}{}", others.collect::<String>()))
        }
    }
}

/// Flags of `record` that say whose samples are taken: with them, the command is not all that was recorded.
const TARGETS: &[&str] = &[
    "-a",
    "-p",
    "-t",
    "-u",
    "-C",
    "-G",
    "--all-cpus",
    "--cgroup",
    "--cpu",
    "--name",
    "--pid",
    "--tid",
    "--uid",
];

/// Letters of a command that a suggestion repeats at most.
const MAX_COMMAND_LEN: usize = 60;

/// The recorded command as a shell takes it.
fn recorded_command(profile: &Profile) -> String {
    let about = &profile.about;
    let command = about.recorded_command();
    let n_flags = about.command.len().saturating_sub(command.len());
    let mut flags = about.command.iter().take(n_flags);
    let has_targets = flags.any(|flag| TARGETS.iter().any(|target| flag.starts_with(target)));
    let words = command.iter().map(|word| {
        // What begins with a dash is no file here.
        let rest = word.trim_start_matches('-');
        let (dashes, _) = word.split_at(word.len() - rest.len());
        match rest {
            "" if !dashes.is_empty() => dashes.to_owned(),
            rest => format!("{dashes}{}", quoted(OsStr::new(rest))),
        }
    });
    let words = words.collect::<Vec<_>>().join(" ");
    if words.is_empty() || words.len() > MAX_COMMAND_LEN || has_targets {
        return "COMMAND".to_owned();
    }
    words
}

/// What makes a better profile: against the worst flaw of this one.
fn better(profile: &Profile, recordings: &Recordings) -> Option<String> {
    let flaws = Quality::of(profile).flaws();
    let better = match flaws.first()? {
        Flaw::Lost => match profile.about.larger_rings() {
            Some(size) => format!("-m {size}"),
            None => "-F 999".to_owned(),
        },
        Flaw::Throttled => "-F 999".to_owned(),
        Flaw::Truncated => "--call-graph dwarf,65528".to_owned(),
        Flaw::Unnamed if recordings.others().is_empty() => {
            let input = words_of(recordings)?;
            return Some(format!("rprof symbols{input}"));
        }
        Flaw::Unnamed => return None,
    };
    words_of(recordings)?;
    let command = recorded_command(profile);
    Some(format!("rprof record {better} -- {command}"))
}

/// The next look at a profile that has no flaw.
fn command(seen: Seen, profile: &Profile, recordings: &Recordings) -> Option<String> {
    if !Quality::of(profile).flaws().is_empty() {
        return None;
    }
    let input = words_of(recordings)?;
    let is_single = recordings.others().is_empty();
    Some(match seen {
        Seen::Screen => format!("rprof tui{input}"),
        Seen::Report => format!("rprof flame{input} > flame.svg"),
        Seen::Waits(account) => {
            let waits = match account {
                Account::OnCpu => return None,
                Account::OffCpu => "--off-cpu",
                Account::Wall => "--wall",
            };
            format!("rprof report{input} {waits} -s comm,cause")
        }
        Seen::OwnSamples if !is_single => return None,
        Seen::OwnSamples => {
            let event = profile.events.iter().find(|event| event.samples > 0)?;
            let name = heaviest(profile, event, |level| level == Level::User)?;
            let name = quoted(OsStr::new(&name));
            format!("rprof annotate{input} {name}")
        }
        Seen::Flame(event) => {
            let name = heaviest(profile, profile.events.get(event)?, |_| true)?;
            let name = quoted(OsStr::new(&name));
            format!("rprof report{input} --no-children -S {name}")
        }
    })
}

/// The function with the most samples of its own, at one of these levels, that a filter takes by its name as it is.
fn heaviest(
    profile: &Profile,
    event: &EventProfile,
    is_wanted: impl Fn(Level) -> bool,
) -> Option<String> {
    let nodes = event.tree.nodes();
    let mut weights: HashMap<&str, u64> = HashMap::new();
    let self_nodes = event.tree.self_nodes(&profile.frames, profile.self_time);
    let counted = nodes.iter().zip(self_nodes);
    for (node, own) in counted.filter(|(node, _)| node.self_weight > 0) {
        let frame = profile.frames.of(nodes[own as usize].frame);
        let Some(name) = frame.name.filter(|_| is_wanted(frame.level)) else {
            continue;
        };
        let name = profile.strings.of(name).into_raw();
        if is_plain(name) {
            let sum = weights.entry(name).or_default();
            *sum = sum.saturating_add(node.self_weight);
        }
    }
    let weights = weights.into_iter();
    let heaviest = weights.max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(a.0)));
    heaviest.map(|(name, _)| name.to_owned())
}

/// Whether a filter reads a name as nothing but a name.
fn is_plain(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_:<> .@$~".contains(letter);
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && !name.starts_with("file:")
        && name.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_profile::{Loss, UnnamedImage, testing};

    fn said(seen: Seen, path: &str, profile: &Profile) -> Option<String> {
        let recordings = Recordings::new(vec![path.into()]);
        better(profile, &recordings).or_else(|| command(seen, profile, &recordings))
    }

    #[test]
    fn a_good_profile_is_looked_at_once_more() {
        let profile = testing::profile(&[("a;b", 3), ("a;std::f<u8>", 9), ("c", 1), ("x*", 40)]);
        assert_eq!(
            said(Seen::Report, "my file", &profile).unwrap(),
            "rprof flame -i 'my file' > flame.svg"
        );
        assert_eq!(
            said(Seen::Flame(0), "perf.data", &profile).unwrap(),
            "rprof report --no-children -S 'std::f<u8>'"
        );
        assert_eq!(said(Seen::Report, "-", &profile), None);
        assert_eq!(
            said(Seen::Waits(Account::Wall), "x", &profile).unwrap(),
            "rprof report -i x --wall -s comm,cause"
        );
        let screen = said(Seen::Screen, "x", &profile).unwrap();
        assert_eq!(screen, "rprof tui -i x");
        assert_eq!(
            said(Seen::OwnSamples, "perf.data", &profile).unwrap(),
            "rprof annotate 'std::f<u8>'"
        );
    }

    #[test]
    fn the_worst_flaw_comes_first() {
        let mut profile = testing::profile(&[("a", 100)]);
        profile.unnamed = vec![UnnamedImage {
            path: String::new(),
            weight: 50,
            reason: String::new(),
            hint: None,
        }];
        let symbols = said(Seen::Flame(0), "x", &profile).unwrap();
        assert_eq!(symbols, "rprof symbols -i x");
        profile.events[0].loss = Loss {
            samples: 100,
            at_least: false,
        };
        let again = said(Seen::Report, "x", &profile).unwrap();
        assert_eq!(again, "rprof record -m 8M -- COMMAND");
        profile.about.command = ["rprof", "record", "-m8M"].map(str::to_owned).into();
        let again = said(Seen::Report, "x", &profile).unwrap();
        assert_eq!(again, "rprof record -m 16M -- COMMAND");
        for (line, command) in [
            ("rprof record -g -- ./words 3", "./words 3"),
            ("rprof record ./many -- a;b", "./many -- 'a;b'"),
            ("rprof record sh -c $(x)", "sh -c '$(x)'"),
            ("rprof record -a -- sleep 1", "COMMAND"),
            ("rprof record -p 12", "COMMAND"),
        ] {
            profile.about.command = line.split(' ').map(str::to_owned).collect();
            let again = said(Seen::Report, "x", &profile).unwrap();
            assert_eq!(again, format!("rprof record -m 8M -- {command}"));
        }
    }
}
