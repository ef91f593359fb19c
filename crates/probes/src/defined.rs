//! Probes as tracepoints, defined for as long as they are used.
//!
//! A definition is of the machine: it has a name that says whose it is, and goes when we end. What a process left that
//! was killed is removed by the next one; until then it does nothing, since nobody has it open.
//!
//! Source: `Documentation/trace/uprobetracer.rst`, `Documentation/trace/kprobetrace.rst` (v6.12).

use crate::error::DefineError;
use crate::tracefs::{KPROBES, Tracefs, UPROBES, write_line};
use rprof_abi::event_type;
use rprof_events::{Event, ProbePoint, ProbeSite, ProbedCode};
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

/// What the names of our groups begin with.
const OURS: &str = "rprof_";

/// Definitions in tracefs; dropped, they are gone. Events of them must be closed by then.
#[derive(Debug)]
pub struct Defined {
    tracefs: Tracefs,
    group: String,
    /// With the file that each was written into.
    names: Vec<(&'static str, String)>,
}

/// Whether an event is of a definition of ours.
pub fn is_defined(event: &Event) -> bool {
    let tracepoint = event.tracepoint.as_ref();
    tracepoint.is_some_and(|name| name.starts_with(OURS))
}

impl Defined {
    /// Defines the probes among events that have a place ([`crate::resolve`]), and returns all events with tracepoints
    /// in place of them.
    ///
    /// # Errors
    /// tracefs cannot be written, or the kernel does not take a definition.
    pub fn new(events: &[Event]) -> Result<(Self, Vec<Event>), DefineError> {
        let mut defined = Self {
            tracefs: Tracefs::open().map_err(DefineError::Tracefs)?,
            group: group_of(&pid_namespace(), std::process::id()),
            names: Vec::new(),
        };
        defined.remove_left();
        let mut events = events.to_vec();
        for event in &mut events {
            if let Some(point) = event.probe.take() {
                defined.define(event, &point)?;
            }
        }
        Ok((defined, events))
    }

    /// Where tracefs is, with the formats of what is defined.
    pub fn tracefs(&self) -> &Path {
        self.tracefs.root()
    }

    fn define(&mut self, event: &mut Event, point: &ProbePoint) -> Result<(), DefineError> {
        let name = self.name_of(event, point);
        let (file, place, _open) = place_of(event, point)?;
        let kind = if is_return(event) { 'r' } else { 'p' };
        let mut definition = format!("{kind}:{}/{name} {place}", self.group);
        for argument in &point.arguments {
            definition = format!("{definition} {argument}");
        }
        let definitions = self.tracefs.open_to_append(file);
        let mut definitions = definitions.map_err(DefineError::Tracefs)?;
        write_line(&mut definitions, &definition).map_err(|source| DefineError::Refused {
            why: self.why_refused().unwrap_or_else(|| source.to_string()),
            definition,
        })?;
        self.names.push((file, name.clone()));
        let id = self.id_of(&name).map_err(|source| DefineError::NoId {
            name: name.clone(),
            source,
        })?;
        event.tracepoint = Some(format!("{}:{name}", self.group));
        event.attr.kind = event_type::TRACEPOINT;
        (event.attr.config, event.attr.config1, event.attr.config2) = (id, 0, 0);
        Ok(())
    }

    /// What the kernel says of the last definition that it did not take (since 5.2).
    fn why_refused(&self) -> Option<String> {
        let log = self.tracefs.read("error_log").ok()?;
        let mut lines = log.lines().rev();
        let why = lines.find_map(|line| line.split_once("error: "));
        why.map(|(_, why)| why.to_owned())
    }

    fn id_of(&self, name: &str) -> io::Result<u64> {
        let path = Path::new("events").join(&self.group).join(name).join("id");
        let text = self.tracefs.read(path)?;
        let id = text.trim().parse();
        id.map_err(|_| io::Error::from(io::ErrorKind::InvalidData))
    }

    /// A name that the kernel takes, and that no other definition has.
    fn name_of(&self, event: &Event, point: &ProbePoint) -> String {
        let arguments = format!("({})", point.arguments.join(","));
        let name = event.name.strip_suffix(&arguments);
        let name = plain_name(name.unwrap_or(&event.name));
        free_name(name, &|name| {
            self.names.iter().any(|(_, other)| other == name)
        })
    }

    fn append(&self, file: &str, line: &str) -> io::Result<()> {
        write_line(&mut self.tracefs.open_to_append(file)?, line)
    }

    /// Removes what others have left, which were killed; or who had our process id before.
    fn remove_left(&self) {
        let namespace = pid_namespace();
        for file in [UPROBES, KPROBES] {
            let Ok(definitions) = self.tracefs.read(file) else {
                continue;
            };
            let names: BTreeSet<&str> = definitions.lines().filter_map(name_in).collect();
            for name in names {
                let owner = owner_of(name, &namespace);
                let is_gone = |pid: u32| {
                    pid == std::process::id() || !Path::new(&format!("/proc/{pid}")).exists()
                };
                if owner.is_some_and(is_gone) {
                    // It may be in use by somebody else by now.
                    let _ = self.append(file, &format!("-:{name}"));
                }
            }
        }
    }
}

/// How often, and how long apart, it is tried to remove what the kernel still has in use.
const TRIES: usize = 50;
const BETWEEN: Duration = Duration::from_millis(10);

impl Drop for Defined {
    fn drop(&mut self) {
        let mut tries = 0;
        for (file, name) in &self.names {
            let removal = format!("-:{}/{name}", self.group);
            while let Err(error) = self.append(file, &removal) {
                // The events of tasks that are just ending are closed by these.
                tries += 1;
                if error.kind() != io::ErrorKind::ResourceBusy || tries > TRIES {
                    break;
                }
                std::thread::sleep(BETWEEN);
            }
        }
    }
}

/// `enum perf_probe_config` of `kernel/events/core.c` (v6.12): bit 0 is of returns, the upper half is where a marker's
/// semaphore is.
pub(crate) fn is_return(event: &Event) -> bool {
    event.attr.config & 1 != 0
}

fn semaphore(event: &Event) -> u64 {
    event.attr.config >> 32
}

/// The file to define it in, its place as that wants it, and what must stay open until then.
fn place_of(
    event: &Event,
    point: &ProbePoint,
) -> Result<(&'static str, String, Option<File>), DefineError> {
    let offset = event.attr.config2;
    let ProbedCode::File(path) = &point.code else {
        let place = match &point.site {
            ProbeSite::Function { name, .. } if offset > 0 => format!("{name}+{offset}"),
            ProbeSite::Function { name, .. } => name.clone(),
            _ => format!("{offset:#x}"),
        };
        return Ok((KPROBES, place, None));
    };
    let not_opened = |source| DefineError::File {
        path: path.clone(),
        source,
    };
    let path = std::path::absolute(path).map_err(not_opened)?;
    // Words end at white space, and comments begin with #.
    let is_word = |byte: &u8| byte.is_ascii_graphic() && *byte != b'#' || *byte >= 0x80;
    let (path, open) = match path.to_str() {
        Some(text) if path.as_os_str().as_bytes().iter().all(is_word) => (text.to_owned(), None),
        _ => {
            let (file, _) = rprof_untrusted::open(&path).map_err(not_opened)?;
            (format!("/proc/self/fd/{}", file.as_raw_fd()), Some(file))
        }
    };
    let place = match semaphore(event) {
        0 => format!("{path}:{offset:#x}"),
        semaphore => format!("{path}:{offset:#x}({semaphore:#x})"),
    };
    Ok((UPROBES, place, open))
}

/// The name, or one with a number behind it: a definition with a name that is taken would be a second place of the
/// event that has it.
fn free_name(name: String, is_taken: &dyn Fn(&str) -> bool) -> String {
    let mut numbered = (2..).map(|number: u32| format!("{name}_{number}"));
    if is_taken(&name) {
        numbered.find(|name| !is_taken(name)).unwrap_or_default()
    } else {
        name
    }
}

/// The longest name here; the kernel's limit, of 64, is for the group, too.
const MOST_LETTERS: usize = 40;

/// The last word of an event's name, of letters that the kernel takes.
fn plain_name(event: &str) -> String {
    // Parameters of an overload have colons of their own.
    let name = event.split('(').next().unwrap_or_default();
    let word = name.rsplit(':').next().unwrap_or_default();
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() {
            letter
        } else {
            '_'
        }
    };
    let name: String = word.chars().map(plain).take(MOST_LETTERS).collect();
    if name.starts_with(|first: char| first.is_ascii_digit()) {
        format!("_{name}")
    } else {
        name
    }
}

fn group_of(namespace: &str, pid: u32) -> String {
    format!("{OURS}{namespace}_{pid}")
}

/// The namespace that process ids are of: its number.
fn pid_namespace() -> String {
    let link = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let text = link.to_string_lossy();
    text.chars().filter(char::is_ascii_digit).collect()
}

/// The group and the name in a line such as `p:group/name path:0x10`.
fn name_in(line: &str) -> Option<&str> {
    line.split_once(':')?.1.split(' ').next()
}

/// Which process of our namespace has defined it.
fn owner_of(name: &str, namespace: &str) -> Option<u32> {
    let group = name.split('/').next()?.strip_prefix(OURS)?;
    let (of, pid) = group.split_once('_')?;
    (of == namespace).then(|| pid.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_say_whose_they_are() {
        let group = group_of("4026531836", 42);
        let line = format!("p:{group}/hit /tmp/app:0x0000000000001139(0x4010) x=%di:s32");
        let name = name_in(&line).unwrap();
        assert_eq!(name, "rprof_4026531836_42/hit");
        assert_eq!(owner_of(name, "4026531836"), Some(42));
        // Their process ids are others.
        assert_eq!(owner_of(name, "4026532000"), None);
        assert_eq!(owner_of("probe_app/hit", "4026531836"), None);
        assert_eq!(owner_of("rprof_test/hit", "4026531836"), None);
    }

    #[test]
    fn names_have_letters_that_the_kernel_takes() {
        for (event, name) in [
            ("uprobe:/usr/lib/x.so:malloc", "malloc"),
            ("uprobe:/usr/lib/x.so:shop::worker", "worker"),
            ("uprobe:/usr/lib/x.so:f+0x10", "f_0x10"),
            ("uprobe:/usr/lib/x.so:0x10", "_0x10"),
            ("usdt:/usr/lib/x.so:demo:plain", "plain"),
            ("uprobe:/usr/lib/x.so:f(int, std::string)", "f"),
        ] {
            assert_eq!(plain_name(event), name);
        }
        assert!(plain_name(&"x".repeat(500)).len() <= MOST_LETTERS);
    }

    #[test]
    fn each_probe_has_a_name_of_its_own() {
        let mut taken: Vec<String> = Vec::new();
        for name in ["f", "f_2", "f", "f", "f_2"] {
            let free = free_name(name.to_owned(), &|name| taken.iter().any(|one| one == name));
            assert!(!taken.contains(&free), "{free}");
            taken.push(free);
        }
        assert_eq!(taken, ["f", "f_2", "f_3", "f_4", "f_2_2"]);
    }
}
