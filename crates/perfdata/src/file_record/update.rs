//! `EVENT_UPDATE`: what perf knows of an event besides its attr.

use super::body::FileBody;
use super::maps::CpuMap;
use super::stat::append;
use crate::file_kind;
use rprof_abi::{Cursor, Fields, Misc, Value, WireError};

/// `PERF_RECORD_EVENT_UPDATE`.
#[derive(Clone, Debug, PartialEq)]
pub struct EventUpdate<'a> {
    /// An id of the event.
    pub id: u64,
    /// What of it.
    pub update: Update<'a>,
}

/// What an [`EventUpdate`] says.
#[derive(Clone, Debug, PartialEq)]
pub enum Update<'a> {
    /// Unit of its counts, such as `msec`.
    Unit(&'a [u8]),
    /// What its counts are multiplied with to be in that unit.
    Scale(f64),
    /// Its name.
    Name(&'a [u8]),
    /// CPUs that have it.
    Cpus(CpuMap<'a>),
    /// Something else.
    Unknown {
        /// Its number.
        kind: u64,
        /// Its bytes.
        data: &'a [u8],
    },
}

impl EventUpdate<'_> {
    /// Appends the record of a unit, a scale or a name, in this machine's byte order; nothing of others.
    ///
    /// # Errors
    /// [`WireError`] if a text is too long.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        let kind: u64 = match self.update {
            Update::Unit(_) => 0,
            Update::Scale(_) => 1,
            Update::Name(_) => 2,
            Update::Cpus(_) | Update::Unknown { .. } => return Ok(()),
        };
        append(file_kind::EVENT_UPDATE, out, |body| {
            body.u64(kind);
            body.u64(self.id);
            match self.update {
                Update::Unit(text) | Update::Name(text) => {
                    body.bytes(text);
                    body.u8(0);
                }
                Update::Scale(scale) => body.u64(scale.to_bits()),
                Update::Cpus(_) | Update::Unknown { .. } => {}
            }
        })
    }
}

impl<'a> FileBody<'a> for EventUpdate<'a> {
    fn parse_body(cursor: &mut Cursor<'a>, misc: Misc) -> Result<Self, WireError> {
        let kind = cursor.u64("event update")?;
        let id = cursor.u64("event update")?;
        let update = match kind {
            0 => Update::Unit(cursor.c_str()),
            1 => Update::Scale(f64::from_bits(cursor.u64("event scale")?)),
            2 => Update::Name(cursor.c_str()),
            3 => Update::Cpus(CpuMap::parse_body(cursor, misc)?),
            kind => Update::Unknown {
                kind,
                data: cursor.rest(),
            },
        };
        Ok(Self { id, update })
    }

    fn name_fields(&self, fields: &mut dyn Fields) {
        fields.field("id", Value::Unsigned(self.id));
        match &self.update {
            Update::Unit(unit) => fields.field("unit", Value::Text(unit)),
            Update::Scale(scale) => fields.field("scale", Value::Float(*scale)),
            Update::Name(name) => fields.field("name", Value::Text(name)),
            Update::Cpus(map) => map.name_fields(fields),
            Update::Unknown { kind, data } => {
                fields.field("type", Value::Unsigned(*kind));
                fields.field("data", Value::Bytes(data));
            }
        }
    }
}
