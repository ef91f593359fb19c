//! Where to send: a URL without credentials, and whether it may be sent a token.

use crate::{Error, Protocol};
use sha2::{Digest, Sha256};
use std::fmt;
use std::net::IpAddr;
use ureq::http::Uri;

/// A server, and the way in which it is spoken to.
#[derive(Clone, PartialEq, Eq)]
pub struct PushTarget {
    /// The URL, without a slash at its end.
    base: String,
    /// Host and port: all of it that is shown.
    host: String,
    is_tls: bool,
    is_loopback: bool,
    /// How it is spoken to.
    pub protocol: Protocol,
}

impl fmt::Debug for PushTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PushTarget").field(&self.host).finish()
    }
}

impl PushTarget {
    /// Reads a URL: `https://HOST[:PORT][/PATH]`, or `http`.
    ///
    /// # Errors
    /// [`Error::Url`] for another one; one with a user or a query may have secrets, which would be seen by all who list
    /// processes.
    pub fn parse(url: &str, protocol: Protocol) -> Result<Self, Error> {
        let uri: Uri = url
            .parse()
            .map_err(|_| Error::Url("expected https://HOST[:PORT][/PATH]"))?;
        let is_tls = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => {
                return Err(Error::Url(
                    "expected a URL that begins with https:// or http://",
                ));
            }
        };
        let Some(authority) = uri.authority().filter(|one| !one.host().is_empty()) else {
            return Err(Error::Url("the URL has no host"));
        };
        if authority.as_str().contains('@') {
            let why = "the URL has a user or password, which others can see in the list of processes: use --token-file \
                (and --user)";
            return Err(Error::Url(why));
        }
        if uri.query().is_some() || url.contains('#') {
            return Err(Error::Url("the URL must not have a query or a fragment"));
        }
        Ok(Self {
            base: url.trim_end_matches('/').to_owned(),
            host: authority.as_str().to_owned(),
            is_tls,
            is_loopback: is_loopback(authority.host()),
            protocol,
        })
    }

    /// Host and port, for messages.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Whether nobody on the way can read what is sent.
    pub(crate) fn is_private(&self) -> bool {
        self.is_tls || self.is_loopback
    }

    /// Whether it is this machine.
    pub(crate) fn is_loopback(&self) -> bool {
        self.is_loopback
    }

    /// Where requests go. Users may give the whole address, or what comes before the protocol's own path.
    pub(crate) fn endpoint(&self) -> String {
        let path = self.protocol.path();
        if self.base.ends_with(path) {
            self.base.clone()
        } else {
            format!("{}{path}", self.base)
        }
    }

    /// What notes on disk call it: nothing that it says can be read from that.
    pub(crate) fn id(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(self.protocol.name());
        hash.update("\n");
        hash.update(self.endpoint());
        crate::part::hex(hash.finalize().get(..16).unwrap_or_default())
    }
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || bare
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_have_a_scheme_and_a_host_and_no_secrets() {
        for url in [
            "collector:4318",
            "ftp://host/",
            "https://",
            "https://user:hunter2@host/",
            "https://hunter2@host/",
            "https://host/?token=hunter2",
            "https://host/#hunter2",
        ] {
            let error = PushTarget::parse(url, Protocol::Otlp)
                .unwrap_err()
                .to_string();
            assert!(!error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn the_protocols_path_follows_unless_it_is_there() {
        for url in [
            "http://host:4318",
            "http://host:4318/",
            "http://host:4318/v1development/profiles",
        ] {
            let target = PushTarget::parse(url, Protocol::Otlp).unwrap();
            assert_eq!(target.endpoint(), "http://host:4318/v1development/profiles");
            assert_eq!(target.host(), "host:4318");
        }
    }

    #[test]
    fn only_tls_and_this_machine_are_private() {
        for (url, is_private) in [
            ("https://host", true),
            ("http://host", false),
            ("http://localhost:4040", true),
            ("http://127.9.9.9", true),
            ("http://[::1]:4040", true),
            ("http://127.0.0.1.example.com", false),
            ("http://localhost.example.com", false),
        ] {
            let target = PushTarget::parse(url, Protocol::Parca).unwrap();
            assert_eq!(target.is_private(), is_private, "{url}");
        }
    }

    #[test]
    fn notes_tell_servers_and_protocols_apart() {
        let id = |url, protocol| PushTarget::parse(url, protocol).unwrap().id();
        assert_eq!(
            id("http://a", Protocol::Otlp),
            id("http://a/", Protocol::Otlp)
        );
        assert_ne!(
            id("http://a", Protocol::Otlp),
            id("http://b", Protocol::Otlp)
        );
        assert_ne!(
            id("http://a", Protocol::Otlp),
            id("http://a", Protocol::Parca)
        );
        assert_eq!(id("http://a", Protocol::Otlp).len(), 32);
    }
}
