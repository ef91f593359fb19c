//! What each protocol's server gets, decoded by messages that are written here, not taken from rprof.

use super::collector::{Collector, Received, Reply};
use super::{copied, pushed};
use crate::common::{Recording, run, scratch, tool};
use crate::export::{otlp, pprof};
use flate2::read::GzDecoder;
use prost::Message;
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

pub(super) fn unpacked(bytes: &[u8]) -> Vec<u8> {
    let mut unpacked = Vec::new();
    GzDecoder::new(bytes).read_to_end(&mut unpacked).unwrap();
    unpacked
}

/// Pushes the spin fixture with a label; the only request.
#[track_caller]
fn received(protocol: &str) -> Received {
    let dir = scratch();
    let file = copied("spin", dir.path(), "perf.data");
    let server = Collector::new(|_, _| Reply::ok());
    let mut command = super::push(&server.url, protocol, &file);
    let ran = run(command.args(["--label", "zone=a b"])).ok();
    let said = "pushed 1 recording (212 samples, 1 message) to 127.0.0.1:";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    let mut received = server.received();
    assert_eq!(received.len(), 1);
    // It is noted: nothing is sent again.
    let again = pushed(&server.url, protocol, &file);
    assert!(
        again.stderr.contains("1 delivered before"),
        "{}",
        again.stderr
    );
    assert_eq!(server.received().len(), 1);
    received.remove(0)
}

/// A pprof profile has the report's sums, as pprof says.
#[track_caller]
fn check_pprof(bytes: &[u8]) {
    let dir = scratch();
    let path = dir.path().join("profile.pb.gz");
    std::fs::write(&path, bytes).unwrap();
    let mut totals = Recording::fixture("spin").totals();
    // Pyroscope refuses types with dashes, and both stores part their selectors at colons.
    let profile = Pprof::decode(&*unpacked(bytes)).unwrap();
    assert_eq!(profile.types(), ["samples/count", "cpu/nanoseconds"]);
    assert_eq!(profile.sums(), [totals[0].1, totals[0].2]);
    totals[0].0 = "cpu".to_owned();
    if let Some(sums) = pprof::totals(&path, &totals) {
        assert_eq!(sums, totals);
    }
}

/// `perftools.profiles.Profile` of pprof, as far as is looked at.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Pprof {
    #[prost(message, repeated, tag = "1")]
    sample_types: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    pub(super) samples: Vec<PprofSample>,
    #[prost(string, repeated, tag = "6")]
    pub(super) strings: Vec<String>,
    #[prost(int64, tag = "9")]
    pub(super) time_ns: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    kind: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct PprofSample {
    #[prost(uint64, repeated, tag = "1")]
    pub(super) locations: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    pub(super) values: Vec<i64>,
    #[prost(message, repeated, tag = "3")]
    labels: Vec<PprofLabel>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct PprofLabel {
    #[prost(int64, tag = "1")]
    key: i64,
}

impl Pprof {
    fn text(&self, number: i64) -> &str {
        &self.strings[usize::try_from(number).unwrap()]
    }

    pub(super) fn types(&self) -> Vec<String> {
        let types = self.sample_types.iter();
        types
            .map(|one| format!("{}/{}", self.text(one.kind), self.text(one.unit)))
            .collect()
    }

    /// Of each type of values.
    pub(super) fn sums(&self) -> Vec<u64> {
        let sum = |nth| {
            let values = self.samples.iter().map(|one: &PprofSample| one.values[nth]);
            values.sum::<i64>().cast_unsigned()
        };
        (0..self.sample_types.len()).map(sum).collect()
    }

    /// Names of what samples are labelled with.
    fn labels(&self) -> BTreeSet<&str> {
        let labels = self.samples.iter().flat_map(|sample| &sample.labels);
        labels.map(|label| self.text(label.key)).collect()
    }
}

#[test]
fn a_collector_gets_what_export_writes() {
    let request = received("otlp");
    assert_eq!(request.path, "/v1development/profiles");
    assert_eq!(request.headers["content-type"], "application/x-protobuf");
    assert_eq!(request.headers["content-encoding"], "gzip");
    assert!(request.headers["user-agent"].starts_with("rprof/"));
    assert!(!request.headers.contains_key("authorization"));
    let body = unpacked(&request.body);
    let message = otlp::Request::decode(&*body).unwrap();
    let totals = Recording::fixture("spin").totals();
    let (event, samples, weight) = totals[0].clone();
    let expected = [("samples".to_owned(), samples), (event, weight)];
    assert_eq!(message.sums(), expected);
    let resource = &message.resource_profiles[0].resource.attributes;
    let text = |key: &str| {
        let attribute = resource.iter().find(|attribute| attribute.key == key);
        attribute.and_then(|attribute| attribute.value.text.as_deref())
    };
    assert_eq!(text("zone"), Some("a b"));
    assert_eq!(text("host.name"), Some("vm"));
    assert_eq!(text("service.name"), Some("spin"));
    let id = &message.profiles().next().unwrap().profile_id;
    assert_eq!(id.len(), 16);
}

/// `push.v1.PushRequest` of Pyroscope.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct PushRequest {
    #[prost(message, repeated, tag = "1")]
    pub(super) series: Vec<Series>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Series {
    #[prost(message, repeated, tag = "1")]
    pub(super) labels: Vec<Label>,
    #[prost(message, repeated, tag = "2")]
    pub(super) samples: Vec<RawSample>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Label {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(string, tag = "2")]
    pub(super) value: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct RawSample {
    #[prost(bytes = "vec", tag = "1")]
    pub(super) raw_profile: Vec<u8>,
    #[prost(string, tag = "2")]
    pub(super) id: String,
}

const LABELS: [(&str, &str); 5] = [
    ("__name__", "process_cpu"),
    ("event", "cpu-clock:u"),
    ("machine", "vm"),
    ("service_name", "spin"),
    ("zone", "a b"),
];

#[test]
fn pyroscope_gets_a_series_with_its_labels() {
    let request = received("pyroscope");
    assert_eq!(request.path, "/push.v1.PusherService/Push");
    assert_eq!(request.headers["content-type"], "application/proto");
    assert_eq!(request.headers["connect-protocol-version"], "1");
    let message = PushRequest::decode(&*request.body).unwrap();
    let [series] = &message.series[..] else {
        panic!("{message:?}");
    };
    let labels = series.labels.iter();
    let labels: Vec<_> = labels.map(|one| (&*one.name, &*one.value)).collect();
    assert_eq!(labels, LABELS);
    assert_eq!(series.samples.len(), 1);
    assert_eq!(series.samples[0].id.len(), 36);
    let profile = &series.samples[0].raw_profile;
    check_pprof(profile);
    // It makes a series of each set of labels.
    let profile = Pprof::decode(&*unpacked(profile)).unwrap();
    assert_eq!(profile.labels(), BTreeSet::from(["comm"]));
}

#[test]
fn ingest_has_labels_and_times_in_its_url() {
    let request = received("pyroscope-ingest");
    let name = "spin%7Bevent%3Dcpu-clock%3Au%2Cmachine%3Dvm%2Czone%3Da%20b%7D";
    let expected = format!("/ingest?format=pprof&spyName=rprof&name={name}&from=");
    assert!(request.path.starts_with(&expected), "{}", request.path);
    assert!(request.path.contains("&until="), "{}", request.path);
    check_pprof(&request.body);
}

#[test]
fn parca_gets_json_without_http_2() {
    let request = received("parca");
    assert_eq!(request.path, "/api/profiles/writeraw");
    assert_eq!(request.headers["content-type"], "application/json");
    let message: Value = serde_json::from_slice(&request.body).unwrap();
    let labels = message["series"][0]["labels"]["labels"].as_array().unwrap();
    let text = |label: &Value, key: &str| label[key].as_str().unwrap().to_owned();
    let labels = labels
        .iter()
        .map(|one| (text(one, "name"), text(one, "value")));
    let labels: Vec<_> = labels.collect();
    let expected = LABELS.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(labels, expected);
    let profile = message["series"][0]["samples"][0]["rawProfile"].as_str();
    let dir = scratch();
    let profile = from_base64(profile.unwrap(), dir.path());
    check_pprof(&profile);
    let profile = Pprof::decode(&*unpacked(&profile)).unwrap();
    let labels = ["comm", "cpu", "pid", "tid"];
    assert!(profile.labels().is_subset(&BTreeSet::from(labels)));
    assert!(profile.labels().contains("tid"));
}

/// The bytes of a text, as coreutils reads it.
#[track_caller]
fn from_base64(text: &str, dir: &Path) -> Vec<u8> {
    let path = dir.join("text");
    std::fs::write(&path, text).unwrap();
    let out = dir.join("bytes");
    let mut shell = tool("sh");
    shell.args(["-c", "base64 -d < \"$0\" > \"$1\""]);
    run(shell.arg(&path).arg(&out)).ok();
    std::fs::read(out).unwrap()
}

#[test]
fn what_a_collector_leaves_out_is_said() {
    let dir = scratch();
    let file = copied("spin", dir.path(), "perf.data");
    // ExportProfilesServiceResponse { partial_success { rejected_profiles: 2, error_message: "old" } }
    let body = b"\x0a\x07\x08\x02\x12\x03old".to_vec();
    let head = "Content-Type: application/x-protobuf\r\n";
    let server = Collector::new(move |_, _| Reply::Is(200, head, body.clone()));
    let ran = pushed(&server.url, "otlp", &file);
    assert!(
        ran.stderr.contains("left out 2 profiles: old"),
        "{}",
        ran.stderr
    );
    assert_eq!(server.received().len(), 1);
}
