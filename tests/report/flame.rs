//! `rprof flame`: where the picture goes, what it holds, and a command that is recorded for it.

use crate::common::work::burn;
use crate::common::{Ran, closed_pipe, needs, rprof, run, scratch, tool, write};
use crate::report::{read, spin};
use std::path::Path;
use std::process::Command;

/// Draws the fixture, in a folder.
fn flame(dir: &Path, args: &[&str]) -> Command {
    let mut command = rprof(["flame", "-i"]);
    command.arg(spin().join("perf.data"));
    command.arg("--symfs").arg(spin().join("root"));
    command.args(args).current_dir(dir);
    for name in ["BROWSER", "DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION"] {
        command.env_remove(name);
    }
    command
}

fn drawn(dir: &Path, args: &[&str]) -> (Ran, String) {
    let ran = run(&mut flame(dir, &[&["-o", "x.svg"], args].concat())).ok();
    assert_eq!(ran.stdout, "");
    let picture = std::fs::read_to_string(dir.join("x.svg")).unwrap();
    (ran, picture)
}

#[test]
fn a_file_has_what_standard_output_would() {
    let dir = scratch();
    let (_, picture) = drawn(dir.path(), &[]);
    assert_eq!(picture, read("flame", &[]).ok().stdout);
    assert_eq!(picture, read("flame", &["-o", "-"]).ok().stdout);
    let stacks = run(&mut flame(dir.path(), &["--folded", "-o", "x.folded"])).ok();
    assert_eq!(stacks.stdout, "");
    let written = std::fs::read_to_string(dir.path().join("x.folded")).unwrap();
    assert_eq!(written, read("flame", &["--folded"]).ok().stdout);
}

#[test]
fn on_a_terminal_the_picture_is_a_file() {
    needs!("script" in "bsdutils");
    let dir = scratch();
    let mut script = tool("script");
    let rprof = env!("CARGO_BIN_EXE_rprof");
    let line = format!("{rprof} flame -i {}", spin().join("perf.data").display());
    script
        .args(["-qec", &line, "/dev/null"])
        .current_dir(dir.path());
    let said = run(script.stdin(closed_pipe()).env("SHELL", "/bin/sh"))
        .ok()
        .stdout;
    assert!(said.contains("rprof: wrote flame.svg"), "{said}");
    let picture = std::fs::read_to_string(dir.path().join("flame.svg")).unwrap();
    assert!(picture.ends_with("</g></svg>\n"), "{picture}");
}

#[test]
fn the_picture_looks_as_it_was_asked_to() {
    let dir = scratch();
    let words = [
        "--width",
        "640",
        "--title",
        "<&>\"'",
        "--subtitle",
        "]]> <b>",
    ];
    let (_, picture) = drawn(dir.path(), &words);
    assert!(picture.contains("width=\"640\""), "{picture}");
    assert!(picture.contains("var fluiddrawing = false"), "{picture}");
    assert!(
        picture.contains("&lt;&amp;&gt;") && !picture.contains("<b>"),
        "{picture}"
    );
    let (said, wide) = drawn(dir.path(), &["--min-width", "50"]);
    assert!(
        said.stderr
            .contains("not drawn: 1 frame narrower than 50 %"),
        "{}",
        said.stderr
    );
    assert!(!wide.contains("<title>cold (") && wide.contains("<title>hot ("));
    let fills = |picture: &str| -> Vec<String> {
        let fills = picture.split("fill=\"rgb(").skip(1);
        fills
            .filter_map(|rest| Some(rest.split_once(')')?.0.to_owned()))
            .collect()
    };
    let (_, blue) = drawn(dir.path(), &["--palette", "blue"]);
    let is_text = |fill: &&String| *fill == "0,0,0";
    assert!(
        fills(&blue)
            .iter()
            .filter(|fill| !is_text(fill))
            .all(|fill| {
                let rgb: Vec<u8> = fill.split(',').map(|part| part.parse().unwrap()).collect();
                rgb[2] > rgb[0] && rgb[2] > rgb[1]
            })
    );
    for bad in [
        &["--palette", "pink"][..],
        &["--width", "9"],
        &["--min-width", "x"],
    ] {
        read("flame", bad).fails(2);
    }
}

#[test]
fn frames_are_told_apart_by_line_where_that_is_asked() {
    let dir = scratch();
    let (_, functions) = drawn(dir.path(), &[]);
    let (_, lines) = drawn(dir.path(), &["--frames", "srcline"]);
    assert!(functions.contains("<title>hot ("), "{functions}");
    assert!(lines.contains("<title>hot spin.c:"), "{lines}");
    let count = |picture: &str| picture.matches("<title>").count();
    assert!(count(&lines) > count(&functions), "{lines}");
    // What the picture is of, and how good it is, is said on it.
    assert!(functions.contains(" UTC, 0 samples lost, "), "{functions}");
    assert!(functions.contains(" % without names"), "{functions}");
}

#[test]
fn a_chart_has_all_samples_in_order_of_time() {
    let dir = scratch();
    let (_, merged) = drawn(dir.path(), &["--min-width", "0"]);
    let (_, chart) = drawn(dir.path(), &["--flamechart", "--min-width", "0"]);
    let all = |picture: &str| {
        let whole = picture.split("<title>all (").nth(1);
        whole.and_then(|text| Some(text.split_once(')')?.0.to_owned()))
    };
    assert!(all(&merged).is_some(), "{merged}");
    assert_eq!(all(&chart), all(&merged));
    // What is not next to each other is not one frame.
    let hot = |picture: &str| picture.matches("<title>hot (").count();
    assert_eq!(hot(&merged), 1);
    assert!(hot(&chart) > 1, "{chart}");
    let refused = read("flame", &["--flamechart", "--folded"]).fails(2);
    assert!(refused.contains("cannot be used with"), "{refused}");
}

#[test]
fn the_picture_is_opened_or_it_is_said_where_it_is() {
    let dir = scratch();
    let said = run(&mut flame(dir.path(), &["--open"])).ok();
    let path = dir.path().join("flame.svg");
    let where_it_is = format!(
        "the flame graph is {} (python3 -m http.server",
        path.display()
    );
    assert!(said.stderr.contains(&where_it_is), "{}", said.stderr);
    let mut remote = flame(dir.path(), &["--open"]);
    let said = run(remote.env("SSH_CONNECTION", "1.2.3.4 5 6.7.8.9 22")).ok();
    assert!(said.stderr.contains("scp "), "{}", said.stderr);
    let browser = dir.path().join("browser");
    write(&browser, b"#!/bin/sh\necho \"$@\" > opened\n");
    let line = format!("no-such-browser:sh {} --new %s last", browser.display());
    run(flame(dir.path(), &["--open", "-o", "y.svg"]).env("BROWSER", line)).ok();
    let opened = std::fs::read_to_string(dir.path().join("opened")).unwrap();
    assert_eq!(
        opened,
        format!("--new {} last\n", dir.path().join("y.svg").display())
    );
    let failed = run(flame(dir.path(), &["--open"]).env("BROWSER", "false")).fails(1);
    assert!(failed.contains("false: exit status: 1"), "{failed}");
    run(&mut flame(dir.path(), &["--open", "--folded"])).fails(2);
    run(&mut flame(dir.path(), &["--open", "-o", "-"])).fails(2);
}

#[test]
fn a_command_is_recorded_and_drawn_in_one_step() {
    needs!(alone);
    let dir = scratch();
    let script = format!("{}; echo done; exit 7", burn(20));
    let flame = |args: &[&str], script: &str| {
        let mut command = rprof(["flame", "-e", "cpu-clock"]);
        command.args(args).args(["--", "sh", "-c", script]);
        run(command.current_dir(dir.path()).env("TMPDIR", dir.path()))
    };
    let ran = flame(&["-F", "499", "--call-graph", "fp"], &script);
    assert_eq!(
        (ran.status.code(), &*ran.stdout),
        (Some(7), "done\n"),
        "{}",
        ran.stderr
    );
    // On a busy machine it says, too, for how much of the time the command ran.
    assert!(ran.stderr.contains(" samples, 0 lost"), "{}", ran.stderr);
    assert!(
        ran.stderr
            .ends_with("rprof: wrote flame.svg; open it in a browser\n")
    );
    // The recording is gone.
    let left: Vec<_> = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|one| one.unwrap().file_name())
        .collect();
    assert_eq!(left, ["flame.svg"]);
    let stacks = flame(&["--folded", "-o", "x"], &burn(20)).ok();
    assert_eq!(stacks.stdout, "");
    let stacks = std::fs::read_to_string(dir.path().join("x")).unwrap();
    assert!(
        stacks.lines().all(|line| line.starts_with("sh;")),
        "{stacks}"
    );
    let error = flame(&["--folded"], "true").fails(2);
    assert!(error.contains("-o"), "{error}");
    flame(&["-o", "-"], "true").fails(2);
    flame(&["-F", "none"], "true").fails(2);
}

/// The picture as chromium has it, once a script in it has run.
fn after(dir: &Path, picture: &str, script: &str) -> String {
    let (picture, end) = picture.split_at(picture.rfind("</svg>").unwrap());
    // After the picture's own start.
    let script = format!("<script>setTimeout(() => {{ {script} }}, 100)</script>");
    let file = dir.join("page.svg");
    write(&file, format!("{picture}{script}{end}").as_bytes());
    let mut chromium = tool("chromium");
    chromium.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--window-size=600,400",
    ]);
    chromium.args(["--virtual-time-budget=5000", "--dump-dom"]);
    chromium.arg(format!(
        "--user-data-dir={}",
        dir.join("chromium").display()
    ));
    run(chromium.arg(format!("file://{}", file.display())))
        .ok()
        .stdout
}

#[test]
fn a_browser_searches_and_zooms() {
    needs!(wide, "chromium" in "chromium");
    let dir = scratch();
    for width in [&[][..], &["--width", "600"]] {
        let (_, picture) = drawn(dir.path(), width);
        let searched = after(dir.path(), &picture, "search('^hot')");
        assert!(searched.contains(">Matched: 70.3%<"), "{searched}");
        let hot = searched.split("<title>hot (").nth(1).unwrap();
        let (rect, _) = hot.split_once("</rect>").or(hot.split_once("/>")).unwrap();
        assert!(rect.contains("rgb(230,0,230)"), "{rect}");
        let cold = "find_group([...document.querySelectorAll('title')].find(\
                    one => one.textContent.startsWith('cold')))";
        let zoomed = after(dir.path(), &picture, &format!("zoom({cold})"));
        // What is beside it goes, what is below it stays.
        for (name, class) in [("hot", "hide"), ("helper", "hide"), ("work", "parent")] {
            let box_of = format!("<g class=\"{class}\"><title>{name} (");
            assert!(zoomed.contains(&box_of), "{name}: {zoomed}");
        }
        assert!(zoomed.contains("<g><title>cold ("), "{zoomed}");
    }
}
