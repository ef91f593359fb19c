//! What a server answered: delivered, to be tried again, refused for good, or no use going on.
//!
//! Texts of servers may repeat what was sent: they are shown only without credentials and values of labels.

use crate::wire::{ExportResponse, PushResponse, Status};
use crate::{Labels, Protocol};
use prost::Message;
use std::fmt;
use std::io::Read;
use std::time::Duration;
use ureq::Body;
use ureq::http::{HeaderMap, Response};

/// Bytes of an answer that are read.
pub(crate) const MAX_ANSWER: u64 = 64 << 10;

/// Characters of a server's text that are shown.
const MAX_SHOWN: usize = 200;

/// The longest time that a server may ask us to wait.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(300);

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
            _ => "refused",
        };
        write!(f, "status {}, {meaning}", self.status)?;
        if !self.message.is_empty() {
            write!(f, ": {}", self.message)?;
        }
        Ok(())
    }
}

/// What must not be shown.
pub(crate) struct Secrets<'a> {
    pub(crate) authorization: Option<&'a crate::credentials::Authorization>,
    /// As users gave them.
    pub(crate) labels: &'a Labels,
}

impl Secrets<'_> {
    /// A server's text, if it repeats nothing that is to be kept to ourselves.
    fn shown(&self, text: &str) -> String {
        let text = text.trim();
        let is_secret = self.authorization.is_some_and(|one| one.is_in(text))
            || (self.labels.iter()).any(|(_, value)| !value.is_empty() && text.contains(value));
        if is_secret {
            return "(the server's text repeats a label or the token, and is not shown)".to_owned();
        }
        let end = text.char_indices().nth(MAX_SHOWN).map(|(at, _)| at);
        match end.and_then(|end| text.get(..end)) {
            Some(cut) => format!("{cut}..."),
            None => text.to_owned(),
        }
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
        408 | 425 | 429 | 500..=599 => Answer::Again {
            why: with_message(status, &message()),
            after,
        },
        400..=499 => Answer::Refused(Refusal {
            status,
            message: message(),
        }),
        _ => Answer::Again {
            why: format!("it answered with status {status}"),
            after: None,
        },
    }
}

fn with_message(status: u16, message: &str) -> String {
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
    if body.is_empty() {
        return Some(None);
    }
    let is = |expected: &[&str]| expected.contains(&content_type);
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
        Protocol::PyroscopeIngest => None,
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

/// Seconds; dates are not read, as clocks differ.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get("retry-after")?.to_str().ok()?;
    let seconds: u64 = value.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(MAX_RETRY_AFTER))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(protocol: Protocol, status: u16, kind: &str, body: &[u8]) -> Answer {
        let response = Response::builder()
            .status(status)
            .header("content-type", kind)
            .header("retry-after", "100000");
        let response = response.body(Body::builder().data(body.to_vec())).unwrap();
        let labels = Labels::parse(&["zone=hunter2".to_owned()]).unwrap();
        let secrets = Secrets {
            authorization: None,
            labels: &labels,
        };
        read(protocol, response, &secrets)
    }

    #[test]
    fn only_an_answer_of_the_protocol_says_that_a_part_is_delivered() {
        use Protocol::{Otlp, Parca, Pyroscope, PyroscopeIngest};
        let endless = vec![0; 1 << 17];
        for (protocol, kind, body, is_delivered) in [
            (Otlp, "", &b""[..], true),
            (Otlp, "application/x-protobuf", b"\x0a\x00", true),
            (Otlp, "application/x-protobuf", b"\xff\xff", false),
            (Otlp, "text/html", b"\x0a\x00", false),
            (Pyroscope, "application/proto", b"", true),
            (Pyroscope, "text/html; charset=utf-8", b"<html>", false),
            (PyroscopeIngest, "text/plain", b"", true),
            (PyroscopeIngest, "text/html", b"log in", false),
            (Parca, "application/json; charset=utf-8", b"{}\n", true),
            (Parca, "text/html", b"<html>", false),
            (Otlp, "application/x-protobuf", &endless, false),
        ] {
            let answer = answer(protocol, 200, kind, body);
            let delivered = matches!(answer, Answer::Delivered(None));
            assert_eq!(delivered, is_delivered, "{protocol:?} {kind} {answer:?}");
        }
    }

    #[test]
    fn statuses_say_whether_to_go_on() {
        for (status, expected) in [
            (302, "stop"),
            (400, "refused"),
            (401, "stop"),
            (403, "stop"),
            (404, "stop"),
            (408, "again"),
            (413, "refused"),
            (422, "refused"),
            (429, "again"),
            (500, "again"),
            (501, "stop"),
            (503, "again"),
        ] {
            let answer = answer(Protocol::Otlp, status, "text/plain", b"why");
            let is = match &answer {
                Answer::Delivered(_) => "delivered",
                Answer::Again { after, why } => {
                    assert_eq!(*after, Some(MAX_RETRY_AFTER));
                    assert!(why.ends_with(": why"), "{why}");
                    "again"
                }
                Answer::Refused(refusal) => {
                    assert!(refusal.to_string().ends_with(": why"));
                    "refused"
                }
                Answer::Stop(_) => "stop",
            };
            assert_eq!(is, expected, "{status}");
        }
    }

    #[test]
    fn what_is_partly_taken_is_said() {
        let partial = crate::wire::ExportResponse {
            partial_success: Some(crate::wire::ExportPartialSuccess {
                rejected_profiles: 2,
                error_message: "no".to_owned(),
            }),
        };
        let body = partial.encode_to_vec();
        let answer = answer(Protocol::Otlp, 200, "application/x-protobuf", &body);
        let expected = PartialSuccess {
            rejected_profiles: 2,
            message: "no".to_owned(),
        };
        assert_eq!(answer, Answer::Delivered(Some(expected)));
    }

    #[test]
    fn texts_of_servers_show_no_labels_and_are_short() {
        let message = |body: &[u8]| match answer(Protocol::Otlp, 400, "text/plain", body) {
            Answer::Refused(refusal) => refusal.message,
            other => panic!("{other:?}"),
        };
        assert!(!message(b"bad label zone=hunter2").contains("hunter2"));
        assert_eq!(message(&[b'a'; 1000]).len(), MAX_SHOWN + 3);
        assert_eq!(message(b"\xff"), "");
    }
}
