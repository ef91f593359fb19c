//! Images without names: what a reader of any output must know of them.

use rprof_profile::{Profile, printable};

/// One line for each image whose missing names are worth one, heaviest first: its share, why, and
/// what would mend it. None if nothing is missing.
pub fn unnamed_lines(profile: &Profile) -> Vec<String> {
    let (listed, others) = profile.listed_unnamed();
    let mut lines = Vec::new();
    for (share, image) in &listed {
        let mut line = format!(
            "{share:>6.2}%  {}: {}",
            printable(&image.path),
            image.reason
        );
        if let Some(mend) = &image.mend {
            line = format!("{line}; to mend: {mend}");
        }
        lines.push(line);
    }
    if !listed.is_empty() && others > 0 {
        lines.push(format!("{others} more: rprof symbols"));
    }
    lines
}
