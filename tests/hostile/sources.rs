//! Source files that a stranger's program names: root shows those that the stranger could read, and no others.

use crate::common::nobody::NOBODY;
use crate::common::{Program, needs, rprof, run, tool};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;

/// What stands in the files that the program names.
const SECRET: &str = "root:secret:19000:0:99999:7:::";

/// Each function says that it was compiled from another file.
const FILES: [&str; 5] = ["secret", "link", "inside", "environ", "public"];

/// A program whose functions are lines of files that others may not read, and of one that they may.
fn source(dir: &Path) -> String {
    let mut source = "static volatile unsigned long sink;\n".to_owned();
    for name in FILES {
        let path = match name {
            "inside" => dir.join("private/inside"),
            "environ" => "/proc/self/environ".into(),
            name => dir.join(name),
        };
        source += &format!("#line 1 \"{}\"\n", path.display());
        source +=
            &format!("__attribute__((noinline)) void in_{name}(void) {{ WORK(60, sink += i); }}\n");
    }
    let calls: String = FILES.iter().map(|name| format!("in_{name}(); ")).collect();
    source + &format!("int main(void) {{ {calls} return 0; }}\n")
}

/// Whether the file system of a folder is mounted `nosuid` (`Documentation/filesystems/proc.rst`, 3.5, v6.12).
fn is_nosuid(dir: &Path) -> bool {
    let dir = dir.canonicalize().unwrap();
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let mounts = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(4);
        Some((fields.next()?, fields.next()?))
    });
    let around = mounts.filter(|(point, _)| dir.starts_with(point));
    let (_, options) = around.max_by_key(|(point, _)| point.len()).unwrap();
    options.split(',').any(|option| option == "nosuid")
}

#[test]
fn root_shows_no_lines_of_files_that_the_owner_of_a_program_may_not_read() {
    needs!(root, cc);
    let Some(program) = Program::made(|path| {
        let dir = path.parent().unwrap();
        let source = source(dir);
        crate::common::compile(path, &source, &["-O1", "-g"]);
    }) else {
        return;
    };
    let dir = program.dir();
    fs::create_dir(dir.join("private")).unwrap();
    for (name, mode) in [
        ("secret", 0o600),
        ("private/inside", 0o644),
        ("public", 0o644),
    ] {
        fs::write(dir.join(name), format!("{SECRET}\n")).unwrap();
        fs::set_permissions(dir.join(name), Permissions::from_mode(mode)).unwrap();
    }
    fs::set_permissions(dir.join("private"), Permissions::from_mode(0o700)).unwrap();
    fs::set_permissions(dir, Permissions::from_mode(0o755)).unwrap();
    symlink(dir.join("secret"), dir.join("link")).unwrap();
    chown(program.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    let file = program.file("perf.data");
    let mut record = rprof(["record", "-q", "-e", "cpu-clock", "-F", "999", "-o"]);
    run(record.arg(&file).arg("--").arg(program.path())).ok();
    let annotate = |function: &str, args: &[&str]| {
        let mut annotate = rprof(["annotate", "-i"]);
        annotate.arg(&file).arg(function).args(args);
        run(annotate.env("SECRET", SECRET)).ok().stdout
    };
    for form in [
        &["--format", "text"][..],
        &["--format", "json"],
        &["--format", "markdown"],
    ] {
        for name in FILES {
            let text = annotate(&format!("in_{name}"), form);
            assert_eq!(
                text.contains(SECRET),
                name == "public",
                "{name} {form:?}: {text}"
            );
        }
    }
    let said = annotate("in_secret", &[]);
    assert!(
        said.contains("uid 65534, the owner of the file that names it, may not read it")
            || said.contains("it is not world-readable"),
        "{said}"
    );
    // Who names the folder says that they are to be read; a path does not lead out of it.
    let prefix = |from: &Path, to: &Path| format!("{}={}", from.display(), to.display());
    let named = annotate("in_secret", &["--source-prefix", &prefix(dir, dir)]);
    assert!(named.contains(SECRET), "{named}");
    // The same program as root's: what it names is what root reads, unless a user may have brought the file system.
    chown(program.path(), Some(0), Some(0)).unwrap();
    assert_eq!(annotate("in_secret", &[]).contains(SECRET), !is_nosuid(dir));
    assert!(
        !annotate("in_environ", &[]).contains(SECRET),
        "a file of the kernel's"
    );
    // Unless others may write to it.
    run(tool("chmod").arg("777").arg(program.path())).ok();
    assert!(!annotate("in_secret", &[]).contains(SECRET));
}
