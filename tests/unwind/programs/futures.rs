//! A chain of futures, polled from a small executor, and generic recursion.
use std::future::Future;
use std::hint::black_box;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

#[no_mangle]
#[inline(never)]
pub extern "C" fn stop(n: u64) -> u64 {
    black_box(n)
}

struct Later(u32);

impl Future for Later {
    type Output = u64;
    #[inline(never)]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<u64> {
        self.0 -= 1;
        match stop(self.0.into()) {
            0 => Poll::Ready(1),
            _ => Poll::Pending,
        }
    }
}

async fn inner(n: u32) -> u64 {
    black_box(Later(n)).await + 1
}

fn boxed(n: u32) -> Pin<Box<dyn Future<Output = u64>>> {
    Box::pin(async move {
        match n {
            0 => inner(3).await,
            _ => boxed(n - 1).await + 1,
        }
    })
}

trait Depth {
    fn down(&self, n: u64) -> u64;
}
struct Wrap<T>(T);
impl Depth for u64 {
    #[inline(never)]
    fn down(&self, n: u64) -> u64 {
        stop(*self + n)
    }
}
impl<T: Depth> Depth for Wrap<T> {
    #[inline(never)]
    fn down(&self, n: u64) -> u64 {
        if n > 200 {
            return self.0.down(n);
        }
        black_box([n; 9])[3] + self.down(n + 1)
    }
}

fn main() {
    let mut chain = pin!(boxed(20));
    let mut context = Context::from_waker(Waker::noop());
    while chain.as_mut().poll(&mut context).is_pending() {}
    let deep = Wrap(Wrap(Wrap(Wrap(black_box(7u64)))));
    black_box(deep.down(0));
    let caught = std::panic::catch_unwind(|| drop(Dropped(black_box(1) - 1)));
    assert!(caught.is_err());
}

struct Dropped(u64);
impl Drop for Dropped {
    fn drop(&mut self) {
        black_box(10 / self.0);
    }
}
