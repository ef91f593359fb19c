//! A terminal: tmux has one, gets keys, and says what is on the screen.

use crate::common::{needs, scratch, tool};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::thread;
use std::time::{Duration, Instant};

/// Longer than any screen takes, on whatever machine.
const LONGEST: Duration = Duration::from_secs(60);
/// Between two looks at the screen.
const STEP: Duration = Duration::from_millis(20);

/// A terminal with a shell that runs a few lines, and then waits.
pub(crate) struct Terminal {
    dir: tempfile::TempDir,
}

impl Terminal {
    /// Starts the lines; `None` if there is no tmux.
    pub(crate) fn start((columns, lines): (u32, u32), script: &str) -> Option<Self> {
        needs!("tmux" in "tmux");
        let terminal = Self { dir: scratch() };
        std::fs::write(terminal.path("script"), format!("{script}\nexec cat\n")).unwrap();
        std::fs::write(
            terminal.path("tmux.conf"),
            "set -s escape-time 0\nset -g status off\n",
        )
        .unwrap();
        let (columns, lines) = (columns.to_string(), lines.to_string());
        let command = format!("exec sh {}", terminal.path("script").display());
        terminal.ok(&["new-session", "-d", "-x", &columns, "-y", &lines, &command]);
        Some(terminal)
    }

    /// A file in its folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Its folder.
    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    fn tmux(&self, words: &[&str]) -> Output {
        let mut tmux = tool("tmux");
        tmux.arg("-u")
            .arg("-S")
            .arg(self.path("socket"))
            .arg("-f")
            .arg(self.path("tmux.conf"));
        tmux.env("LC_ALL", "C.UTF-8")
            .env_remove("TMUX")
            .env_remove("NO_COLOR")
            .env_remove("COLORTERM");
        tmux.args(words).output().unwrap()
    }

    #[track_caller]
    fn ok(&self, words: &[&str]) -> String {
        let output = self.tmux(words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "tmux {words:?}: {said}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Presses keys, by tmux's names.
    #[track_caller]
    pub(crate) fn press(&self, keys: &[&str]) {
        self.ok(&[&["send-keys"], keys].concat());
    }

    /// Pastes a text, as a terminal does that says so.
    #[track_caller]
    pub(crate) fn paste(&self, text: &str) {
        self.ok(&["set-buffer", text]);
        self.ok(&["paste-buffer", "-p"]);
    }

    /// Takes it away from what runs in it.
    pub(crate) fn close(&self) {
        self.tmux(&["kill-server"]);
    }

    /// Waits for a file with lines, and returns them.
    #[track_caller]
    pub(crate) fn wait_for_file(&self, name: &str) -> String {
        let begin = Instant::now();
        loop {
            let text = std::fs::read_to_string(self.path(name)).unwrap_or_default();
            if text.ends_with('\n') {
                return text;
            }
            assert!(begin.elapsed() < LONGEST, "{name} was not written");
            thread::sleep(STEP);
        }
    }

    /// Waits until there is a file, and returns its path.
    #[track_caller]
    pub(crate) fn wait_for_path(&self, name: &str) -> PathBuf {
        let begin = Instant::now();
        let path = self.path(name);
        while !path.exists() {
            assert!(begin.elapsed() < LONGEST, "{name} was not made");
            thread::sleep(STEP);
        }
        path
    }

    /// Makes it larger or smaller.
    #[track_caller]
    pub(crate) fn resize(&self, columns: u32, lines: u32) {
        self.ok(&[
            "resize-window",
            "-x",
            &columns.to_string(),
            "-y",
            &lines.to_string(),
        ]);
    }

    /// What is on the screen.
    #[track_caller]
    pub(crate) fn screen(&self) -> String {
        self.ok(&["capture-pane", "-p"])
    }

    /// Whether programs have a screen of their own now.
    #[track_caller]
    pub(crate) fn is_other_screen(&self) -> bool {
        self.ok(&["display-message", "-p", "#{alternate_on}"])
            .trim()
            == "1"
    }

    /// Waits until what runs in it takes keys as they are pressed.
    #[track_caller]
    pub(crate) fn wait_for_keys(&self) {
        let tty = self.ok(&["display-message", "-p", "#{pane_tty}"]);
        let begin = Instant::now();
        loop {
            let mut stty = tool("stty");
            let said = stty.args(["-a", "-F", tty.trim()]).output().unwrap();
            if String::from_utf8_lossy(&said.stdout).contains("-icanon") {
                return;
            }
            assert!(begin.elapsed() < LONGEST, "{}", self.screen());
            thread::sleep(STEP);
        }
    }

    /// Waits for a text, and returns the screen.
    #[track_caller]
    pub(crate) fn wait(&self, text: &str) -> String {
        self.wait_until(text, |screen| screen.contains(text))
    }

    /// Waits for a screen that is such, drawn to its end: a terminal may show a part of it before.
    #[track_caller]
    pub(crate) fn wait_until(&self, what: &str, is_such: impl Fn(&str) -> bool) -> String {
        let begin = Instant::now();
        loop {
            let screen = self.screen();
            thread::sleep(STEP);
            if is_such(&screen) && self.screen() == screen {
                return screen;
            }
            assert!(begin.elapsed() < LONGEST, "{what} did not come:\n{screen}");
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}
