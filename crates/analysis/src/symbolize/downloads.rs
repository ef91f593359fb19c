//! Files that servers send while everything else is named already.

use crate::recording::Recording;
use rprof_machine::RecordedImage;

/// Waits for what servers were asked for, as long as that may take.
pub(super) fn wait(recording: &Recording<'_>) {
    if let Some(servers) = &recording.locator.debuginfod {
        servers.wait();
    }
}

/// Whether a file of an image came since it was looked for.
pub(super) fn has_come(recording: &Recording<'_>, image: &RecordedImage) -> bool {
    let (Some(servers), Some(id)) = (&recording.locator.debuginfod, &image.build_id) else {
        return false;
    };
    servers.has_come(id)
}

/// What is to be said of files that did not come.
pub(super) fn warnings(recording: &Recording<'_>) -> Vec<String> {
    let Some(servers) = &recording.locator.debuginfod else {
        return Vec::new();
    };
    let images = recording.index.history.images().iter();
    let mut without: Vec<String> = images
        .filter(|(_, image)| {
            image
                .build_id
                .as_ref()
                .is_some_and(|id| servers.is_open(id))
        })
        .map(|(_, image)| String::from_utf8_lossy(&image.short_name()).into_owned())
        .collect();
    without.sort_unstable();
    without.dedup();
    let mut lines = Vec::new();
    if !without.is_empty() {
        lines.push(format!(
            "debuginfod: continued without the files of {}, which did not arrive within {} s \
             (--debuginfod-wait SECONDS waits longer)",
            some_of(&without),
            servers.longest_wait().as_secs_f64(),
        ));
    }
    let failures = servers.failures().into_iter();
    lines
        .extend(failures.map(|failure| format!("debuginfod: {}: {}", failure.url, failure.reason)));
    lines
}

/// The first names of a list, and how many more there are.
fn some_of(names: &[String]) -> String {
    const MOST: usize = 4;
    let shown = names.iter().take(MOST).map(String::as_str);
    let mut text = shown.collect::<Vec<_>>().join(", ");
    if names.len() > MOST {
        text.push_str(&format!(" and {} more", names.len() - MOST));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_cut() {
        let names: Vec<String> = (0..6).map(|n| n.to_string()).collect();
        assert_eq!(some_of(&names[..1]), "0");
        assert_eq!(some_of(&names), "0, 1, 2, 3 and 2 more");
    }
}
