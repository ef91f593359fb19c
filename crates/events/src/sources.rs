//! Where the kernel describes its events.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::EventError;

/// Where sysfs and tracefs are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sources {
    /// Usually `/sys`.
    pub sysfs: PathBuf,
    /// Usually `/sys/kernel/tracing`.
    pub tracefs: PathBuf,
}

impl Default for Sources {
    /// The usual places; tracefs below debugfs where it is only there.
    fn default() -> Self {
        let own = PathBuf::from("/sys/kernel/tracing");
        let below_debugfs = PathBuf::from("/sys/kernel/debug/tracing");
        let only_below = !own.join("events").exists() && below_debugfs.join("events").exists();
        Self {
            sysfs: PathBuf::from("/sys"),
            tracefs: if only_below { below_debugfs } else { own },
        }
    }
}

impl Sources {
    pub(crate) fn pmus(&self) -> PathBuf {
        self.sysfs.join("bus/event_source/devices")
    }

    /// A file of a tracepoint, by plain names.
    pub(crate) fn tracepoint(&self, system: &str, name: &str, file: &str) -> PathBuf {
        let system = self.tracefs.join("events").join(system);
        system.join(name).join(file)
    }
}

/// The text of a small file without the white space around it.
pub(crate) fn read_trimmed(path: &Path) -> Result<String, EventError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(text.trim().to_owned()),
        Err(source) => Err(EventError::Read {
            path: path.to_owned(),
            source,
        }),
    }
}

/// The names in a folder, sorted; those that are not UTF-8 are left out.
pub(crate) fn list_dir(path: &Path) -> io::Result<Vec<String>> {
    let mut names: Vec<String> = fs::read_dir(path)?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort_unstable();
    Ok(names)
}

/// Whether the name stays below the folder that it is looked up in.
pub(crate) fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\0'])
}
