//! One request to the server.

use crate::answer::{self, Answer, Secrets};
use crate::credentials::Authorization;
use crate::{Error, Labels, Part, PushTarget};
use std::path::Path;
use std::time::Duration;
use ureq::Agent;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

/// Bytes of headers that a server may answer with.
const MAX_HEADERS: usize = 32 << 10;

/// Speaks HTTP/1.1. Certificates are always verified, and no redirect is followed: it could lead a token elsewhere.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    agent: Agent,
    timeout: Duration,
}

impl Client {
    /// `timeout` is for a request with its whole answer; `roots` are the certificates to trust instead of the usual.
    pub(crate) fn new(target: &PushTarget, timeout: Duration, roots: Option<RootCerts>) -> Self {
        let tls = TlsConfig::builder();
        let tls = match roots {
            Some(roots) => tls.root_certs(roots),
            None => tls,
        };
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_response_header_size(MAX_HEADERS)
            .user_agent(concat!("rprof/", env!("CARGO_PKG_VERSION")))
            .timeout_global(Some(timeout))
            .tls_config(tls.build());
        if target.is_loopback() {
            // A proxy would be elsewhere.
            config = config.proxy(None);
        }
        Self {
            agent: config.build().into(),
            timeout,
        }
    }

    pub(crate) fn send(
        &self,
        target: &PushTarget,
        part: &Part<'_>,
        authorization: Option<&Authorization>,
        secret_labels: &Labels,
    ) -> Answer {
        let secrets = Secrets {
            authorization,
            labels: secret_labels,
        };
        let request = match target.protocol.request(part) {
            Ok(request) => request,
            Err(error) => return again(error.to_string()),
        };
        let url = format!("{}{}", target.endpoint(), request.query);
        let mut post = self
            .agent
            .post(&url)
            .header("content-type", request.content_type);
        if request.is_gzip {
            post = post.header("content-encoding", "gzip");
        }
        if target.protocol == crate::Protocol::Pyroscope {
            post = post.header("connect-protocol-version", "1");
        }
        if let Some(authorization) = authorization {
            post = post.header("authorization", &*authorization.header);
        }
        match post.send(&request.body[..]) {
            Ok(response) => answer::read(target.protocol, response, &secrets),
            Err(error) => self.failed(&error),
        }
    }

    /// Why there is no answer. The errors' own texts could have the URL.
    fn failed(&self, error: &ureq::Error) -> Answer {
        let seconds = self.timeout.as_secs();
        match error {
            ureq::Error::Timeout(_) => again(format!("no answer within {seconds} s")),
            ureq::Error::HostNotFound => again("host not found".to_owned()),
            ureq::Error::ConnectionFailed => again("the connection failed".to_owned()),
            ureq::Error::Io(error) if is_certificate(&error.to_string()) => untrusted(error),
            ureq::Error::Io(error) => again(answer::cut(&error.to_string())),
            ureq::Error::Rustls(error) if is_certificate(&error.to_string()) => untrusted(error),
            ureq::Error::Rustls(error) => again(answer::cut(&format!("TLS: {error}"))),
            ureq::Error::Tls(error) => again(format!("TLS: {error}")),
            ureq::Error::Protocol(_) | ureq::Error::Http(_) => {
                again("what it answers is not HTTP".to_owned())
            }
            _ => again("the request failed".to_owned()),
        }
    }
}

fn again(why: String) -> Answer {
    Answer::Again { why, after: None }
}

fn is_certificate(error: &str) -> bool {
    error.contains("certificate")
}

fn untrusted(error: &dyn std::fmt::Display) -> Answer {
    // It says which names the certificate has.
    let error = answer::cut(&error.to_string());
    Answer::Stop(format!(
        "its certificate is not trusted ({error}): if it has a private authority, use --ca-file"
    ))
}

/// Reads certificates to trust from a file of PEM.
pub(crate) fn read_roots(path: &Path) -> Result<RootCerts, Error> {
    /// Bytes of such a file.
    const MAX: usize = 4 << 20;
    let wrong = |why: String| Error::Certificates {
        path: path.to_owned(),
        why,
    };
    let (file, _) = rprof_untrusted::open(path).map_err(|error| wrong(error.to_string()))?;
    let mut text = Vec::new();
    let mut file = std::io::Read::take(file, MAX as u64);
    std::io::Read::read_to_end(&mut file, &mut text).map_err(|error| wrong(error.to_string()))?;
    let mut roots: Vec<Certificate<'static>> = Vec::new();
    for item in parse_pem(&text) {
        match item {
            Ok(PemItem::Certificate(certificate)) => roots.push(certificate),
            Ok(_) => {}
            Err(_) => return Err(wrong("not PEM".to_owned())),
        }
    }
    if roots.is_empty() {
        return Err(wrong("no certificates in it (expected PEM)".to_owned()));
    }
    Ok(RootCerts::new_with_certs(&roots))
}
