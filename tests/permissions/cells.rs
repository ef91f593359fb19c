//! A user with certain rights, who asks the doctor and records.

use crate::common::nobody::Nobody;
use crate::common::{Live, Ran, compile_c, live_alone, needs, run, samples};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

/// Who runs it, and within what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Root,
    /// Root whose capabilities are all gone but these.
    RootWith(&'static str),
    Nobody,
    /// Root of a user namespace that nobody made.
    RootOfNamespace,
}

/// Runs programs as somebody, in a folder that everybody may write to.
pub(crate) struct Cells {
    pub(crate) nobody: Nobody,
    filter: PathBuf,
}

/// Installs a filter that answers `perf_event_open` with an error, and executes what follows. If the number
/// is negative, it answers so to `ptrace`, too.
const FILTER: &str = r#"
    #include <errno.h>
    #include <linux/filter.h>
    #include <linux/seccomp.h>
    #include <stddef.h>
    #include <stdlib.h>
    #include <sys/prctl.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    int main(int argc, char **argv) {
        int number = atoi(argv[1]);
        unsigned error = abs(number);
        unsigned other = number < 0 ? __NR_ptrace : __NR_perf_event_open;
        struct sock_filter filter[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_perf_event_open, 1, 0),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, other, 0, 1),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = { sizeof filter / sizeof *filter, filter };
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
            return 99;
        execvp(argv[2], argv + 2);
        return 98;
    }"#;

/// Root's cells, and the place alone: rights are the whole machine's. `None` if something for it is not here.
#[track_caller]
pub(crate) fn start() -> Option<(Live, Cells)> {
    let live = live_alone()?;
    needs!(root);
    Some((live, Cells::new()?))
}

impl Cells {
    /// `None` if something for it is not here, which is said.
    #[track_caller]
    pub(crate) fn new() -> Option<Self> {
        needs!(cc, "setpriv" in "util-linux");
        let nobody = Nobody::new()?;
        let filter = compile_c(nobody.dir.path(), "filter", FILTER);
        Some(Self { nobody, filter })
    }

    /// `rprof ARGS` as somebody; `around` is a program with arguments that executes what follows.
    pub(crate) fn rprof(&self, who: Who, around: &[&str], args: &[&str]) -> Command {
        let dir = self.nobody.dir.path();
        let rprof = dir.join("rprof");
        let mut words: Vec<&str> = Vec::new();
        let bounding;
        match who {
            Who::Root | Who::Nobody => {}
            Who::RootWith(capabilities) => {
                bounding = format!("--bounding-set=-all{capabilities}");
                words.extend(["setpriv", "--inh-caps=-all", &bounding]);
            }
            Who::RootOfNamespace => words.extend(["unshare", "-Ur"]),
        }
        words.extend(around);
        words.push(rprof.to_str().unwrap());
        words.extend(args);
        let (program, rest) = words.split_first().unwrap();
        let mut command = match who {
            Who::Root | Who::RootWith(_) => Command::new(program),
            Who::Nobody | Who::RootOfNamespace => self.nobody.command(program),
        };
        command.args(rest).current_dir(dir).env("HOME", dir);
        command
    }

    /// The filter's program, and the number of its error.
    pub(crate) fn filter(&self) -> &str {
        self.filter.to_str().unwrap()
    }

    /// What the doctor says: a profile in full, less, or none; with the exit status that goes with it.
    #[track_caller]
    pub(crate) fn doctor(&self, who: Who, around: &[&str]) -> Value {
        let ran = run(&mut self.rprof(who, around, &["doctor", "--json"]));
        let said: Value =
            serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
        assert_eq!(said["schema"], "rprof-doctor");
        let status = match said["profile"].as_str() {
            Some("full") => 0,
            Some("less") => 1,
            _ => 3,
        };
        assert_eq!(ran.status.code(), Some(status), "{ran:?}");
        said
    }

    /// Records what works for a moment.
    pub(crate) fn record(&self, who: Who, around: &[&str], args: &[&str]) -> Ran {
        let work = crate::common::work::burn(10);
        let args = [&["record", "-F", "999"], args, &["sh", "-c", &work]].concat();
        let ran = run(&mut self.rprof(who, around, &args));
        assert!(!ran.stderr.contains("panicked"), "{ran:?}");
        assert!(!ran.stderr.contains("paranoid=-1"), "{ran:?}");
        ran
    }

    /// A profile, and each of these words in exactly one line.
    #[track_caller]
    pub(crate) fn records(&self, who: Who, around: &[&str], args: &[&str], words: &[&str]) -> Ran {
        let ran = self.record(who, around, args).ok();
        assert!(
            samples(&ran.stderr) > 0,
            "{who:?} {around:?}: {}",
            ran.stderr
        );
        for word in words {
            let lines = ran.stderr.lines().filter(|line| line.contains(word));
            assert_eq!(
                lines.count(),
                1,
                "{who:?} {around:?}, {word}: {}",
                ran.stderr
            );
        }
        ran
    }

    /// No profile, and one line with all of these words.
    #[track_caller]
    pub(crate) fn refuses(&self, who: Who, around: &[&str], args: &[&str], words: &[&str]) {
        let error = self.record(who, around, args).fails(1);
        let last = error.lines().last().unwrap();
        for word in words {
            assert!(last.contains(word), "{who:?} {around:?}, {word}: {error}");
        }
    }
}
