//! Functions of one name in one image: one row, unless told apart.

use crate::common::{Program, needs, rprof, run, tool, work};

/// A static function `work` that takes a while; `NAME` calls it.
const PART: &str = r"
    static volatile long sink;
    static __attribute__((noinline)) void work(long n) { for (long i = 0; i < n; i++) sink += i; }
    void NAME(void) { work(20000); sink++; }";

const MAIN: &str = r"
    void one(void);
    void two(void);
    int main(void) { for (long end = CPU_US() + 300000; CPU_US() < end;) { one(); two(); } return 0; }";

/// A program with two functions `work`.
fn program() -> Option<Program> {
    needs!(cc);
    Program::made(|path| {
        let mut cc = tool("cc");
        cc.args(["-O1", "-g", "-fno-omit-frame-pointer", "-o"])
            .arg(path);
        let sources = [
            ("one", PART.replace("NAME", "one")),
            ("two", PART.replace("NAME", "two")),
            ("main", format!("{}{MAIN}", work::C)),
        ];
        for (name, source) in sources {
            let file = path.with_file_name(format!("{name}.c"));
            std::fs::write(&file, source).unwrap();
            cc.arg(file);
        }
        run(&mut cc).ok();
    })
}

/// Samples of each row whose function is `work`.
fn rows(table: &str) -> Vec<u64> {
    let rows = table.lines().filter(|line| line.contains("[.] work"));
    let samples = rows.map(|row| row.split(';').next().unwrap().trim().parse().unwrap());
    samples.collect()
}

#[test]
fn functions_of_one_name_are_one_row_unless_told_apart() {
    let Some(program) = program() else {
        return;
    };
    let args = ["-q", "-e", "cpu-clock:u", "-F", "1999"];
    let file = program.record(&args, &[]).file;
    let read = |verb: &str, args: &[&str]| {
        let mut rprof = rprof([verb, "-i"]);
        run(rprof.arg(&file).args(args)).ok().stdout
    };
    let flat = ["--no-children", "-g", "none", "-t", ";", "-F"];
    let together = rows(&read("report", &[&flat[..], &["sample,sym"]].concat()));
    assert_eq!(together.len(), 1);
    let apart = ["sample,sym,symbol_start"];
    let apart = rows(&read("report", &[&flat[..], &apart].concat()));
    assert_eq!((apart.len(), apart.iter().sum()), (2, together[0]));
    // Trees and stacks, too: a function is a frame, whichever code it has.
    let tree = read("report", &["-g", "caller", "-s", "dso", "-S", "work"]);
    // Below `one` and below `two`, of the program and of the library that called it.
    assert_eq!(tree.matches("work\n").count(), 4, "{tree}");
    let mut diff = rprof(["diff", "-s", "sym", "--exact-names", "--format", "csv"]);
    let diff = run(diff.args([&file, &file])).ok().stdout;
    let rows = diff.lines().filter(|line| line.contains("[.] work"));
    assert_eq!(rows.count(), 1, "{diff}");
}
