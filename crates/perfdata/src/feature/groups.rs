//! GROUP_DESC: which events were counted together.

use super::section::{DescribedItem, encode_items};
use super::text::PerfString;
use rprof_abi::{Encoder, wire};

wire! {
    /// One group of events.
    pub struct EventGroup in "group" {
        /// Its name on the command line, or `{anon_group}`.
        pub name: Vec<u8> as PerfString,
        /// Which event leads it, counted from 0 in the order of the file.
        pub leader_idx: u32 as Number in "group leader",
        /// Events in it, the leader included: they follow the leader.
        pub n_members: u32 as Number in "group members",
    }
}

impl DescribedItem for EventGroup {
    const COUNT: &'static str = "group count";
}

impl EventGroup {
    /// The name of a group that has none.
    pub const ANONYMOUS: &[u8] = b"{anon_group}";

    /// Appends the section.
    pub fn encode_all(groups: &[Self], encoder: &mut Encoder<'_>) {
        encode_items(groups, encoder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::{SectionItem, encode_string};
    use crate::testing::{ORDERS, bytes};

    #[test]
    fn groups_are_read_in_both_byte_orders() {
        for endian in ORDERS {
            let section = bytes(endian, |encoder| {
                encoder.u32(1);
                encode_string(b"{anon_group}", encoder);
                encoder.u32(1);
                encoder.u32(3);
            });
            let expected = EventGroup {
                name: b"{anon_group}".to_vec(),
                leader_idx: 1,
                n_members: 3,
            };
            let groups = vec![expected];
            assert_eq!(
                bytes(endian, |encoder| EventGroup::encode_all(&groups, encoder)),
                section
            );
            assert_eq!(EventGroup::parse_all(&section, endian), Ok(groups));
            assert!(EventGroup::parse_all(&section[..72], endian).is_err());
        }
    }
}
