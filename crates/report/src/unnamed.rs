//! Images without names: what a reader of any output must know of them.

use rprof_base::Share;
use rprof_profile::Profile;
use rprof_untrusted::printable;

/// One line for each image whose missing names are worth one, heaviest first: its share, why, and what would give it
/// names; then one of all others: three at most. None if nothing is missing.
pub fn unnamed_lines(profile: &Profile) -> Vec<String> {
    unnamed_within(profile, MAX_LINES)
}

/// Lines that list what lacks names, at most.
const MAX_LINES: usize = 3;

/// The same in at most this many lines, of which there is at least one.
pub(crate) fn unnamed_within(profile: &Profile, most: usize) -> Vec<String> {
    let listed = profile.listed_unnamed();
    let mut lines = Vec::new();
    let n_lines = listed.images.len() + usize::from(listed.n_others > 0);
    let n_images = if n_lines > most {
        // The heaviest has a name in any case.
        most.saturating_sub(1).max(1)
    } else {
        listed.images.len()
    };
    let (images, more) = listed.images.split_at(n_images);
    for (share, image) in images {
        let mut line = format!("{share:>6.2}%  {}: {}", image.path, image.reason);
        if let Some(hint) = &image.hint {
            line = format!("{line}; fix: {hint}");
        }
        // Reasons, too, are made of what the recording says.
        lines.push(printable(&line).into_owned());
    }
    let n_others = more.len() + listed.n_others;
    if !listed.images.is_empty() && n_others > 0 {
        let why = if profile.about.is_live {
            ""
        } else {
            ": rprof symbols"
        };
        let shares = more.iter().map(|(share, _)| share.percent());
        let share = Share::from_percent(shares.sum::<f64>() + listed.others.percent());
        match lines.last_mut() {
            Some(heaviest) if most == 1 => {
                *heaviest += &format!("; and {n_others} more, {share:.2}%{why}");
            }
            _ => lines.push(format!("{share:>6.2}%  {n_others} more{why}")),
        }
    }
    lines
}

/// What to do about Python's functions, if its interpreter takes time and none of them has a name. The interpreter
/// itself has one, so it is not among what lacks names.
pub fn interpreter_line(profile: &Profile) -> Option<String> {
    let name = |frame| {
        let name = profile.frames.of(frame).name?;
        Some(profile.strings.of(name).into_raw())
    };
    let (mut interpreted, mut total) = (0u64, 0u64);
    // As the interpreter calls them in its map.
    let is_python = |frame| name(frame).is_some_and(|name| name.starts_with("py::"));
    if profile.frames.ids().any(is_python) {
        return None;
    }
    for event in &profile.events {
        total = total.saturating_add(event.weight);
        for node in event.tree.nodes() {
            if name(node.frame) == Some("_PyEval_EvalFrameDefault") {
                interpreted = interpreted.saturating_add(node.self_weight);
            }
        }
    }
    let share = Share::of(interpreted, total);
    (share >= Profile::MIN_UNNAMED).then(|| {
        let how = "python3 -X perf (3.12 or newer) gives its functions names";
        format!("{share:.2}% in Python's interpreter: {how}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_profile::{EventProfile, UnnamedImage, testing};

    /// A profile of samples in functions of these names, one each.
    fn of_functions(names: &[&str]) -> Profile {
        let stacks: Vec<_> = names.iter().map(|&name| (name, 1)).collect();
        testing::profile(&stacks)
    }

    #[test]
    fn where_python_runs_it_is_said_how_to_see_its_functions() {
        let eval = "_PyEval_EvalFrameDefault";
        let line = interpreter_line(&of_functions(&[eval, "main"])).unwrap();
        assert!(line.starts_with("50.00% in Python's interpreter: ") && line.contains("-X perf"));
        let none = [&[eval, "py::work:/a.py"][..], &["main"]];
        for names in none {
            assert_eq!(interpreter_line(&of_functions(names)), None);
        }
    }

    #[test]
    fn shares_of_what_lacks_names_add_up_to_the_quality_lines() {
        let mut profile = of_functions(&["_PyEval_EvalFrameDefault"; 1000]);
        let unnamed = |weight: u64| UnnamedImage {
            path: weight.to_string(),
            weight,
            reason: "stripped".to_owned(),
            hint: None,
        };
        profile.unnamed = [30, 20, 10, 9, 8, 7, 6, 3].map(unnamed).into();
        let lines = unnamed_lines(&profile);
        let shares = lines.iter().map(|line| line.split_once('%').unwrap().0);
        let sum: f64 = shares
            .map(|share| share.trim().parse::<f64>().unwrap())
            .sum();
        let all = format!("{sum:.1} % without names");
        assert!(crate::quality_line(&profile).contains(&all), "{lines:?}");
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[2], "  4.30%  6 more: rprof symbols");
        let within = |most| unnamed_within(&profile, most);
        assert_eq!(within(2)[1..], ["  6.30%  7 more: rprof symbols"]);
        assert_eq!(
            within(1),
            ["  3.00%  30: stripped; and 7 more, 6.30%: rprof symbols"]
        );
    }

    #[test]
    fn control_characters_of_the_recording_are_shown_not_sent() {
        let profile = Profile {
            events: vec![EventProfile {
                weight: 2,
                ..testing::event("x")
            }],
            unnamed: vec![UnnamedImage {
                path: "/a\x1b".to_owned(),
                weight: 1,
                reason: "recorded on \x1b[2J".to_owned(),
                hint: Some("apt install x\x07".to_owned()),
            }],
            ..Profile::default()
        };
        assert_eq!(
            unnamed_lines(&profile),
            [" 50.00%  /a\\x1b: recorded on \\x1b[2J; fix: apt install x\\x07"]
        );
    }
}
