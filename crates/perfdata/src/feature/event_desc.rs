//! EVENT_DESC: events with their names.

use super::section::SectionItem;
use super::text::{encode_string, take_string};
use crate::attr_fields::visit_attr;
use rprof_abi::{AttrSize, Cursor, Encoder, Endian, Fields, PerfEventAttr, Value, WireError};

/// One event of the section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventDesc {
    /// Its attr.
    pub attr: PerfEventAttr,
    /// Size of the attr, as the attr says.
    pub attr_size: AttrSize,
    /// Its name, as on the command line.
    pub name: Vec<u8>,
    /// Its ids.
    pub ids: Vec<u64>,
}

impl EventDesc {
    /// Appends a whole section.
    pub fn encode_all(events: &[Self], attr_size: AttrSize, out: &mut Vec<u8>, endian: Endian) {
        Encoder::new(out, endian).count(events.len());
        Encoder::new(out, endian).u32(attr_size.0);
        for event in events {
            event.attr.encode(out, endian, attr_size);
            let mut encoder = Encoder::new(out, endian);
            encoder.count(event.ids.len());
            encode_string(&event.name, &mut encoder);
            for &id in &event.ids {
                encoder.u64(id);
            }
        }
    }
}

impl SectionItem for EventDesc {
    fn parse_all(section: &[u8], endian: Endian) -> Result<Vec<Self>, WireError> {
        let mut cursor = Cursor::new(section, endian);
        let n = cursor.u32("event count")?;
        let attr_size = cursor.u32("attr size")?;
        let mut events = Vec::new();
        for _ in 0..n {
            let bytes = cursor.bytes(u64::from(attr_size), "event attr")?;
            let (attr, attr_len) = PerfEventAttr::parse(bytes, endian)?;
            let n_ids = cursor.u32("id count")?;
            let name = take_string(&mut cursor)?.to_vec();
            let mut ids = Cursor::new(cursor.bytes(u64::from(n_ids) * 8, "event ids")?, endian);
            events.push(Self {
                attr,
                attr_size: AttrSize(attr_len),
                name,
                ids: ids.u64s(),
            });
        }
        Ok(events)
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("name", Value::Text(&self.name));
        fields.list("ids", &self.ids, |fields, &id| {
            fields.field("", Value::Unsigned(id));
        });
        fields.object("attr", |fields| visit_attr(&self.attr, fields));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_round_trip() {
        let events = vec![
            EventDesc {
                attr: PerfEventAttr::default(),
                attr_size: AttrSize(112),
                name: b"cycles".to_vec(),
                ids: vec![1, 2],
            },
            EventDesc {
                attr: PerfEventAttr::default(),
                attr_size: AttrSize(112),
                name: b"dummy:u".to_vec(),
                ids: vec![],
            },
        ];
        let mut bytes = Vec::new();
        EventDesc::encode_all(&events, AttrSize(112), &mut bytes, Endian::Little);
        assert_eq!(
            EventDesc::parse_all(&bytes, Endian::Little).unwrap(),
            events
        );
        for len in 0..bytes.len() {
            assert!(EventDesc::parse_all(&bytes[..len], Endian::Little).is_err());
        }
    }
}
