//! What stands between this user and a profile, and the smallest step that would help.
//!
//! Each check is a line of [`CHECKS`]: a function from what is known ([`Examined`]) to a [`Check`].

mod check;
mod confinement;
mod examined;
mod limits;
mod names;
mod opening;
mod outlook;
mod tracing;
mod tried;

use examined::Examined;
use rprof_abi::{Fields, Value};
use rprof_ringbuf::sys::Rights;
use rprof_targets::rights::Facts;
use tried::Tried;

pub use check::{Check, State};

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

/// A check; `None` where there is nothing to say.
type Look = fn(&Examined<'_>) -> Option<Check>;

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
    Diagnosis::new(&Examined {
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

    fn new(examined: &Examined<'_>) -> Self {
        let checks: Vec<Check> = CHECKS.iter().filter_map(|look| look(examined)).collect();
        let has = |state| checks.iter().any(|check| check.state == state);
        let profile = match (has(State::Blocked), has(State::Less)) {
            (true, _) => Prospect::None,
            (false, true) => Prospect::Less,
            (false, false) => Prospect::Full,
        };
        Self {
            outlook: outlook::in_words(examined),
            checks,
            profile,
        }
    }
}

#[cfg(test)]
mod made_up;
#[cfg(test)]
mod tests;
