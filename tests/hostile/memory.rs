//! What a program took, as the kernel counted it.

use crate::common::{Ran, compile_c, run, tool};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a command and writes down its greatest resident set.
const SOURCE: &str = r#"
    #include <stdio.h>
    #include <sys/resource.h>
    #include <sys/wait.h>
    #include <unistd.h>
    int main(int n_args, char **args) {
        struct rusage used;
        int status;
        int pid = fork();
        if (pid == 0) {
            execvp(args[2], args + 2);
            _exit(127);
        }
        if (pid < 0 || wait4(pid, &status, 0, &used) != pid) return 126;
        FILE *out = fopen(args[1], "w");
        fprintf(out, "%ld\n", used.ru_maxrss);
        fclose(out);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }"#;

/// Measures commands.
pub(crate) struct Peak {
    program: PathBuf,
    out: PathBuf,
}

impl Peak {
    pub(crate) fn new(dir: &Path) -> Self {
        Self {
            program: compile_c(dir, "peak", SOURCE),
            out: dir.join("peak.kib"),
        }
    }

    /// Runs a command; its greatest resident set, MiB.
    #[track_caller]
    pub(crate) fn of(&self, command: &Command) -> (Ran, u64) {
        let mut measured = tool(&self.program);
        measured.arg(&self.out).arg(command.get_program());
        measured.args(command.get_args());
        for (name, value) in command.get_envs() {
            measured.env(name, value.unwrap_or_default());
        }
        if let Some(dir) = command.get_current_dir() {
            measured.current_dir(dir);
        }
        let ran = run(&mut measured);
        let kib: u64 = std::fs::read_to_string(&self.out)
            .unwrap()
            .trim()
            .parse()
            .unwrap();
        (ran, kib >> 10)
    }
}
