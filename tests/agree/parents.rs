//! Parents (`--parent`) are those that perf finds.

use super::filters::compare;
use super::recordings;

#[test]
fn parents_are_those_of_perf() {
    let Some(recorded) = recordings() else {
        return;
    };
    for file in &recorded.files {
        // perf does not look among inlined functions.
        let compare = |args: &[&str]| compare(file, &[&["--no-inline"], args].concat());
        for names in [
            "leaf_b",
            "^main$|leaf_b",
            "^(main|leaf_[ab])$",
            "^no_such_function$",
        ] {
            for more in [
                &[][..],
                &["-s", "sym"],
                &["-s", "parent"],
                &["-s", "parent,dso"],
                &["--children", "-s", "parent,comm"],
                &["--children", "-s", "parent,dso"],
            ] {
                let rows = compare(&[&["-p", names], more].concat());
                assert!(!rows.is_empty(), "{names} {more:?}");
            }
            for percentage in ["absolute", "relative"] {
                let others = ["-x", "-p", names, "--percentage", percentage];
                let rows = compare(&others);
                assert_eq!(rows.is_empty(), names == "^no_such_function$", "{names}");
            }
        }
        assert_eq!(compare(&["-s", "parent"]).len(), 1);
        assert_eq!(compare(&["-x"]), []);
    }
}
