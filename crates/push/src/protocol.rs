//! The protocols: where their requests go, what is in them, and how large that may be.

use crate::wire::{LabelPair, PushRequest, PyroscopeSample, PyroscopeSeries};
use crate::{Labels, Part};
use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;
use rprof_base::base64_text;
use rprof_untrusted::{JsonLayout, JsonWriter};
use std::io::{self, Write};

/// How a server is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// OTLP/HTTP, profiles of `v1development`.
    Otlp,
    /// Pyroscope's push service (`push.v1.PusherService/Push`), as Connect has it over HTTP/1.1.
    Pyroscope,
    /// Pyroscope's older `/ingest`. Its labels are in the URL.
    PyroscopeIngest,
    /// Parca's `ProfileStoreService/WriteRaw`, in JSON over HTTP/1.1.
    Parca,
}

/// Bytes that are left for labels.
const LABELS: usize = 64 << 10;

/// How much a part may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartLimits {
    /// Samples that differ in stack, thread or CPU.
    pub samples: usize,
    /// Bytes before compression.
    pub bytes: usize,
    /// Frames of a stack.
    pub depth: usize,
}

/// A request's body and what it is.
pub(crate) struct Request {
    /// What follows the endpoint.
    pub(crate) query: String,
    pub(crate) content_type: &'static str,
    pub(crate) is_gzip: bool,
    pub(crate) body: Vec<u8>,
}

impl Protocol {
    /// All, by name.
    pub const ALL: [Self; 4] = [
        Self::Otlp,
        Self::Pyroscope,
        Self::PyroscopeIngest,
        Self::Parca,
    ];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Otlp => "otlp",
            Self::Pyroscope => "pyroscope",
            Self::PyroscopeIngest => "pyroscope-ingest",
            Self::Parca => "parca",
        }
    }

    /// How much a part may hold: Pyroscope's defaults (`max_profile_stacktrace_samples`,
    /// `max_profile_stacktrace_depth`; `max_profile_size_bytes` is 4 MiB, but `ingestion_burst_size_mb` 2 MiB, labels
    /// included). They are small enough for the others, which cut no stacks.
    pub fn limits(self) -> PartLimits {
        PartLimits {
            samples: 16_000,
            bytes: (2 << 20) - LABELS,
            depth: match self {
                Self::Pyroscope | Self::PyroscopeIngest => 1000,
                Self::Otlp | Self::Parca => usize::MAX,
            },
        }
    }

    /// The path of its endpoint.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Otlp => "/v1development/profiles",
            Self::Pyroscope => "/push.v1.PusherService/Push",
            Self::PyroscopeIngest => "/ingest",
            // Without HTTP/2 Parca takes its calls through the gRPC gateway, which is mounted below /api
            // (pkg/server/server.go, and the google.api.http option of profilestore.proto, of
            // github.com/parca-dev/parca).
            Self::Parca => "/api/profiles/writeraw",
        }
    }

    /// The request for a part.
    ///
    /// # Errors
    /// None but those of compression in memory.
    pub(crate) fn request(self, part: &Part<'_>) -> io::Result<Request> {
        let labels = || part.labels.in_prometheus_form();
        Ok(match self {
            Self::Otlp => Request {
                query: String::new(),
                content_type: "application/x-protobuf",
                is_gzip: true,
                body: gzip(part.body)?,
            },
            Self::Pyroscope => Request {
                query: String::new(),
                content_type: "application/proto",
                is_gzip: false,
                body: pyroscope(part, &labels())?,
            },
            Self::PyroscopeIngest => Request {
                query: ingest_query(part, &labels()),
                content_type: "application/octet-stream",
                is_gzip: false,
                body: gzip(part.body)?,
            },
            Self::Parca => Request {
                query: String::new(),
                content_type: "application/json",
                is_gzip: false,
                body: parca(part, &labels())?,
            },
        })
    }
}

/// Of 9: most of what is sent are numbers.
const GZIP_LEVEL: u32 = 2;

fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::new(GZIP_LEVEL));
    gzip.write_all(bytes)?;
    gzip.finish()
}

fn pyroscope(part: &Part<'_>, labels: &Labels) -> io::Result<Vec<u8>> {
    let pairs = labels.iter().map(|(name, value)| LabelPair {
        name: name.to_owned(),
        value: value.to_owned(),
    });
    let request = PushRequest {
        series: vec![PyroscopeSeries {
            labels: pairs.collect(),
            samples: vec![PyroscopeSample {
                raw_profile: gzip(part.body)?,
                id: part.id.as_uuid(),
            }],
        }],
    };
    Ok(request.encode_to_vec())
}

/// `name=SERVICE{LABEL=VALUE,..}` and the time.
///
/// Source: api/model/labelset/labelset.go of github.com/grafana/pyroscope, which knows no quotes: a value ends at a
/// comma or a brace.
fn ingest_query(part: &Part<'_>, labels: &Labels) -> String {
    let others = labels.iter();
    let others = others.filter(|&(name, _)| name != "service_name" && name != "__name__");
    let others: Vec<String> = others
        .map(|(name, value)| format!("{name}={}", value.replace([',', '}'], "_")))
        .collect();
    let service = labels.value("service_name").unwrap_or("unknown_service");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let service = service.replace(|c| !is_plain(c), "_");
    let name = format!("{service}{{{}}}", others.join(","));
    let mut query = format!("?format=pprof&spyName=rprof&name={}", escaped(&name));
    if part.start_ns > 0 {
        let seconds = |ns: u64| ns / 1_000_000_000;
        let until = part.start_ns.saturating_add(part.duration_ns);
        let (from, until) = (seconds(part.start_ns), seconds(until));
        let until = until.max(from + 1);
        query += &format!("&from={from}&until={until}");
    }
    query
}

/// A value of a query.
fn escaped(text: &str) -> String {
    let escape = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(escape).collect()
}

/// `WriteRawRequest`, as JSON of protocol buffers.
///
/// Source: proto/parca/profilestore/v1alpha1/profilestore.proto of github.com/parca-dev/parca.
fn parca(part: &Part<'_>, labels: &Labels) -> io::Result<Vec<u8>> {
    let profile = base64_text(&gzip(part.body)?);
    let mut json = JsonWriter::in_memory(JsonLayout::Compact);
    json.object(|json| {
        json.key("series").list(|json| {
            json.object(|json| {
                json.key("labels").object(|json| {
                    json.column("labels", labels.iter(), |json, (name, value)| {
                        json.object(|json| {
                            json.field("name", name);
                            json.field("value", value);
                        });
                    });
                });
                json.key("samples").list(|json| {
                    json.object(|json| json.field("rawProfile", &*profile));
                });
            });
        });
        // Addresses are offsets in files.
        json.field("normalized", true);
    });
    Ok(json.into_text())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PartId;
    use std::io::Read;

    fn request(protocol: Protocol) -> Request {
        let texts = ["service.name=shop", "zone=a \"b\",c"].map(str::to_owned);
        let mut labels = Labels::parse(&texts).unwrap();
        labels.add_default("__name__", "process_cpu");
        let part = Part {
            body: b"profile",
            id: PartId::of(b"profile"),
            labels: &labels,
            start_ns: 5_000_000_000,
            duration_ns: 3_999_999_999,
        };
        protocol.request(&part).unwrap()
    }

    fn unpacked(bytes: &[u8]) -> Vec<u8> {
        let mut body = Vec::new();
        let mut gzip = flate2::read::GzDecoder::new(bytes);
        gzip.read_to_end(&mut body).unwrap();
        body
    }

    #[test]
    fn a_profile_is_compressed_once() {
        let otlp = request(Protocol::Otlp);
        assert!(otlp.is_gzip);
        assert_eq!(unpacked(&otlp.body), b"profile");
        let ingest = request(Protocol::PyroscopeIngest);
        assert_eq!(unpacked(&ingest.body), b"profile");
        let pyroscope = request(Protocol::Pyroscope);
        assert!(!pyroscope.is_gzip);
        let push = PushRequest::decode(&*pyroscope.body).unwrap();
        let series = &push.series[0];
        assert_eq!(unpacked(&series.samples[0].raw_profile), b"profile");
        let labels = series.labels.iter();
        let labels: Vec<_> = labels.map(|one| (&*one.name, &*one.value)).collect();
        let expected = [
            ("__name__", "process_cpu"),
            ("service_name", "shop"),
            ("zone", "a \"b\",c"),
        ];
        assert_eq!(labels, expected);
        let id = PartId::of(b"profile").as_uuid();
        assert_eq!(series.samples[0].id, id);
    }

    #[test]
    fn labels_are_escaped_where_they_are_text() {
        let query = request(Protocol::PyroscopeIngest).query;
        let name = "shop%7Bzone%3Da%20%22b%22_c%7D";
        let expected = format!("?format=pprof&spyName=rprof&name={name}&from=5&until=8");
        assert_eq!(query, expected);
        let parca = String::from_utf8(request(Protocol::Parca).body).unwrap();
        let label = r#"{"name":"zone","value":"a \"b\",c"}"#;
        assert!(parca.contains(label), "{parca}");
    }
}
