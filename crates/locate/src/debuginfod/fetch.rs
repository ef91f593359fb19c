//! One request to one server.

use super::cache::{Cache, hex};
use super::request::Request;
use super::settings::DebuginfodSettings;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempPath;
use ureq::Agent;

/// What a server answered.
#[derive(Debug)]
pub(super) enum Answer {
    /// The file, not yet looked at.
    File(TempPath),
    /// It has no such file.
    Missing,
    /// It could not be asked, or what it sent is of no use.
    Failed(String),
}

/// Who is told how a download goes, and may end it.
pub(super) trait Watcher {
    /// A file was begun.
    fn begin(&self, partial: &Path);
    /// This many bytes came; whether to go on.
    fn more(&self, len: usize) -> bool;
}

/// Speaks HTTP with all servers.
#[derive(Debug)]
pub(super) struct Client {
    agent: Agent,
    timeout: Duration,
    max_size: u64,
}

/// elfutils asks for so much within `DEBUGINFOD_TIMEOUT`; slower servers count as silent.
const LEAST_BYTES: u64 = 100 << 10;

impl Client {
    pub(super) fn new(settings: &DebuginfodSettings) -> Self {
        let timeout = Some(settings.timeout);
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .user_agent(concat!("rprof/", env!("CARGO_PKG_VERSION")))
            .timeout_global(settings.max_time)
            .timeout_resolve(timeout)
            .timeout_connect(timeout)
            .timeout_recv_response(timeout)
            .timeout_per_read(timeout)
            .build();
        Self {
            agent: config.into(),
            timeout: settings.timeout,
            max_size: settings.max_size,
        }
    }

    pub(super) fn fetch(
        &self,
        url: &str,
        request: &Request,
        cache: &Cache,
        watcher: &dyn Watcher,
    ) -> Answer {
        let path = format!(
            "{url}/buildid/{}/{}",
            hex(&request.id),
            request.wanted.url()
        );
        let response = match self.agent.get(&path).call() {
            Ok(response) => response,
            Err(error) => return Answer::Failed(error.to_string()),
        };
        match response.status().as_u16() {
            200 => {}
            404 => return Answer::Missing,
            status => return Answer::Failed(format!("the server answered with status {status}")),
        }
        let size = response.headers().get("x-debuginfod-size");
        let size = size.and_then(|size| size.to_str().ok()?.parse::<u64>().ok());
        let mut body = response.into_body();
        if size
            .or(body.content_length())
            .is_some_and(|size| size > self.max_size)
        {
            return Answer::Failed(self.too_large().to_string());
        }
        let mut from = body.with_config().limit(u64::MAX).reader();
        match self.download(&mut from, request, cache, watcher) {
            Ok(partial) => Answer::File(partial),
            Err(error) => Answer::Failed(error.to_string()),
        }
    }

    fn download(
        &self,
        from: &mut dyn Read,
        request: &Request,
        cache: &Cache,
        watcher: &dyn Watcher,
    ) -> io::Result<TempPath> {
        let created = cache.create(&request.id, &request.wanted);
        let mut file = created.map_err(|error| {
            let dir = cache.dir().display();
            io::Error::other(format!("cannot cache files in {dir}: {error}"))
        })?;
        watcher.begin(file.path());
        let mut buffer = vec![0; 1 << 16];
        let (mut len, start) = (0u64, Instant::now());
        loop {
            let n = match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            len += n as u64;
            if len > self.max_size {
                return Err(self.too_large());
            }
            if !watcher.more(n) {
                return Err(io::Error::other("gave up waiting"));
            }
            if len < LEAST_BYTES && start.elapsed() > self.timeout {
                return Err(io::Error::from(io::ErrorKind::TimedOut));
            }
            file.write_all(&buffer[..n])?;
        }
        file.flush()?;
        Ok(file.into_temp_path())
    }

    fn too_large(&self) -> io::Error {
        io::Error::other(format!("the file is larger than {} bytes", self.max_size))
    }
}
