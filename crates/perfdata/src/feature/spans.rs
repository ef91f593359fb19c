//! SPANS, rprof's own: which events begin and end a span of a thread's time, such as a request.

use super::section::{DescribedItem, encode_items};
use super::text::PerfString;
use rprof_abi::{Encoder, wire};

wire! {
    /// An event that begins or ends spans of a name. A name may have several of each.
    pub struct SpanEdge in "span edge" {
        /// The name of the spans.
        pub name: Vec<u8> as PerfString,
        /// Which event, counted from 0 in the order of the file.
        pub event_idx: u32 as Number in "event of a span",
        /// 0 if it begins them, 1 if it ends them.
        pub is_end: u32 as Number in "edge of a span",
    }
}

impl DescribedItem for SpanEdge {
    const COUNT: &'static str = "number of span edges";
}

impl SpanEdge {
    /// Appends the section.
    pub fn encode_all(edges: &[Self], encoder: &mut Encoder<'_>) {
        encode_items(edges, encoder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::SectionItem;
    use crate::testing::{ORDERS, bytes};

    #[test]
    fn edges_round_trip_and_short_ones_are_errors() {
        let edge = |event_idx, is_end| SpanEdge {
            name: b"request".to_vec(),
            event_idx,
            is_end,
        };
        let edges = vec![edge(1, 0), edge(2, 1)];
        for endian in ORDERS {
            let section = bytes(endian, |encoder| SpanEdge::encode_all(&edges, encoder));
            assert_eq!(SpanEdge::parse_all(&section, endian).as_ref(), Ok(&edges));
            for len in 0..section.len() {
                assert!(SpanEdge::parse_all(&section[..len], endian).is_err());
            }
        }
    }
}
