//! OTLP profiles, decoded again: by messages that are written here, not taken from rprof.

use prost::Message;
use std::collections::BTreeMap;

/// `ExportProfilesServiceRequest`, as far as tests look into it (opentelemetry-proto 1.11).
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Request {
    #[prost(message, repeated, tag = "1")]
    pub(crate) resource_profiles: Vec<ResourceProfiles>,
    #[prost(message, required, tag = "2")]
    pub(crate) dictionary: Dictionary,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ResourceProfiles {
    #[prost(message, required, tag = "1")]
    pub(crate) resource: Resource,
    #[prost(message, repeated, tag = "2")]
    pub(crate) scope_profiles: Vec<ScopeProfiles>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Resource {
    #[prost(message, repeated, tag = "1")]
    pub(crate) attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct KeyValue {
    #[prost(string, tag = "1")]
    pub(crate) key: String,
    #[prost(message, required, tag = "2")]
    pub(crate) value: AnyValue,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct AnyValue {
    #[prost(string, optional, tag = "1")]
    pub(crate) text: Option<String>,
    #[prost(int64, optional, tag = "3")]
    pub(crate) int: Option<i64>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ScopeProfiles {
    #[prost(message, repeated, tag = "2")]
    pub(crate) profiles: Vec<Profile>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Profile {
    #[prost(message, required, tag = "1")]
    pub(crate) sample_type: ValueType,
    #[prost(message, repeated, tag = "2")]
    pub(crate) samples: Vec<Sample>,
    #[prost(fixed64, tag = "3")]
    pub(crate) time_unix_nano: u64,
    #[prost(bytes = "vec", tag = "7")]
    pub(crate) profile_id: Vec<u8>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ValueType {
    #[prost(int32, tag = "1")]
    pub(crate) kind: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Sample {
    #[prost(int32, tag = "1")]
    pub(crate) stack_index: i32,
    #[prost(int64, repeated, tag = "4")]
    pub(crate) values: Vec<i64>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Dictionary {
    #[prost(message, repeated, tag = "2")]
    pub(crate) locations: Vec<Location>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) functions: Vec<Function>,
    #[prost(string, repeated, tag = "5")]
    pub(crate) strings: Vec<String>,
    #[prost(message, repeated, tag = "7")]
    pub(crate) stacks: Vec<Stack>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Location {
    #[prost(message, repeated, tag = "3")]
    pub(crate) lines: Vec<Line>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Line {
    #[prost(int32, tag = "1")]
    pub(crate) function: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Function {
    #[prost(int32, tag = "1")]
    pub(crate) name: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Stack {
    #[prost(int32, repeated, tag = "1")]
    pub(crate) locations: Vec<i32>,
}

impl Dictionary {
    #[track_caller]
    pub(crate) fn text(&self, number: i32) -> &str {
        &self.strings[usize::try_from(number).unwrap()]
    }

    /// Names of a sample's functions, innermost first.
    #[track_caller]
    pub(crate) fn names(&self, sample: &Sample) -> Vec<&str> {
        let stack = &self.stacks[usize::try_from(sample.stack_index).unwrap()];
        let locations = stack.locations.iter();
        let locations = locations.map(|&number| &self.locations[usize::try_from(number).unwrap()]);
        let lines = locations.flat_map(|location| &location.lines);
        let functions = lines.map(|line| &self.functions[usize::try_from(line.function).unwrap()]);
        functions.map(|function| self.text(function.name)).collect()
    }
}

impl Request {
    /// All profiles.
    pub(crate) fn profiles(&self) -> impl Iterator<Item = &Profile> {
        let scopes = self.resource_profiles.iter();
        let scopes = scopes.flat_map(|resource| &resource.scope_profiles);
        scopes.flat_map(|scope| &scope.profiles)
    }

    /// Sums of values, by type of profiles, in the order of profiles.
    #[track_caller]
    pub(crate) fn sums(&self) -> Vec<(String, u64)> {
        let sums = self.profiles().map(|profile| {
            let values = profile.samples.iter().flat_map(|sample| &sample.values);
            let sum: i64 = values.sum();
            let name = self.dictionary.text(profile.sample_type.kind);
            (name.to_owned(), u64::try_from(sum).unwrap())
        });
        sums.collect()
    }
}

/// Samples and weight of each event.
#[track_caller]
pub(crate) fn totals(bytes: &[u8]) -> Vec<(String, u64, u64)> {
    let request = Request::decode(bytes).unwrap();
    let sums = request.sums();
    // Samples come first, then weight.
    let events = sums.chunks(2).map(|two| {
        let [(_, samples), (name, weight)] = two else {
            panic!("{sums:?}");
        };
        (name.clone(), *samples, *weight)
    });
    events.collect()
}

#[test]
fn functions_are_the_reports() {
    use crate::common::{Recording, scratch};
    let dir = scratch();
    let spin = Recording::fixture("spin");
    let bytes = std::fs::read(spin.export(dir.path(), "spin.otlp", &[])).unwrap();
    let request = Request::decode(&*bytes).unwrap();
    let samples = request.profiles().next().unwrap();
    let mut by_function: BTreeMap<&str, i64> = BTreeMap::new();
    for sample in &samples.samples {
        let innermost = request.dictionary.names(sample)[0];
        *by_function.entry(innermost).or_default() += sample.values[0];
    }
    // helper is inlined where hot was sampled.
    assert_eq!(by_function["cold"], 63, "{by_function:?}");
    assert_eq!(by_function.values().sum::<i64>(), 212);
    let resource = &request.resource_profiles[0].resource.attributes;
    let text = |key: &str| {
        let attribute = resource.iter().find(|attribute| attribute.key == key);
        attribute.and_then(|attribute| attribute.value.text.as_deref())
    };
    assert_eq!(text("host.name"), Some("vm"));
    assert_eq!(text("service.name"), Some("spin"));
    assert!(samples.time_unix_nano > 0);
    assert_eq!(samples.profile_id.len(), 16);
}

#[test]
fn a_compressed_file_is_gzip() {
    use crate::common::{Recording, scratch};
    use std::io::Read;
    let dir = scratch();
    let spin = Recording::fixture("spin");
    let file = std::fs::File::open(spin.export(dir.path(), "spin.otlp.gz", &[])).unwrap();
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(file)
        .read_to_end(&mut bytes)
        .unwrap();
    assert_eq!(totals(&bytes)[0].1, 212);
}
