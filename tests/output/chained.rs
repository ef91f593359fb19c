//! Files that begin while processes end: each has the names and mappings of all that is in it.

use super::switched::{finished, samples_of};
use crate::common::{Program, report, samples};

#[test]
fn every_file_knows_children_whose_parents_end_meanwhile() {
    // Each process ends as soon as it has started the next one.
    let source = r#"
        #include <sys/wait.h>
        #include <unistd.h>
        static volatile unsigned long sink;
        static void chain(int n) {
            while (n--) {
                for (long end = CPU_US() + 2000; CPU_US() < end;) sink++;
                if (fork()) _exit(0);
            }
        }
        int main(void) {
            int ends[2];
            char none;
            if (pipe(ends)) return 1;
            if (!fork()) { chain(1000); return 0; }
            close(ends[1]);
            // All have the other end.
            return read(ends[0], &none, 1);
        }
    "#;
    let Some(program) = Program::new(source, &["-O1"]) else {
        return;
    };
    let recording = program.record(&["-F", "4000", "--switch-output=8K"], &[]);
    let mut files = finished(program.dir());
    files.retain(|file| file.to_str().unwrap().contains("perf.data"));
    assert!(files.len() > 10, "{}", recording.stderr);
    let mut sum = 0;
    for file in &files {
        sum += samples_of(file);
        let args = ["--no-children", "-g", "none", "--sort", "comm,dso"];
        let table = report(file, &args);
        let rows = table
            .lines()
            .filter(|line| line.contains('%') && !line.starts_with('#'));
        let unknown: Vec<_> = rows
            .filter(|row| row.contains("[unknown]") || !row.contains(" program "))
            .collect();
        assert!(unknown.is_empty(), "{}: {table}", file.display());
    }
    assert_eq!(sum, samples(&recording.stderr));
}
