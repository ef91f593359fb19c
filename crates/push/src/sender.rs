//! Delivers parts, one after the other, however long that takes.

use crate::answer::{Answer, PartialSuccess, Refusal, with_message};
use crate::backoff::Backoff;
use crate::client::{Client, read_roots};
use crate::{Credentials, Error, Labels, Part, PushTarget};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A server that answers 429 so often to a part, one time after the other, may never take so much at once: Pyroscope
/// answers so to what is larger than its burst.
const MAX_LIMITED: u32 = 6;

/// Parts of fewer bytes are as small as any server takes.
const MIN_SPLIT: usize = 256 << 10;

/// How to send.
#[derive(Clone, Debug)]
pub struct SenderSettings {
    /// Who we are.
    pub credentials: Credentials,
    /// A token may be sent without TLS.
    pub token_over_http: bool,
    /// Certificates to trust instead of the usual ones.
    pub ca_file: Option<PathBuf>,
    /// How long a request may take, with its answer.
    pub timeout: Duration,
    /// Labels whose values are not shown.
    pub secret_labels: Labels,
}

/// What came of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// The server has it; perhaps not all of it.
    Delivered(Option<PartialSuccess>),
    /// The server does not take so much at once.
    TooLarge(Refusal),
    /// The server will never take it.
    Refused(Refusal),
    /// The server takes nothing: access, address or certificate are wrong. The text says what.
    Stopped(String),
    /// It could not be delivered in the time that there was.
    GaveUp {
        /// Why not.
        why: String,
        /// For how long the server wants nothing, if it has said that.
        after: Option<Duration>,
    },
}

/// Sends parts to a server. Copies share connections.
#[derive(Clone, Debug)]
pub struct Sender {
    target: PushTarget,
    settings: SenderSettings,
    client: Client,
}

impl Sender {
    /// Nothing is sent yet.
    ///
    /// # Errors
    /// [`Error::Plain`] if a token would be sent without TLS, and errors of the certificates' file.
    pub fn new(target: PushTarget, settings: SenderSettings) -> Result<Self, Error> {
        let is_given = settings.credentials.are_given();
        if is_given && !target.is_private() && !settings.token_over_http {
            return Err(Error::Plain {
                host: target.host().to_owned(),
            });
        }
        let roots = settings.ca_file.as_deref().map(read_roots).transpose()?;
        let client = Client::new(&target, settings.timeout, roots);
        Ok(Self {
            target,
            settings,
            client,
        })
    }

    /// The server.
    pub fn target(&self) -> &PushTarget {
        &self.target
    }

    /// Sends a part until the server has it, says that it never will, or `timeout` is over; it is tried once in any
    /// case. `wait` is told why there is a wait and how long it is to be, and waits.
    pub fn send(
        &self,
        part: &Part<'_>,
        timeout: Duration,
        wait: &mut dyn FnMut(&str, Duration),
    ) -> Delivery {
        let start = Instant::now();
        let mut backoff = Backoff::new();
        let mut n_limited = 0;
        loop {
            let (why, after) = match self.try_once(part) {
                Answer::Delivered(partial) => return Delivery::Delivered(partial),
                Answer::TooLarge(refusal) => return Delivery::TooLarge(refusal),
                Answer::Refused(refusal) => return Delivery::Refused(refusal),
                Answer::Stop(why) => return Delivery::Stopped(why),
                Answer::Limited { refusal, after } => {
                    n_limited += 1;
                    if n_limited == MAX_LIMITED && part.body.len() > MIN_SPLIT {
                        return Delivery::TooLarge(refusal);
                    }
                    (with_message(refusal.status, &refusal.message), after)
                }
                Answer::Again { why, after } => {
                    n_limited = 0;
                    (why, after)
                }
            };
            let next = backoff.next(after);
            if start.elapsed() + next > timeout {
                return Delivery::GaveUp { why, after };
            }
            wait(&why, next);
        }
    }

    fn try_once(&self, part: &Part<'_>) -> Answer {
        let authorization = match self.settings.credentials.authorization() {
            Ok(authorization) => authorization,
            // It was there at the start: somebody is replacing it.
            Err(error) => {
                return Answer::Again {
                    why: error.to_string(),
                    after: None,
                };
            }
        };
        let labels = &self.settings.secret_labels;
        self.client
            .send(&self.target, part, authorization.as_ref(), labels)
    }
}
