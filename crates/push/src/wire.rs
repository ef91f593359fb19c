//! Messages of the protocols, around profiles and in answers.

/// Pyroscope's `push.v1.PushRequest`.
///
/// Source: api/push/v1/push.proto and api/types/v1/types.proto of github.com/grafana/pyroscope.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct PushRequest {
    #[prost(message, repeated, tag = "1")]
    pub(crate) series: Vec<PyroscopeSeries>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct PyroscopeSeries {
    #[prost(message, repeated, tag = "1")]
    pub(crate) labels: Vec<LabelPair>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) samples: Vec<PyroscopeSample>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct LabelPair {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(string, tag = "2")]
    pub(crate) value: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct PyroscopeSample {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) raw_profile: Vec<u8>,
    #[prost(string, tag = "2")]
    pub(crate) id: String,
}

/// Its answer, which says nothing.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct PushResponse {}

/// What a collector answers: `ExportProfilesServiceResponse`.
///
/// Source: opentelemetry/proto/collector/profiles/v1development/profiles_service.proto of
/// github.com/open-telemetry/opentelemetry-proto, 1.11.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ExportResponse {
    #[prost(message, optional, tag = "1")]
    pub(crate) partial_success: Option<ExportPartialSuccess>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ExportPartialSuccess {
    #[prost(int64, tag = "1")]
    pub(crate) rejected_profiles: i64,
    #[prost(string, tag = "2")]
    pub(crate) error_message: String,
}

/// An error as collectors answer it: `google.rpc.Status`, as far as it is shown.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Status {
    #[prost(string, tag = "2")]
    pub(crate) message: String,
}
