//! Answers of servers, made by hand.

use super::retry_after::MAX_RETRY_AFTER;
use super::secrets::MAX_SHOWN;
use super::*;
use crate::Labels;

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
        (Otlp, "application/x-protobuf", b"", true),
        (Otlp, "text/html", b"", false),
        (Otlp, "application/x-protobuf", b"\x0a\x00", true),
        (Otlp, "application/x-protobuf", b"\xff\xff", false),
        (Otlp, "text/html", b"\x0a\x00", false),
        (Pyroscope, "application/proto", b"", true),
        (Pyroscope, "text/html; charset=utf-8", b"<html>", false),
        (Pyroscope, "text/plain", b"", false),
        (PyroscopeIngest, "text/plain", b"", true),
        (PyroscopeIngest, "text/html", b"", false),
        (PyroscopeIngest, "text/html", b"log in", false),
        (Parca, "application/json; charset=utf-8", b"{}\n", true),
        (Parca, "text/html", b"<html>", false),
        (Parca, "", b"", false),
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
        (413, "too large"),
        (422, "refused"),
        (429, "limited"),
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
            Answer::Limited { refusal, after } => {
                assert_eq!(*after, Some(MAX_RETRY_AFTER));
                assert!(refusal.to_string().ends_with(": why"));
                "limited"
            }
            Answer::TooLarge(_) => "too large",
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
