//! Servers that refuse, are slow, or answer garbage: nothing is lost, nothing blocks, and what happened is said.

use super::collector::{Collector, Reply};
use super::{copied, push, pushed};
use crate::common::{needs, run, scratch, tool};
use crate::push::protocols::unpacked;
use std::io::BufRead;
use std::process::Stdio;
use std::time::Duration;

#[test]
fn a_server_that_comes_back_gets_the_same_message() {
    for status in [500, 503, 408] {
        let dir = scratch();
        let file = copied("spin", dir.path(), "perf.data");
        let server = Collector::new(move |_, nth| match nth {
            0 | 1 => Reply::status(status),
            _ => Reply::ok(),
        });
        let ran = pushed(&server.url, "otlp", &file);
        let bodies: Vec<_> = server.received().into_iter().map(|one| one.body).collect();
        assert_eq!(bodies.len(), 3);
        assert!(bodies.iter().all(|body| *body == bodies[0]));
        // An outage is said once.
        let said = format!("it answered with status {status}; trying again");
        assert_eq!(ran.stderr.matches(&said).count(), 1, "{}", ran.stderr);
        assert!(
            ran.stderr.contains("takes messages again"),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn a_server_may_say_how_long_to_wait() {
    let dir = scratch();
    let file = copied("spin", dir.path(), "perf.data");
    let server = Collector::new(|_, nth| match nth {
        0 => Reply::Is(429, "Retry-After: 2\r\n", Vec::new()),
        _ => Reply::ok(),
    });
    pushed(&server.url, "pyroscope", &file);
    let times: Vec<_> = server.received().into_iter().map(|one| one.at).collect();
    assert_eq!(times.len(), 2);
    assert!(times[1] - times[0] >= Duration::from_secs(2));
}

#[test]
fn what_a_server_will_never_take_does_not_block_the_rest() {
    for status in [400, 422] {
        let dir = scratch();
        copied("dwarf", dir.path(), "1.data");
        copied("spin", dir.path(), "2.data");
        let server = Collector::new(move |_, nth| match nth {
            0 => Reply::Is(status, "Content-Type: text/plain\r\n", b"no room".to_vec()),
            _ => Reply::ok(),
        });
        let error = run(&mut push(&server.url, "otlp", dir.path())).fails(1);
        let said = format!(
            "1.data is set aside: {} does not take it (status {status}",
            &server.url[7..]
        );
        assert!(
            error.contains(&said) && error.contains(": no room)"),
            "{error}"
        );
        assert!(
            error.contains("1 recording could not be delivered"),
            "{error}"
        );
        let n_sent = server.received().len();
        // Started again, it tries what was set aside, and nothing else.
        let again = pushed(&server.url, "otlp", dir.path());
        assert!(
            again.stderr.contains("1 delivered before"),
            "{}",
            again.stderr
        );
        assert_eq!(server.received().len(), n_sent + 1);
    }
}

#[test]
fn a_server_that_refuses_access_or_knows_no_profiles_ends_it() {
    for (status, said) in [
        (401, "refuses access (status 401)"),
        (403, "refuses access (status 403)"),
        (404, "has no otlp endpoint there (status 404)"),
        (501, "has no otlp endpoint there (status 501)"),
    ] {
        let dir = scratch();
        copied("spin", dir.path(), "1.data");
        copied("dwarf", dir.path(), "2.data");
        let server = Collector::new(move |_, _| Reply::status(status));
        let error = run(&mut push(&server.url, "otlp", dir.path())).fails(1);
        assert!(error.contains(said), "{error}");
        assert_eq!(server.received().len(), 1);
    }
}

#[test]
fn answers_that_are_none_do_not_count_as_delivery() {
    let html = "Content-Type: text/html\r\n";
    let garbage: Vec<(Reply, &str)> = vec![
        (
            Reply::Is(200, html, b"<html>log in</html>".to_vec()),
            "not as otlp does",
        ),
        (
            Reply::Raw(b"\x16\x03\x01 this is not HTTP\r\n\r\n"),
            "not HTTP",
        ),
        (
            Reply::Raw(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"),
            "broke off",
        ),
        (Reply::Raw(b""), ""),
        (Reply::Endless, "no end"),
        (Reply::Slow, "no answer within 1 s"),
        (Reply::Silence, "no answer within 1 s"),
    ];
    for (reply, said) in garbage {
        let dir = scratch();
        let file = copied("spin", dir.path(), "perf.data");
        let shown = format!("{reply:?}");
        let server = Collector::new(move |_, _| reply.clone());
        let mut command = push(&server.url, "otlp", &file);
        let error = run(command.args(["--timeout", "1", "--give-up-after", "0"])).fails(1);
        assert!(error.contains(said), "{shown}: {error}");
        let advice = "run the command again to push the rest";
        assert!(error.contains(advice), "{shown}: {error}");
        assert_eq!(server.received().len(), 1, "{shown}");
        // The recording is still to be delivered.
        let good = Collector::good();
        let mut command = push(&good.url, "otlp", &file);
        run(&mut command).ok();
        assert_eq!(good.received().len(), 1);
    }
}

#[test]
fn nobody_listening_is_said() {
    let dir = scratch();
    let file = copied("spin", dir.path(), "perf.data");
    // A port that was free a moment ago.
    let url = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    let mut command = push(&url, "parca", &file);
    let error = run(command.args(["--give-up-after", "0"])).fails(1);
    assert!(error.contains("refused"), "{error}");
}

#[test]
fn redirects_are_not_followed() {
    let dir = scratch();
    let file = copied("spin", dir.path(), "perf.data");
    let other = Collector::good();
    let head: &'static str = format!("Location: {}/\r\n", other.url).leak();
    for status in [301, 302, 307, 308] {
        let server = Collector::new(move |_, _| Reply::Is(status, head, Vec::new()));
        let mut command = push(&server.url, "otlp", &file);
        let error = run(command.env("RPROF_PUSH_TOKEN", "hunter2")).fails(1);
        assert!(error.contains("redirects"), "{error}");
        assert_eq!(server.received().len(), 1);
    }
    assert_eq!(other.received().len(), 0);
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_refused() {
    needs!("openssl" in "openssl");
    let dir = scratch();
    let file = copied("spin", dir.path(), "perf.data");
    let [key, certificate] = ["key.pem", "certificate.pem"].map(|name| dir.path().join(name));
    let mut openssl = tool("openssl");
    openssl.args([
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
    ]);
    openssl.args([
        "-subj",
        "/CN=localhost",
        "-addext",
        "subjectAltName=DNS:localhost",
        "-addext",
        "basicConstraints=critical,CA:FALSE",
    ]);
    run(openssl
        .arg("-keyout")
        .arg(&key)
        .arg("-out")
        .arg(&certificate))
    .ok();
    let mut server = tool("openssl");
    server.args(["s_server", "-accept", "127.0.0.1:0", "-www", "-key"]);
    server.arg(&key).arg("-cert").arg(&certificate);
    let mut server = server
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufReader::new(server.stdout.take().unwrap()).lines();
    let port = lines.find_map(|line| {
        let line = line.unwrap();
        let port = line.strip_prefix("ACCEPT ")?.rsplit(':').next()?.to_owned();
        Some(port)
    });
    let _server = crate::common::Running::of(server);
    let url = format!("https://localhost:{}", port.unwrap());
    let mut command = push(&url, "otlp", &file);
    let error = run(command.env("RPROF_PUSH_TOKEN", "hunter2")).fails(1);
    assert!(error.contains("certificate is not trusted"), "{error}");
    // With its authority it is another's; this server does not know what to do with profiles.
    let mut command = push(&url, "otlp", &file);
    command.arg("--ca-file").arg(&certificate);
    let error = run(command.args(["--timeout", "5", "--give-up-after", "0"])).fails(1);
    assert!(!error.contains("not trusted"), "{error}");
    let mut command = push(&url, "otlp", &file);
    let error = run(command.arg("--ca-file").arg(&file)).fails(1);
    assert!(error.contains("no certificates in it"), "{error}");
}

#[test]
fn a_message_has_the_same_bytes_whenever_it_is_made() {
    let body = || {
        let dir = scratch();
        let file = copied("spin", dir.path(), "perf.data");
        let server = Collector::good();
        pushed(&server.url, "otlp", &file);
        unpacked(&server.received()[0].body)
    };
    assert!(body() == body());
}
