//! The arguments of `rprof push`.

use super::limits::{LimitArgs, parse_size};
use super::sources::SourceArgs;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use rprof_push::Protocol;
use std::path::PathBuf;
use std::time::Duration;

/// Shown at the end of `--help`.
const EXAMPLES: &str = "\
A token comes from --token-file, or else from RPROF_PUSH_TOKEN. What is delivered is noted in .rprof-push beside the
recordings: run the command again to push the rest.

Examples:
  rprof push --to http://localhost:4318 --protocol otlp perf.data
  rprof push --to http://localhost:4040 --protocol pyroscope \\
      --label service_name=shop perf.data
  rprof push --to https://parca.example --protocol parca \\
      --token-file token --follow /var/lib/rprof";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PushArgs {
    /// Recordings, or directories that record --switch-output writes them to
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,

    /// Server: https://HOST[:PORT][/PATH], or http
    // Read later: an error of clap's would show it.
    #[arg(long, value_name = "URL")]
    pub(crate) to: String,

    /// Protocol that the server speaks
    #[arg(long, value_name = "PROTOCOL", value_parser = protocols())]
    pub(crate) protocol: Protocol,

    /// Label everything that is pushed; can be repeated. service_name names the service
    #[arg(long = "label", value_name = "KEY=VALUE")]
    pub(crate) labels: Vec<String>,

    /// Wait for new recordings in the directories and push each when it is complete, until a signal
    #[arg(long)]
    pub(crate) follow: bool,

    /// Send the token in FILE, which only you may read
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,

    /// Send the token as the password of this user (basic authentication)
    #[arg(long, value_name = "USER")]
    pub(crate) user: Option<String>,

    /// Send the token without TLS, too: anyone on the way can read it
    #[arg(long)]
    pub(crate) token_over_http: bool,

    /// Trust the certificate authorities in FILE (PEM) instead of the public ones
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_file: Option<PathBuf>,

    /// Time limit for a request and its answer
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = some_seconds)]
    pub(crate) timeout: Duration,

    /// Give up when a message could not be delivered for this long [default: 60; with --follow, never]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) give_up_after: Option<Duration>,

    /// Delete the oldest recordings while the directories hold more than SIZE: delivered ones first
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) max_disk: Option<u64>,

    #[command(flatten)]
    pub(crate) sources: SourceArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Reads the name of a protocol.
fn protocols() -> impl TypedValueParser<Value = Protocol> {
    let about = |protocol| match protocol {
        Protocol::Otlp => {
            "OpenTelemetry collectors (OTLP/HTTP 1.11, v1development: may still change)"
        }
        Protocol::Pyroscope => "Pyroscope's push service",
        Protocol::PyroscopeIngest => {
            "Pyroscope's /ingest, for older servers: labels are in the URL"
        }
        Protocol::Parca => "Parca's WriteRaw",
    };
    let names = Protocol::ALL.map(|one| PossibleValue::new(one.name()).help(about(one)));
    PossibleValuesParser::new(names).try_map(|name| {
        let named = Protocol::ALL.into_iter().find(|one| one.name() == name);
        named.ok_or("unknown protocol")
    })
}

/// A longer time is none.
const MAX_SECONDS: f64 = 7.0 * 24.0 * 3600.0;

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: Option<f64> = text.parse().ok();
    let seconds = seconds.filter(|seconds| (0.0..=MAX_SECONDS).contains(seconds));
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.ok_or_else(|| "expected a number of seconds, up to a week".to_owned())
}

fn some_seconds(text: &str) -> Result<Duration, String> {
    seconds(text).and_then(|time| match time {
        Duration::ZERO => Err("expected more than 0 seconds".to_owned()),
        time => Ok(time),
    })
}
