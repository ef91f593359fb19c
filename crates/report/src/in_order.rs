//! Text that threads make at once, written in order.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Items whose text is made at once.
const ITEMS: usize = 64;
/// Texts that one thread may be ahead.
const AHEAD: usize = 8;

type Made = io::Result<Vec<u8>>;

/// Writes the text of items 0 to `n`: `make` appends that of some of them.
///
/// # Errors
/// The writer's, and those of `make`.
pub(crate) fn write_in_order(
    n: usize,
    make: impl Fn(Range<usize>, &mut Vec<u8>) -> io::Result<()> + Sync,
    out: &mut impl Write,
) -> io::Result<()> {
    let steps = n.div_ceil(ITEMS);
    let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
    let n_threads = n_threads.min(steps).max(1);
    let make_step = |step: usize| -> Made {
        let mut text = Vec::new();
        let start = step * ITEMS;
        make(start..(start + ITEMS).min(n), &mut text)?;
        Ok(text)
    };
    if n_threads == 1 {
        return (0..steps).try_for_each(|step| out.write_all(&make_step(step)?));
    }
    // Threads take turns.
    let send = |first: usize, to: &SyncSender<Made>| {
        for step in (first..steps).step_by(n_threads) {
            // Nobody listens after an error.
            if to.send(make_step(step)).is_err() {
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        let mut threads: Vec<Receiver<Made>> = Vec::new();
        for first in 0..n_threads {
            let (to, from) = sync_channel(AHEAD);
            let run = move || send(first, &to);
            std::thread::Builder::new().spawn_scoped(scope, run)?;
            threads.push(from);
        }
        for step in 0..steps {
            let Some(Ok(text)) = threads.get(step % n_threads).map(Receiver::recv) else {
                // The thread has panicked, which ends the scope.
                break;
            };
            out.write_all(&text?)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(n: usize) -> Vec<u8> {
        let mut out = Vec::new();
        let make = |items: Range<usize>, text: &mut Vec<u8>| {
            items
                .into_iter()
                .try_for_each(|item| writeln!(text, "{item}"))
        };
        write_in_order(n, make, &mut out).unwrap();
        out
    }

    #[test]
    fn items_stay_in_order() {
        for n in [0, 1, ITEMS, ITEMS + 1, 100 * ITEMS + 7] {
            let expected: String = (0..n).map(|item| format!("{item}\n")).collect();
            assert_eq!(written(n), expected.as_bytes());
        }
    }

    #[test]
    fn the_first_error_ends_it() {
        let make = |items: Range<usize>, text: &mut Vec<u8>| {
            text.extend_from_slice(b"x");
            match items.contains(&(3 * ITEMS)) {
                true => Err(io::Error::other("no")),
                false => Ok(()),
            }
        };
        let mut out = Vec::new();
        let error = write_in_order(1000 * ITEMS, make, &mut out).unwrap_err();
        assert_eq!(
            (error.to_string().as_str(), out.as_slice()),
            ("no", &b"xxx"[..])
        );
        let closed = write_in_order(
            1000 * ITEMS,
            |_, text| text.write_all(b"x"),
            &mut &mut [][..],
        );
        assert_eq!(closed.unwrap_err().kind(), io::ErrorKind::WriteZero);
    }
}
