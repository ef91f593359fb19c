//! speedscope's format, and its released package.

use crate::common::{Recording, needs, run, scratch, tool};
use crate::export::recordings::{index, unpacked};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Checks a file; returns samples and weight of each event, in the order of `events`.
#[track_caller]
pub(crate) fn checked(file: &Value, events: &[(String, u64, u64)]) -> Vec<(String, u64, u64)> {
    assert_eq!(
        file["$schema"],
        "https://www.speedscope.app/file-format-schema.json"
    );
    let n_frames = file["shared"]["frames"].as_array().unwrap().len() as u64;
    let profiles = file["profiles"].as_array().unwrap();
    assert!(index(&file["activeProfileIndex"]) < profiles.len());
    let mut sums: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for profile in profiles {
        assert_eq!(profile["type"], "sampled");
        let samples = profile["samples"].as_array().unwrap();
        let weights = profile["weights"].as_array().unwrap();
        assert_eq!(samples.len(), weights.len());
        for frame in samples.iter().flat_map(|stack| stack.as_array().unwrap()) {
            assert!(frame.as_u64().unwrap() < n_frames);
        }
        let weight: u64 = weights.iter().map(|one| one.as_u64().unwrap()).sum();
        assert_eq!(profile["endValue"], weight);
        let name = profile["name"].as_str().unwrap();
        let event = match events {
            [(event, ..)] => event,
            _ => name.rsplit(' ').next().unwrap(),
        };
        let sum = sums.entry(event).or_default();
        *sum = (sum.0 + samples.len() as u64, sum.1 + weight);
    }
    let events = events.iter().map(|(event, ..)| {
        let (samples, weight) = sums.get(&event[..]).copied().unwrap_or_default();
        (event.clone(), samples, weight)
    });
    events.collect()
}

#[test]
fn stacks_are_outermost_first_and_weights_have_a_unit() {
    let dir = scratch();
    let file = Recording::fixture("spin").export_json(dir.path(), "spin.speedscope.json", &[]);
    let profile = &file["profiles"][0];
    assert_eq!(profile["name"], "spin 1269/1269");
    assert_eq!(profile["unit"], "nanoseconds");
    let name = |frame: &Value| {
        let frame = &file["shared"]["frames"][index(frame)];
        frame["name"].as_str().unwrap().to_owned()
    };
    let first = profile["samples"][0].as_array().unwrap();
    let names: Vec<String> = first.iter().map(name).collect();
    assert_eq!(
        names,
        ["[unknown]", "_start", "work", "hot", "helper (inlined)"]
    );
    let frames = file["shared"]["frames"].as_array().unwrap();
    let place = |name: &str| {
        let mut all = frames.iter().filter(|frame| frame["name"] == name);
        let (frame, others) = (all.next().unwrap(), all.count());
        assert_eq!(others, 0, "{name}");
        (frame["file"].as_str().unwrap(), frame["line"].as_u64())
    };
    for (name, line) in [("hot", 9), ("helper (inlined)", 6), ("work", 17)] {
        assert_eq!(place(name), ("./spin.c", Some(line)));
    }
    assert_eq!(place("[unknown]"), ("[unknown]", None));
    let packed = Recording::fixture("spin").export(dir.path(), "spin.speedscope.json.gz", &[]);
    let unpacked: Value = serde_json::from_slice(&unpacked(&packed)).unwrap();
    assert_eq!(unpacked, file);
}

/// The page as the package has it, with a profile in it; what its body is once that is loaded.
fn loaded(dir: &Path, profile: &Path) -> String {
    let package = dir.join("package/dist/release");
    let text = std::fs::read_to_string(profile).unwrap();
    // The page takes a profile from a script beside it: that is how its own command opens one.
    let encoded: String = text
        .bytes()
        .fold(String::new(), |all, byte| all + &format!("\\x{byte:02x}"));
    let script =
        format!("speedscope.loadFileFromBase64('spin.speedscope.json', btoa('{encoded}'))");
    std::fs::write(dir.join("spin.js"), script).unwrap();
    let url = format!(
        "file://{}/index.html#localProfilePath={}/spin.js",
        package.display(),
        dir.display()
    );
    let mut chromium = tool("chromium");
    chromium.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--enable-unsafe-swiftshader",
        "--allow-file-access-from-files",
        "--virtual-time-budget=20000",
        "--dump-dom",
    ]);
    let profile_dir = format!("--user-data-dir={}", dir.join("chromium").display());
    run(chromium.arg(profile_dir).arg(url)).ok().stdout
}

#[test]
fn the_released_package_loads_the_file() {
    needs!(wide, "chromium" in "chromium", "npm" in "npm");
    let dir = scratch();
    let mut npm = tool("npm");
    npm.args(["pack", "speedscope@1.25.0"])
        .current_dir(dir.path());
    run(&mut npm).ok();
    let mut tar = tool("tar");
    tar.args(["-xzf", "speedscope-1.25.0.tgz"])
        .current_dir(dir.path());
    run(&mut tar).ok();
    let profile = Recording::fixture("spin").export(dir.path(), "spin.speedscope.json", &[]);
    let page = loaded(dir.path(), &profile);
    // The toolbar has the profile's name once it is shown; before, the page says how to load one.
    assert!(page.contains("spin 1269/1269"), "{page}");
}
