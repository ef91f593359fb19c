//! Tokens and labels: where they are sent, and that they are shown nowhere.

use super::collector::{Collector, Reply};
use super::{copied, push};
use crate::common::{run, scratch};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const TOKEN: &str = "t0ken-of-hunter";
const LABEL: &str = "l4bel-of-hunter";

#[track_caller]
fn token_file(dir: &Path, mode: u32) -> PathBuf {
    let path = dir.join("token");
    std::fs::write(&path, format!("{TOKEN}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    path
}

/// No file below a directory has these words, nor has its name.
#[track_caller]
fn check_files(dir: &Path) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            check_files(&path);
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let text = format!("{} {}", path.display(), String::from_utf8_lossy(&bytes));
        assert!(!text.contains("hunter"), "{}", path.display());
    }
}

#[test]
fn a_token_is_sent_and_neither_it_nor_a_label_is_said_or_noted() {
    let head = "Content-Type: text/plain\r\n";
    let echo = format!("cannot take {LABEL} of Bearer {TOKEN}");
    for (status, code) in [(200, 0), (400, 1), (401, 1), (503, 1)] {
        let (secret, spool) = (scratch(), scratch());
        let file = copied("spin", spool.path(), "perf.data");
        let body = echo.clone().into_bytes();
        let server = Collector::new(move |_, _| match status {
            200 => Reply::ok(),
            status => Reply::Is(status, head, body.clone()),
        });
        for protocol in ["otlp", "pyroscope", "pyroscope-ingest", "parca"] {
            let mut command = push(&server.url, protocol, &file);
            command.arg("--label").arg(format!("zone={LABEL}"));
            command
                .arg("--token-file")
                .arg(token_file(secret.path(), 0o600));
            let ran = run(command.args(["--give-up-after", "0"]));
            assert_eq!(ran.status.code(), Some(code), "{}", ran.stderr);
            let said = format!("{}{}", ran.stdout, ran.stderr);
            assert!(!said.contains("hunter"), "{said}");
            check_files(spool.path());
        }
        let received = server.received();
        assert_eq!(received.len(), 4);
        for request in received {
            assert_eq!(request.headers["authorization"], format!("Bearer {TOKEN}"));
        }
    }
}

#[test]
fn a_token_may_be_in_the_environment_or_a_password() {
    let dir = scratch();
    let file = copied("spin", dir.path(), "perf.data");
    let server = Collector::new(|_, _| Reply::status(400));
    let mut command = push(&server.url, "otlp", &file);
    run(command.env("RPROF_PUSH_TOKEN", TOKEN)).fails(1);
    let mut command = push(&server.url, "otlp", &file);
    command.args(["--user", "me"]).env("RPROF_PUSH_TOKEN", "pw");
    run(&mut command).fails(1);
    let headers = server.received().into_iter();
    let headers: Vec<_> = headers
        .map(|mut one| one.headers.remove("authorization"))
        .collect();
    let expected = [format!("Bearer {TOKEN}"), "Basic bWU6cHc=".to_owned()];
    assert_eq!(headers, expected.map(Some));
    let error = run(push(&server.url, "otlp", &file).args(["--user", "me"])).fails(1);
    assert!(error.contains("there is no password"), "{error}");
}

#[test]
fn a_token_that_others_may_read_is_refused() {
    let dir = scratch();
    let file = copied("spin", dir.path(), "perf.data");
    let server = Collector::good();
    for mode in [0o644, 0o640, 0o604] {
        let mut command = push(&server.url, "otlp", &file);
        command
            .arg("--token-file")
            .arg(token_file(dir.path(), mode));
        let error = run(&mut command).fails(1);
        assert!(error.contains("chmod 600"), "{error}");
    }
    assert_eq!(server.received().len(), 0);
}

#[test]
fn what_would_give_a_secret_away_is_an_error_without_it() {
    let dir = scratch();
    let file = copied("spin", dir.path(), "perf.data");
    // Nobody is asked: TEST-NET-1 leads nowhere.
    for (url, said) in [
        ("https://me:hunter@192.0.2.1/", "has a user or password"),
        ("https://192.0.2.1/?key=hunter", "must not have a query"),
        ("192.0.2.1/hunter", "expected https://"),
    ] {
        let error = run(&mut push(url, "otlp", &file)).fails(2);
        assert!(error.contains(said) && !error.contains("hunter"), "{error}");
    }
    let mut command = push("http://192.0.2.1/", "otlp", &file);
    let error = run(command.env("RPROF_PUSH_TOKEN", TOKEN)).fails(2);
    assert!(
        error.contains("without TLS") && !error.contains("hunter"),
        "{error}"
    );
    for label in ["hunter", "1=hunter", "__name__=hunter", "a b=hunter"] {
        let mut command = push("http://192.0.2.1/", "otlp", &file);
        let error = run(command.args(["--label", label])).fails(2);
        assert!(
            error.contains("--label") && !error.contains("hunter"),
            "{error}"
        );
    }
}
