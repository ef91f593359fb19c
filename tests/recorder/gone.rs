//! Programs that are nowhere when a recording ends, and whose names are embedded all the same.

use crate::common::{compile_c, needs, report, rprof, run, scratch};

/// Runs itself from where it has no path any more (`memfd`), or deletes itself, and works.
const SOURCE: &str = r#"
    #define _GNU_SOURCE
    #include <fcntl.h>
    #include <string.h>
    #include <sys/mman.h>
    #include <sys/sendfile.h>
    #include <unistd.h>
    static volatile unsigned long sink;
    __attribute__((noinline)) void hidden(void) { WORK(300, sink += i); }
    int main(int n_args, char **args, char **environment) {
        if (n_args > 1 && !strcmp(args[1], "memfd")) {
            int memory = memfd_create("hidden", MFD_CLOEXEC), own = open("/proc/self/exe", O_RDONLY);
            while (sendfile(memory, own, 0, 1 << 20) > 0) {}
            char *again[] = { args[0], 0 };
            fexecve(memory, again, environment);
            return 1;
        }
        if (n_args > 1) unlink(args[0]);
        hidden();
        return 0;
    }"#;

#[test]
fn programs_that_are_gone_at_the_end_have_their_names_embedded() {
    needs!(cc, live);
    for how in ["deleted", "memfd"] {
        let dir = scratch();
        let program = compile_c(dir.path(), "program", SOURCE);
        let file = dir.path().join("perf.data");
        let mut record = rprof(["record", "--embed-symbols", "-e", "cpu-clock", "-F", "999"]);
        record.arg("-o").arg(&file).arg("--").arg(&program).arg(how);
        run(&mut record).ok();
        std::fs::remove_file(&program).ok();
        let table = report(&file, &["--no-children", "-g", "none"]);
        assert!(table.contains("[.] hidden"), "{how}: {table}");
    }
}
