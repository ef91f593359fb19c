//! Opens a picture in a browser.

use crate::say;
use anyhow::{Result, bail};
use rprof_untrusted::quoted;
use std::env;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Time to wait: a browser that cannot start fails within it.
const START_TIME: Duration = Duration::from_secs(2);

/// Opens a file, or says where it is and how to see it from elsewhere.
pub(crate) fn open(path: &Path) -> Result<()> {
    let path = std::path::absolute(path)?;
    let chosen = env::var("BROWSER").unwrap_or_default();
    let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    if chosen.is_empty() && !is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY") {
        say::line(elsewhere(&path, is_set("SSH_CONNECTION")));
        return Ok(());
    }
    let browsers = chosen.split(':').chain(["xdg-open"]);
    for words in browsers.filter_map(|browser| words(browser, &path)) {
        match start(&words) {
            Ok(child) => return watch(child, &words),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => bail!("starting {}: {error}", words[0].display()),
        }
    }
    bail!(
        "no browser found: neither $BROWSER nor xdg-open exists; the flame graph is {}",
        path.display()
    )
}

/// A browser's command line; `%s` stands for the file, by convention.
fn words(browser: &str, path: &Path) -> Option<Vec<OsString>> {
    let path = path.as_os_str();
    let mut words: Vec<OsString> = browser.split_whitespace().map(OsString::from).collect();
    words.first()?;
    match words.iter_mut().find(|word| *word == "%s") {
        Some(word) => path.clone_into(word),
        None => words.push(path.to_owned()),
    }
    Some(words)
}

/// Starts the browser in its own process group: it survives Ctrl-C in this terminal.
fn start(words: &[OsString]) -> std::io::Result<Child> {
    let mut command = Command::new(&words[0]);
    let quiet = command
        .args(&words[1..])
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    quiet.stderr(Stdio::null()).process_group(0).spawn()
}

/// Waits briefly: some browsers run for as long as the page is open.
fn watch(mut child: Child, words: &[OsString]) -> Result<()> {
    let (ended, end) = mpsc::channel();
    thread::spawn(move || ended.send(child.wait()));
    match end.recv_timeout(START_TIME) {
        Ok(Ok(status)) if !status.success() => bail!("{}: {status}", words[0].display()),
        _ => Ok(()),
    }
}

fn elsewhere(path: &Path, is_remote: bool) -> String {
    let word = quoted(path.as_os_str());
    let how = if is_remote {
        format!("from your machine: scp {}:{word} .", host())
    } else {
        let folder = quoted(path.parent().unwrap_or(path).as_os_str());
        format!("python3 -m http.server -b 127.0.0.1 -d {folder} serves it to browsers")
    };
    format!(
        "no display to open a browser on; the flame graph is {} ({how})",
        path.display()
    )
}

/// This machine's host name.
fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => "HOST".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_stands_where_the_browser_wants_it() {
        let line = |browser| words(browser, Path::new("/a b.svg"));
        let words = |all: &[&str]| Some(all.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(line("firefox"), words(&["firefox", "/a b.svg"]));
        assert_eq!(
            line("x --app %s -q"),
            words(&["x", "--app", "/a b.svg", "-q"])
        );
        assert_eq!(line(" "), None);
    }

    #[test]
    fn without_a_display_it_is_said_where_the_picture_is() {
        let said = elsewhere(Path::new("/tmp/a b/flame.svg"), true);
        assert!(
            said.contains("scp ") && said.contains("'/tmp/a b/flame.svg'"),
            "{said}"
        );
        let said = elsewhere(Path::new("/tmp/a b/flame.svg"), false);
        assert!(said.contains("-d '/tmp/a b' "), "{said}");
    }
}
