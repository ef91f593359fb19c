//! Delivers parts, one after the other, however long that takes.

use crate::answer::{Answer, PartialSuccess, Refusal};
use crate::backoff::Backoff;
use crate::client::{Client, read_roots};
use crate::{Credentials, Error, Labels, Part, PushTarget};
use std::path::PathBuf;
use std::time::{Duration, Instant};

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
    /// How long a part is tried; for ever without.
    pub give_up_after: Option<Duration>,
    /// Labels whose values are not shown.
    pub secret_labels: Labels,
}

/// What came of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// The server has it; perhaps not all of it.
    Delivered(Option<PartialSuccess>),
    /// The server will never take it.
    Refused(Refusal),
    /// The server takes nothing: access, address or certificate are wrong. The text says what.
    Stopped(String),
    /// It could not be delivered in the time that there was. The text says why.
    GaveUp(String),
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

    /// Sends a part until the server has it, or says that it never will. `waits` is told before each wait why there is
    /// one.
    ///
    /// # Errors
    /// Those of the token's file.
    pub fn send(&self, part: &Part<'_>, waits: &mut dyn FnMut(&str)) -> Result<Delivery, Error> {
        let start = Instant::now();
        let mut backoff = Backoff::new();
        loop {
            let authorization = self.settings.credentials.authorization()?;
            let labels = &self.settings.secret_labels;
            let answer = (self.client).send(&self.target, part, authorization.as_ref(), labels);
            let (why, after) = match answer {
                Answer::Delivered(partial) => return Ok(Delivery::Delivered(partial)),
                Answer::Refused(refusal) => return Ok(Delivery::Refused(refusal)),
                Answer::Stop(why) => return Ok(Delivery::Stopped(why)),
                Answer::Again { why, after } => (why, after),
            };
            let wait = backoff.next(after);
            let end = self.settings.give_up_after;
            if end.is_some_and(|end| start.elapsed() + wait > end) {
                return Ok(Delivery::GaveUp(why));
            }
            waits(&why);
            std::thread::sleep(wait);
        }
    }
}
