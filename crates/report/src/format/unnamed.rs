//! Images without names: what a reader of any output must know of them.

use rprof_profile::Profile;
use rprof_untrusted::printable;

/// One line for each image whose missing names are worth one, heaviest first: its share, why, and
/// what would mend it. None if nothing is missing.
pub fn unnamed_lines(profile: &Profile) -> Vec<String> {
    let (listed, others) = profile.listed_unnamed();
    let mut lines = Vec::new();
    for (share, image) in &listed {
        let mut line = format!("{share:>6.2}%  {}: {}", image.path, image.reason);
        if let Some(mend) = &image.mend {
            line = format!("{line}; to mend: {mend}");
        }
        // Reasons, too, are made of what the recording says.
        lines.push(printable(&line).into_owned());
    }
    if !listed.is_empty() && others > 0 {
        lines.push(format!("{others} more: rprof symbols"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_profile::{EventKind, EventProfile, Loss, Sampling, Tree, UnnamedImage};
    use rprof_untrusted::Untrusted;

    #[test]
    fn control_characters_of_the_recording_are_shown_not_sent() {
        let profile = Profile {
            events: vec![EventProfile {
                name: Untrusted::new("x".to_owned()),
                kind: EventKind::default(),
                sampling: Sampling::default(),
                samples: 1,
                weight: 2,
                loss: Loss::default(),
                tree: Tree::default(),
                groups: Vec::new(),
            }],
            unnamed: vec![UnnamedImage {
                path: "/a\x1b".to_owned(),
                weight: 1,
                reason: "recorded on \x1b[2J".to_owned(),
                mend: Some("apt install x\x07".to_owned()),
            }],
            ..Profile::default()
        };
        assert_eq!(
            unnamed_lines(&profile),
            [" 50.00%  /a\\x1b: recorded on \\x1b[2J; to mend: apt install x\\x07"]
        );
    }
}
