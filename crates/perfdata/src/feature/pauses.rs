//! PAUSES, rprof's own: when samples of an event were not taken, because the user had paused them.

use super::section::{DescribedItem, encode_items};
use rprof_abi::{Encoder, wire};

wire! {
    /// A pause of an event. It begins before the first counter is disabled, and ends after the last one is enabled.
    #[derive(Copy)]
    pub struct EventPause in "pause" {
        /// Which event, counted from 0 in the order of the file.
        pub event_idx: u32 as Number in "event of a pause",
        /// Since when, nanoseconds of the recording's clock.
        pub start_ns: u64,
        /// Until when; the end of the file if it went on.
        pub end_ns: u64,
    }
}

impl DescribedItem for EventPause {
    const COUNT: &'static str = "number of pauses";
}

impl EventPause {
    /// Appends the section.
    pub fn encode_all(pauses: &[Self], encoder: &mut Encoder<'_>) {
        encode_items(pauses, encoder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::SectionItem;
    use crate::testing::{ORDERS, bytes};

    #[test]
    fn pauses_round_trip_and_short_ones_are_errors() {
        let pause = |event_idx, start_ns| EventPause {
            event_idx,
            start_ns,
            end_ns: start_ns + 5,
        };
        let pauses = vec![pause(1, 10), pause(2, 1 << 40)];
        for endian in ORDERS {
            let section = bytes(endian, |encoder| EventPause::encode_all(&pauses, encoder));
            assert_eq!(
                EventPause::parse_all(&section, endian).as_ref(),
                Ok(&pauses)
            );
            for len in 0..section.len() {
                assert!(EventPause::parse_all(&section[..len], endian).is_err());
            }
        }
    }
}
