//! GROUP_DESC: which events were counted together.

use super::section::SectionItem;
use super::text::{encode_string, take_owned};
use rprof_abi::{Cursor, Encoder, Endian, Fields, Value, WireError};

/// One group of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventGroup {
    /// Its name on the command line, or `{anon_group}`.
    pub name: Vec<u8>,
    /// Which event leads it, counted from 0 in the order of the file.
    pub leader_idx: u32,
    /// Events in it, the leader included: they follow the leader.
    pub n_members: u32,
}

impl EventGroup {
    /// The name of a group that has none.
    pub const ANONYMOUS: &[u8] = b"{anon_group}";

    /// Appends the section.
    pub fn encode_all(groups: &[Self], encoder: &mut Encoder<'_>) {
        encoder.u32(u32::try_from(groups.len()).unwrap_or(u32::MAX));
        for group in groups {
            encode_string(&group.name, encoder);
            encoder.u32(group.leader_idx);
            encoder.u32(group.n_members);
        }
    }
}

impl SectionItem for EventGroup {
    fn parse_all(section: &[u8], endian: Endian) -> Result<Vec<Self>, WireError> {
        let mut cursor = Cursor::new(section, endian);
        let n = cursor.u32("group count")?;
        let group = |_| {
            Ok(Self {
                name: take_owned(&mut cursor)?,
                leader_idx: cursor.u32("group leader")?,
                n_members: cursor.u32("group members")?,
            })
        };
        (0..n).map(group).collect()
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("name", Value::Text(&self.name));
        fields.field("leader_idx", Value::Unsigned(self.leader_idx.into()));
        fields.field("n_members", Value::Unsigned(self.n_members.into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
