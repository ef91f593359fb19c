//! Whom a recording watches, in words.

use crate::note::Note;
use crate::settings::{Settings, Watch};

/// Says whom a recording without a command watches.
pub(crate) fn watching(settings: &Settings) -> Note {
    Note::Watching {
        who: in_words(settings),
        duration: settings.duration,
    }
}

fn in_words(settings: &Settings) -> String {
    let on = match &settings.cpus {
        None => String::new(),
        Some(cpus) => {
            let cpus: Vec<String> = cpus.iter().map(u32::to_string).collect();
            format!(" on CPU {}", cpus.join(","))
        }
    };
    if let Some(cgroups) = settings.cgroups.in_words() {
        return format!("{cgroups}{on}");
    }
    match &settings.watch {
        Watch::Command => "the command".to_owned(),
        Watch::All if on.is_empty() => "all CPUs".to_owned(),
        Watch::All => format!("all processes{on}"),
        Watch::Processes(pids) => {
            let children = if settings.children {
                " with child processes"
            } else {
                ""
            };
            format!("{}{children}{on}", named("process", pids))
        }
        Watch::Matching(matching) => format!("{matching}{on}"),
        Watch::Threads(tids) => format!("{}{on}", named("thread", tids)),
    }
}

/// One task with its name, several by their ids.
fn named(what: &str, ids: &[i32]) -> String {
    if let [id] = *ids {
        let comm = rprof_process::comm_of(id, id).unwrap_or_default();
        return format!("{what} {id} ({})", String::from_utf8_lossy(&comm));
    }
    let ids: Vec<String> = ids.iter().map(i32::to_string).collect();
    let plural = if what.ends_with('s') { "es" } else { "s" };
    format!("{what}{plural} {}", ids.join(", "))
}
