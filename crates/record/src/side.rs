//! On which side of the channel stacks are unwound. Where samples are few, the draining thread does
//! it, right out of the rings: waking another thread, and copying for it, costs more than the
//! unwinding itself. Where it cannot keep up, or has to look into processes, the writing thread
//! does, and draining goes on meanwhile.

use std::time::{Duration, Instant};

/// Which side it is, and since when.
#[derive(Debug)]
pub(crate) struct Side {
    is_draining: bool,
    /// The last change, or the last time that the draining thread could not have kept up.
    since: Instant,
    /// How long it must have been able to before it is asked to.
    hold: Duration,
    images: u64,
}

/// How one pass over the rings went.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    /// How full the fullest ring was, percent.
    pub(crate) fullest: u64,
    /// Whether the rest of stacks is being read from processes.
    pub(crate) completes: bool,
    /// Images whose unwind tables have been read so far: the next may be on a slow disk.
    pub(crate) images: u64,
    /// Whether the writing thread had nothing to do when the pass began.
    pub(crate) writer_idles: bool,
}

/// By then, tables of what runs have been read.
const FIRST_HOLD: Duration = Duration::from_secs(1);

/// Samples that come in bursts are unwound by the writing thread all the time.
const LONGEST_HOLD: Duration = Duration::from_secs(64);

/// A ring fuller than this, percent, was drained too late.
const TOO_FULL: u64 = 50;

impl Side {
    /// The writing thread's, until it turns out to be not needed for it.
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            is_draining: false,
            since: now,
            hold: FIRST_HOLD,
            images: 0,
        }
    }

    /// Whether the draining thread should unwind from now on, if that is a change.
    pub(crate) fn change(&mut self, now: Instant, load: Load) -> Option<bool> {
        let reads_images = load.images != self.images;
        self.images = load.images;
        let is_too_much = load.fullest > TOO_FULL || load.completes || reads_images;
        if self.is_draining {
            if !is_too_much {
                return None;
            }
            self.hold = (self.hold * 2).min(LONGEST_HOLD);
        } else {
            if is_too_much {
                self.since = now;
            }
            if !load.writer_idles || now.duration_since(self.since) < self.hold {
                return None;
            }
        }
        self.is_draining = !self.is_draining;
        self.since = now;
        Some(self.is_draining)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_draining_thread_unwinds_while_it_keeps_up() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let calm = Load {
            fullest: 20,
            completes: false,
            images: 0,
            writer_idles: true,
        };
        let full = Load {
            fullest: 60,
            ..calm
        };
        let busy = Load {
            writer_idles: false,
            ..calm
        };
        let completes = Load {
            completes: true,
            ..calm
        };
        let mut side = Side::new(start);
        assert_eq!(side.change(at(500), full), None);
        assert_eq!(side.change(at(1400), calm), None);
        assert_eq!(side.change(at(1600), busy), None);
        assert_eq!(side.change(at(1700), calm), Some(true));
        assert_eq!(side.change(at(1800), busy), None);
        assert_eq!(side.change(at(1900), full), Some(false));
        // It is not trusted as fast as at first.
        assert_eq!(side.change(at(3800), calm), None);
        assert_eq!(side.change(at(4000), calm), Some(true));
        assert_eq!(side.change(at(4100), completes), Some(false));
        let reads = Load { images: 1, ..calm };
        assert_eq!(side.change(at(8000), reads), None);
        assert_eq!(side.change(at(8100), reads), None);
        assert_eq!(side.change(at(12100), reads), Some(true));
    }
}
