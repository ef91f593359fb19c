//! What the environment says of servers with debug files: variables and defaults are those of
//! elfutils' client (debuginfod-client.c, 0.188), so that one setting serves gdb, perf and rprof.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Which servers are asked, and how long an answer may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DebuginfodSettings {
    /// Servers, the first ones first (`DEBUGINFOD_URLS`).
    pub urls: Vec<String>,
    /// Folder of what was fetched before, shared with other clients.
    pub cache: PathBuf,
    /// Longest silence of a server (`DEBUGINFOD_TIMEOUT`).
    pub timeout: Duration,
    /// Longest time of one download (`DEBUGINFOD_MAXTIME`).
    pub max_time: Option<Duration>,
    /// Most bytes of a file (`DEBUGINFOD_MAXSIZE`).
    pub max_size: u64,
    /// How long all waiting together may hold up a result: time in which nothing else is done.
    pub wait: Duration,
}

impl DebuginfodSettings {
    /// How long a result is held up if nobody says otherwise.
    pub const WAIT: Duration = Duration::from_millis(1500);

    const TIMEOUT: Duration = Duration::from_secs(90);

    /// Beyond any debug file there is, and no more than a disk can bear.
    const MAX_SIZE: u64 = 8 << 30;

    /// More servers than anybody has are a mistake.
    const MAX_SERVERS: usize = 8;

    /// What the environment says; `None` if no server is named in it.
    pub fn from_env() -> Option<Self> {
        Self::from_variables(|name| std::env::var_os(name))
    }

    fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        let text = |name| variable(name)?.into_string().ok();
        let urls: Vec<String> = text("DEBUGINFOD_URLS")?
            .split_whitespace()
            // Other words are options of elfutils (`ima:enforcing`).
            .filter(|url| url.starts_with("http://") || url.starts_with("https://"))
            .map(|url| url.trim_end_matches('/').to_owned())
            .take(Self::MAX_SERVERS)
            .collect();
        if urls.is_empty() {
            return None;
        }
        let number = |name| text(name)?.trim().parse::<u64>().ok().filter(|&n| n > 0);
        let path = |name: &str| variable(name).map(PathBuf::from);
        Some(Self {
            urls,
            cache: cache_dir(path)?,
            timeout: number("DEBUGINFOD_TIMEOUT").map_or(Self::TIMEOUT, Duration::from_secs),
            max_time: number("DEBUGINFOD_MAXTIME").map(Duration::from_secs),
            max_size: number("DEBUGINFOD_MAXSIZE")
                .map_or(Self::MAX_SIZE, |n| n.min(Self::MAX_SIZE)),
            wait: Self::WAIT,
        })
    }
}

/// The folder that elfutils' client would take: an old one in the home folder if it is there.
fn cache_dir(path: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let set = |name: &str| path(name).filter(|path| !path.as_os_str().is_empty());
    if let Some(dir) = set("DEBUGINFOD_CACHE_PATH") {
        return Some(dir);
    }
    let home = set("HOME");
    let old = home
        .as_deref()
        .map(|home| home.join(".debuginfod_client_cache"));
    if let Some(old) = old.filter(|old| old.is_dir()) {
        return Some(old);
    }
    let caches = set("XDG_CACHE_HOME");
    let caches = caches.or_else(|| Some(Path::new(&home?).join(".cache")))?;
    Some(caches.join("debuginfod_client"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Option<DebuginfodSettings> {
        DebuginfodSettings::from_variables(|name| {
            let found = variables.iter().find(|(known, _)| *known == name)?;
            Some(OsString::from(found.1))
        })
    }

    #[test]
    fn nothing_is_asked_unless_a_server_is_named() {
        for urls in ["", "  ", "ima:enforcing", "ftp://x"] {
            assert_eq!(of(&[("DEBUGINFOD_URLS", urls), ("HOME", "/h")]), None);
        }
        assert_eq!(of(&[("HOME", "/h")]), None);
    }

    #[test]
    fn variables_are_those_of_elfutils() {
        let settings = of(&[
            ("DEBUGINFOD_URLS", "http://a/ ima:enforcing https://b"),
            ("HOME", "/h"),
            ("DEBUGINFOD_TIMEOUT", "7"),
            ("DEBUGINFOD_MAXTIME", "0"),
            ("DEBUGINFOD_MAXSIZE", "1000"),
        ]);
        let settings = settings.unwrap();
        assert_eq!(settings.urls, ["http://a", "https://b"]);
        assert_eq!(settings.cache, Path::new("/h/.cache/debuginfod_client"));
        assert_eq!(settings.timeout, Duration::from_secs(7));
        assert_eq!((settings.max_time, settings.max_size), (None, 1000));
        let caches = |variables: &[(&str, &str)]| {
            let mut all = vec![("DEBUGINFOD_URLS", "http://a"), ("HOME", "/h")];
            all.extend(variables);
            of(&all).unwrap().cache
        };
        let xdg = ("XDG_CACHE_HOME", "/x");
        assert_eq!(caches(&[xdg]), Path::new("/x/debuginfod_client"));
        assert_eq!(
            caches(&[xdg, ("DEBUGINFOD_CACHE_PATH", "/c")]),
            Path::new("/c")
        );
    }
}
