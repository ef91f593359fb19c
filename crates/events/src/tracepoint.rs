//! Tracepoints: `system:name`, either of them a pattern; their ids are in tracefs.

use std::io;
use std::path::Path;

use rprof_abi::event_type;

use crate::sources::{is_plain, list_dir};
use crate::suggest::suggest;
use crate::{Event, EventError, Sources, Suggestions};
use rprof_base::{glob_matches, is_glob};

/// A look-up in tracefs.
#[derive(Debug)]
pub(crate) struct Tracepoints<'a> {
    pub(crate) sources: &'a Sources,
    /// What was given, for messages.
    pub(crate) event: &'a str,
}

impl Tracepoints<'_> {
    /// The tracepoints that fit, sorted by system and name; each of their hits is a sample.
    ///
    /// # Errors
    /// None fits, or tracefs cannot be read.
    pub(crate) fn find(&self, system: &str, name: &str) -> Result<Vec<Event>, EventError> {
        let mut found = Vec::new();
        for system in self.expand(system, "")? {
            for name in self.expand(name, &system)? {
                if let Some(id) = self.id(&system, &name)? {
                    let full = format!("{system}:{name}");
                    let mut event = Event::new(full.clone(), event_type::TRACEPOINT, id);
                    event.tracepoint = Some(full);
                    event.attr.sample_period = 1;
                    found.push(event);
                }
            }
        }
        if found.is_empty() {
            return Err(EventError::UnknownTracepoint {
                name: format!("{system}:{name}"),
                suggestions: self.suggest(system, name)?,
            });
        }
        Ok(found)
    }

    /// Whether there is a system of this name, as far as can be seen.
    pub(crate) fn has_system(&self, system: &str) -> bool {
        is_plain(system) && self.sources.tracefs.join("events").join(system).is_dir()
    }

    /// Every tracepoint whose name (`system:name`) fits, sorted.
    ///
    /// # Errors
    /// tracefs cannot be read.
    pub(crate) fn names(&self, fits: impl Fn(&str) -> bool) -> Result<Vec<String>, EventError> {
        let mut found = Vec::new();
        for system in self.list("")? {
            let mut below = self.in_system(&system)?;
            below.retain(|name| fits(name) && self.has_id(name));
            found.append(&mut below);
        }
        Ok(found)
    }

    /// Whether it can be opened: some of ftrace's own cannot.
    fn has_id(&self, name: &str) -> bool {
        let Some((system, name)) = name.split_once(':') else {
            return false;
        };
        self.sources.tracepoint(system, name, "id").exists()
    }

    /// The name itself, or what fits the pattern in `below` (a system, or "" for all systems).
    fn expand(&self, pattern: &str, below: &str) -> Result<Vec<String>, EventError> {
        if !is_glob(pattern) {
            return Ok(vec![pattern.to_owned()]);
        }
        let mut names = self.list(below)?;
        names.retain(|name| glob_matches(pattern, name));
        Ok(names)
    }

    fn list(&self, below: &str) -> Result<Vec<String>, EventError> {
        let dir = self.sources.tracefs.join("events").join(below);
        match list_dir(&dir) {
            Ok(names) => Ok(names),
            // Files among the folders (`enable`, `filter`), and systems that went meanwhile.
            Err(error) if !below.is_empty() && is_absent(&error) => Ok(Vec::new()),
            Err(error) => Err(self.trouble(&dir, error)),
        }
    }

    fn id(&self, system: &str, name: &str) -> Result<Option<u64>, EventError> {
        if !is_plain(system) || !is_plain(name) {
            return Ok(None);
        }
        let path = self.sources.tracepoint(system, name, "id");
        match std::fs::read_to_string(&path) {
            Ok(text) => match text.trim().parse() {
                Ok(id) => Ok(Some(id)),
                Err(_) => Err(EventError::BadFile { path, text }),
            },
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(self.trouble(&path, error)),
        }
    }

    fn suggest(&self, system: &str, name: &str) -> Result<Suggestions, EventError> {
        let systems = self.list("")?;
        let known = if systems.iter().any(|known| known == system) {
            self.in_system(system)?
        } else {
            // Systems that are close, and in them what is close to the name.
            let mut known = Vec::new();
            for close in suggest(system, systems).0 {
                known.extend(self.in_system(&close)?);
            }
            known
        };
        Ok(suggest(&format!("{system}:{name}"), known))
    }

    fn in_system(&self, system: &str) -> Result<Vec<String>, EventError> {
        let mut names = self.list(system)?;
        names.retain(|name| !matches!(name.as_str(), "enable" | "filter"));
        Ok(names
            .iter()
            .map(|name| format!("{system}:{name}"))
            .collect())
    }

    fn trouble(&self, path: &Path, source: io::Error) -> EventError {
        let event = self.event.to_owned();
        let tracefs = &self.sources.tracefs;
        match source.kind() {
            io::ErrorKind::NotFound => EventError::TracefsMissing {
                event,
                path: tracefs.clone(),
            },
            io::ErrorKind::PermissionDenied => EventError::TracefsDenied {
                event,
                path: path.to_owned(),
                tracefs: tracefs.clone(),
            },
            _ => EventError::Read {
                path: path.to_owned(),
                source,
            },
        }
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename
    )
}
