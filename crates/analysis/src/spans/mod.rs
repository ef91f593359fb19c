//! Spans of threads' time, such as requests: events or marker files say where they begin and end. A sample belongs to
//! the innermost span of its thread. Who finds them is `samples/span_finder`.

mod all;
mod names;
mod section;
mod span;
mod speed;
mod timelines;
mod told;

pub(crate) use all::Spans;
pub(crate) use names::SpanNames;
pub use section::span_events;
pub(crate) use section::{edge_events, edges_of};
pub use span::NamedSpan;
pub(crate) use span::Span;
pub(crate) use speed::SpeedFilter;
pub(crate) use told::ToldOfSpans;
