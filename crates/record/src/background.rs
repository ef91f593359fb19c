//! Work in a thread of its own.

use crate::error::Error;
use crossbeam_channel::{Receiver, bounded};

/// Runs something in a thread of its own; its result comes through the channel.
pub(crate) fn in_background<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<Receiver<T>, Error> {
    let (done, result) = bounded(1);
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || done.send(work()))
        .map_err(Error::system("starting a thread"))?;
    Ok(result)
}
