//! What a server answered: delivered, to be tried again, refused for good, or no use going on.
//!
//! Texts of servers may repeat what was sent: they are shown only without credentials and values of labels.

mod retry_after;
mod secrets;

use crate::Protocol;
use crate::wire::{ExportResponse, PushResponse, Status};
use prost::Message;
use retry_after::retry_after;
use std::fmt;
use std::io::Read;
use std::time::Duration;
use ureq::Body;
use ureq::http::{HeaderMap, Response};

pub(crate) use secrets::{Secrets, cut};

/// Bytes of an answer that are read.
pub(crate) const MAX_ANSWER: u64 = 64 << 10;

/// What came of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It has the part; perhaps not all of it.
    Delivered(Option<PartialSuccess>),
    /// It may have it later.
    Again {
        why: String,
        /// How long the server wants us to wait.
        after: Option<Duration>,
    },
    /// The server takes no more now (429): it may have it later, or less of it.
    Limited {
        refusal: Refusal,
        /// See [`Self::Again`].
        after: Option<Duration>,
    },
    /// It is too large for the server.
    TooLarge(Refusal),
    /// It will never have it.
    Refused(Refusal),
    /// It will have nothing of us as long as that is so.
    Stop(String),
}

/// A collector took a part, and left profiles of it out, or has something to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartialSuccess {
    /// Profiles that it left out.
    pub rejected_profiles: u64,
    /// What it says, if that may be shown.
    pub message: String,
}

/// A server will not take a part, however often it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// HTTP's status.
    pub status: u16,
    /// What the server says, if that may be shown.
    pub message: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let meaning = match self.status {
            400 => "bad request",
            413 => "too large",
            422 => "cannot be processed",
            429 => "too many requests",
            _ => "refused",
        };
        write!(f, "status {}, {meaning}", self.status)?;
        if !self.message.is_empty() {
            write!(f, ": {}", self.message)?;
        }
        Ok(())
    }
}

/// Reads an answer, as much of it as matters.
pub(crate) fn read(protocol: Protocol, response: Response<Body>, secrets: &Secrets<'_>) -> Answer {
    let status = response.status().as_u16();
    let after = retry_after(response.headers());
    let content_type = content_type(response.headers());
    let mut body = Vec::new();
    let reader = response.into_body().into_reader();
    let read = reader.take(MAX_ANSWER + 1).read_to_end(&mut body);
    let is_whole = read.is_ok() && body.len() as u64 <= MAX_ANSWER;
    let message = || secrets.shown(&text_of(protocol, &content_type, &body));
    match status {
        200..=299 if !is_whole => {
            let why = match read {
                Ok(_) => "its answer has no end".to_owned(),
                Err(error) => format!("its answer broke off: {error}"),
            };
            Answer::Again { why, after: None }
        }
        200..=299 => match delivered(protocol, &content_type, &body) {
            Some(partial) => Answer::Delivered(partial.map(|partial| PartialSuccess {
                message: secrets.shown(&partial.message),
                ..partial
            })),
            None => Answer::Again {
                why: format!("it answered {status}, but not as {} does", protocol.name()),
                after: None,
            },
        },
        300..=399 => Answer::Stop(format!(
            "it redirects (status {status}), which is not followed: give the final URL with --to"
        )),
        401 | 403 => Answer::Stop(format!(
            "it refuses access (status {status}): check --token-file or RPROF_PUSH_TOKEN"
        )),
        404 | 405 | 415 | 501 => Answer::Stop(format!(
            "it has no {} endpoint there (status {status}): check --to and --protocol",
            protocol.name()
        )),
        408 | 425 | 500..=599 => Answer::Again {
            why: with_message(status, &message()),
            after,
        },
        400..=499 => refused(status, message(), after),
        _ => Answer::Again {
            why: format!("it answered with status {status}"),
            after: None,
        },
    }
}

fn refused(status: u16, message: String, after: Option<Duration>) -> Answer {
    let refusal = Refusal { status, message };
    match status {
        413 => Answer::TooLarge(refusal),
        429 => Answer::Limited { refusal, after },
        _ => Answer::Refused(refusal),
    }
}

pub(crate) fn with_message(status: u16, message: &str) -> String {
    if message.is_empty() {
        format!("it answered with status {status}")
    } else {
        format!("it answered with status {status}: {message}")
    }
}

/// What an answer says that says yes; `None` if the server does not speak the protocol.
fn delivered(
    protocol: Protocol,
    content_type: &str,
    body: &[u8],
) -> Option<Option<PartialSuccess>> {
    // Who answers nothing may leave out what that is; proxies and pages to log in say another type.
    let is = |expected: &[&str]| {
        expected.contains(&content_type) || body.is_empty() && content_type.is_empty()
    };
    match protocol {
        Protocol::Otlp => {
            let is_protobuf = is(&["application/x-protobuf", "application/protobuf"]);
            let answer = ExportResponse::decode(body).ok().filter(|_| is_protobuf)?;
            let partial = answer.partial_success.map(|partial| PartialSuccess {
                rejected_profiles: u64::try_from(partial.rejected_profiles).unwrap_or(0),
                message: partial.error_message,
            });
            Some(partial.filter(|one| one.rejected_profiles > 0 || !one.message.is_empty()))
        }
        Protocol::Pyroscope => {
            let is_protobuf = is(&["application/proto", "application/x-protobuf"]);
            PushResponse::decode(body).ok().filter(|_| is_protobuf)?;
            Some(None)
        }
        Protocol::Parca => {
            let is_object = body.starts_with(b"{") && body.trim_ascii_end().ends_with(b"}");
            (is(&["application/json"]) && is_object).then_some(None)
        }
        // It says nothing at all.
        Protocol::PyroscopeIngest => {
            (body.is_empty() && !content_type.starts_with("text/html")).then_some(None)
        }
    }
}

/// What an answer that says no has to say.
fn text_of(protocol: Protocol, content_type: &str, body: &[u8]) -> String {
    if protocol == Protocol::Otlp && content_type == "application/x-protobuf" {
        return Status::decode(body).map_or(String::new(), |status| status.message);
    }
    let is_text = content_type.starts_with("text/plain") || content_type == "application/json";
    let text = std::str::from_utf8(body).ok().filter(|_| is_text);
    text.unwrap_or_default().to_owned()
}

fn content_type(headers: &HeaderMap) -> String {
    let value = headers
        .get("content-type")
        .and_then(|one| one.to_str().ok());
    let bare = value.and_then(|value| value.split(';').next());
    bare.unwrap_or_default().trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests;
