//! Which system calls are asked for, in the words of `perf trace -e`.

use crate::SyscallNames;
use rprof_base::{glob_matches, is_glob};

/// A list of system calls: those of it, or all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyscallSelection {
    is_negated: bool,
    /// Names, or patterns of names.
    names: Vec<String>,
}

/// Why a list of system calls is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectionError {
    /// It names nothing.
    #[error("no system call is named")]
    Empty,
    /// A name is that of no call.
    #[error("no system call has the name '{name}'")]
    Unknown {
        /// The name or pattern.
        name: String,
    },
    /// An exclamation mark is not in front of the whole list.
    #[error("'!' is only possible in front of the whole list: it asks for all other system calls")]
    Mixed,
}

/// Names that stand for several calls.
///
/// Source: tools/perf/trace/strace/groups (v6.1).
const GROUPS: &[(&str, &str)] = &[
    (
        "file",
        "access chmod creat execve faccessat getcwd lstat mkdir open openat quotactl read readlink rename rmdir stat statfs \
         symlink unlink write",
    ),
    (
        "string",
        "access acct add_key chdir chmod chown chroot creat delete_module execve execveat faccessat fchmodat fchownat \
         fgetxattr finit_module fremovexattr fsetxattr futimesat getxattr inotify_add_watch lchown lgetxattr link linkat \
         listxattr llistxattr lremovexattr lsetxattr lstat memfd_create mkdir mkdirat mknod mknodat mq_open mq_timedsend \
         mq_unlink name_to_handle_at newfstatat open openat pivot_root pwrite64 quotactl readlink readlinkat removexattr \
         rename renameat renameat2 request_key rmdir setxattr stat statfs statx swapoff swapon symlink symlinkat truncate \
         unlink unlinkat utimensat",
    ),
];

impl SyscallSelection {
    /// Reads lists: `openat,read`, `!futex`, patterns such as `clock_*`, groups such as `file`. Names are those of any of
    /// `known`.
    ///
    /// # Errors
    /// [`SelectionError`] if a name is that of no call, or there is none.
    pub fn parse(lists: &[String], known: &[&SyscallNames]) -> Result<Self, SelectionError> {
        let n_negated = lists.iter().filter(|list| list.starts_with('!')).count();
        if n_negated > 0 && n_negated < lists.len() {
            return Err(SelectionError::Mixed);
        }
        let lists = lists
            .iter()
            .map(|list| list.strip_prefix('!').unwrap_or(list));
        let words = lists.flat_map(|list| list.split(',')).map(str::trim);
        let mut names = Vec::new();
        for word in words.filter(|word| !word.is_empty()) {
            if word.starts_with('!') {
                return Err(SelectionError::Mixed);
            }
            let group = GROUPS.iter().find(|(group, _)| *group == word);
            if let Some((_, members)) = group {
                names.extend(members.split_whitespace().map(str::to_owned));
                continue;
            }
            let is_known = known
                .iter()
                .any(|names| names.all().any(|(_, name)| fits(word, name)));
            if !is_known {
                return Err(SelectionError::Unknown {
                    name: word.to_owned(),
                });
            }
            names.push(word.to_owned());
        }
        if names.is_empty() {
            return Err(SelectionError::Empty);
        }
        Ok(Self {
            is_negated: n_negated > 0,
            names,
        })
    }

    /// Whether a call is asked for; one without a name is if others than the named are.
    pub fn has(&self, name: Option<&str>) -> bool {
        let is_named = name.is_some_and(|name| self.names.iter().any(|word| fits(word, name)));
        is_named != self.is_negated
    }

    /// The numbers of what is named; `None` if all others are asked for.
    pub fn numbers(&self, names: &SyscallNames) -> Option<Vec<i64>> {
        let own = names.all().filter(|(_, name)| self.has(Some(name)));
        let mut numbers: Vec<i64> = own.map(|(number, _)| number).collect();
        numbers.sort_unstable();
        (!self.is_negated).then_some(numbers)
    }
}

fn fits(word: &str, name: &str) -> bool {
    word == name || is_glob(word) && glob_matches(word, name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SyscallAbi;

    fn parse(lists: &[&str]) -> Result<SyscallSelection, SelectionError> {
        let names = SyscallNames::of(SyscallAbi::X86_64);
        let lists: Vec<String> = lists.iter().map(|&list| list.to_owned()).collect();
        SyscallSelection::parse(&lists, &[&names])
    }

    #[test]
    fn lists_patterns_and_groups_name_calls() {
        let some = parse(&["openat,clock_*", "file"]).unwrap();
        for name in ["openat", "clock_nanosleep", "read", "execve"] {
            assert!(some.has(Some(name)), "{name}");
        }
        assert!(!some.has(Some("futex")) && !some.has(None));
        let others = parse(&["!futex,poll"]).unwrap();
        assert!(others.has(Some("read")) && others.has(None));
        assert!(!others.has(Some("futex")) && !others.has(Some("poll")));
    }

    #[test]
    fn what_names_no_call_is_an_error() {
        let unknown = |name: &str| SelectionError::Unknown {
            name: name.to_owned(),
        };
        assert_eq!(parse(&["openat,opanat"]), Err(unknown("opanat")));
        assert_eq!(parse(&["x*"]), Err(unknown("x*")));
        assert_eq!(parse(&["!"]), Err(SelectionError::Empty));
        assert_eq!(parse(&["read,!write"]), Err(SelectionError::Mixed));
        assert_eq!(parse(&["read", "!write"]), Err(SelectionError::Mixed));
    }

    #[test]
    fn numbers_are_those_of_an_abi() {
        let some = parse(&["read,openat"]).unwrap();
        let numbers = |abi| some.numbers(&SyscallNames::of(abi));
        assert_eq!(numbers(SyscallAbi::I386), Some(vec![3, 295]));
        assert_eq!(numbers(SyscallAbi::Generic), Some(vec![56, 63]));
        let others = parse(&["!read"]).unwrap();
        assert_eq!(others.numbers(&SyscallNames::of(SyscallAbi::X86_64)), None);
    }
}
