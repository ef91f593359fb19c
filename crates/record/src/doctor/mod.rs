//! What stands between this user and a profile, and the smallest step that would help.
//!
//! Each check is a line of [`CHECKS`]: a function from what is known to a [`Check`]. What files say
//! comes from [`Facts`], which tests make up; what the kernel allows is tried ([`Tried`]).

mod confinement;
mod limits;
mod names;
mod opening;
mod outlook;
mod tracing;
mod tried;

use rprof_abi::{Fields, Value};
use rprof_ringbuf::sys::Rights;
use rprof_targets::rights::Facts;
use tried::Tried;

/// Whether something stands in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It does not.
    Fine,
    /// A profile is possible, but lacks something.
    Less,
    /// Nothing can be recorded because of it.
    Blocked,
    /// Good to know; a profile of one's own programs lacks nothing by it.
    Note,
}

impl State {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Fine => "ok",
            Self::Less => "less",
            Self::Blocked => "blocked",
            Self::Note => "note",
        }
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What was looked at.
    pub name: &'static str,
    /// Whether it stands in the way.
    pub state: State,
    /// What was found.
    pub found: String,
    /// What comes of it, if it stands in the way.
    pub consequence: Option<String>,
    /// The smallest step that would help.
    pub fix: Option<String>,
}

/// What `rprof record` can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prospect {
    /// Own programs with the kernel, and everything that belongs to it.
    Full,
    /// A profile that lacks something.
    Less,
    /// None.
    None,
}

impl Prospect {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Less => "less",
            Self::None => "none",
        }
    }
}

/// All checks, and what they mean for a recording.
#[derive(Clone, Debug)]
pub struct Diagnosis {
    /// Checks in order.
    pub checks: Vec<Check>,
    /// What can be recorded.
    pub profile: Prospect,
    /// What `rprof record` will do now, in words.
    pub outlook: String,
}

/// Everything that a check may look at.
struct Patient<'a> {
    facts: &'a Facts,
    tried: &'a Tried,
    rights: Rights,
    debuginfod: Option<String>,
}

/// A check; `None` where there is nothing to say.
type Look = fn(&Patient<'_>) -> Option<Check>;

/// In the order in which they are printed.
const CHECKS: &[Look] = &[
    opening::own_user,
    opening::own_kernel,
    opening::all_cpus,
    opening::hardware,
    opening::paranoid,
    confinement::capabilities,
    confinement::executable,
    confinement::user_namespace,
    confinement::seccomp,
    confinement::lockdown,
    confinement::container,
    limits::rings,
    limits::files,
    limits::rate,
    limits::handler_time,
    names::kernel_symbols,
    names::debuginfod,
    tracing::tracefs,
    tracing::probes,
    tracing::ptrace,
    tracing::bpf,
];

/// Looks at this machine and this process; `rights` are what came of the executable file's.
pub fn diagnose(rights: Rights) -> Diagnosis {
    let facts = Facts::now();
    let tried = Tried::now(&facts);
    Diagnosis::of(&Patient {
        facts: &facts,
        tried: &tried,
        rights,
        debuginfod: std::env::var("DEBUGINFOD_URLS").ok(),
    })
}

/// Version of the JSON form: raised when a field changes its name or meaning.
const VERSION: u64 = 1;

impl Diagnosis {
    /// Says everything by name.
    pub fn visit(&self, fields: &mut dyn Fields) {
        let text = |fields: &mut dyn Fields, name: &str, text: &str| {
            fields.field(name, Value::Text(text.as_bytes()));
        };
        text(fields, "schema", "rprof-doctor");
        fields.field("version", Value::Unsigned(VERSION));
        text(fields, "profile", self.profile.word());
        text(fields, "outlook", &self.outlook);
        fields.list("checks", &self.checks, |fields, check| {
            fields.object("", |fields| {
                text(fields, "name", check.name);
                text(fields, "state", check.state.word());
                text(fields, "found", &check.found);
                for (name, more) in [("consequence", &check.consequence), ("fix", &check.fix)] {
                    if let Some(more) = more {
                        text(fields, name, more);
                    }
                }
            });
        });
    }

    fn of(patient: &Patient<'_>) -> Self {
        let checks: Vec<Check> = CHECKS.iter().filter_map(|look| look(patient)).collect();
        let has = |state| checks.iter().any(|check| check.state == state);
        let profile = match (has(State::Blocked), has(State::Less)) {
            (true, _) => Prospect::None,
            (false, true) => Prospect::Less,
            (false, false) => Prospect::Full,
        };
        Self {
            outlook: outlook::of(patient),
            checks,
            profile,
        }
    }
}

impl Check {
    fn new(name: &'static str, state: State, found: impl Into<String>) -> Option<Self> {
        Some(Self {
            name,
            state,
            found: found.into(),
            consequence: None,
            fix: None,
        })
    }

    fn fine(name: &'static str, found: impl Into<String>) -> Option<Self> {
        Self::new(name, State::Fine, found)
    }

    /// The same with what comes of it, and what would help.
    fn but(self, consequence: impl Into<String>, fix: impl Into<String>) -> Option<Self> {
        Some(Self {
            consequence: Some(consequence.into()),
            fix: Some(fix.into()),
            ..self
        })
    }
}

#[cfg(test)]
mod made_up;
#[cfg(test)]
mod tests;
