//! `HEADER_ATTR`, `HEADER_EVENT_TYPE`, `ID_INDEX`: events and their ids.

use super::body::{BodyItem, PlainBody};
use crate::attr_fields::visit_attr;
use rprof_abi::{Cursor, Fields, PerfEventAttr, Value, WireError};

/// `PERF_RECORD_HEADER_ATTR`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderAttr {
    /// The event's attr.
    pub attr: PerfEventAttr,
    /// Its ids.
    pub ids: Vec<u64>,
}

impl PlainBody<'_> for HeaderAttr {
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, WireError> {
        let (attr, len) = PerfEventAttr::parse(cursor.rest(), cursor.endian())?;
        cursor.bytes(u64::from(len), "event attr")?;
        Ok(Self {
            attr,
            ids: std::iter::from_fn(|| cursor.u64("id").ok()).collect(),
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.object("attr", |fields| visit_attr(&self.attr, fields));
        fields.list("ids", &self.ids, |fields, &id| {
            fields.field("", Value::Unsigned(id));
        });
    }
}

/// `PERF_RECORD_HEADER_EVENT_TYPE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventType<'a> {
    /// `attr.config` of the event.
    pub id: u64,
    /// Its name.
    pub name: &'a [u8],
}

impl<'a> PlainBody<'a> for EventType<'a> {
    fn parse(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
        Ok(Self {
            id: cursor.u64("event type")?,
            name: cursor.c_str(),
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("id", Value::Unsigned(self.id));
        fields.field("name", Value::Text(self.name));
    }
}

/// One item of `PERF_RECORD_ID_INDEX`: an event was opened here, and this is its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdIndexEntry {
    /// The id in its records.
    pub id: u64,
    /// Which ring its records came through.
    pub idx: u64,
    /// CPU, or -1.
    pub cpu: i64,
    /// Thread, or -1.
    pub tid: i64,
    /// For events of a guest (6.1).
    pub guest: Option<GuestId>,
}

/// Whose event it is, for an event of a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuestId {
    /// The guest's process on the host; 0 for the host's own events.
    pub machine_pid: u64,
    /// The guest's CPU.
    pub vcpu: u64,
}

impl IdIndexEntry {
    const LEN: u64 = 32;
}

impl BodyItem<'_> for IdIndexEntry {
    const LIST: &'static str = "entries";

    /// Behind the entries, in the same number, may be what says which guest each belongs to.
    fn parse_all(cursor: &mut Cursor<'_>) -> Result<Vec<Self>, WireError> {
        let what = "id index";
        let n = cursor.u64(what)?;
        let own = cursor.bytes(n.saturating_mul(Self::LEN), what)?;
        let mut own = Cursor::new(own, cursor.endian());
        let entry = |_| {
            Ok(Self {
                id: own.u64(what)?,
                idx: own.u64(what)?,
                cpu: own.u64(what)?.cast_signed(),
                tid: own.u64(what)?.cast_signed(),
                guest: guest(cursor),
            })
        };
        (0..n).map(entry).collect()
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("id", Value::Unsigned(self.id));
        fields.field("idx", Value::Unsigned(self.idx));
        fields.field("cpu", Value::Signed(self.cpu));
        fields.field("tid", Value::Signed(self.tid));
        if let Some(guest) = self.guest {
            fields.field("machine_pid", Value::Unsigned(guest.machine_pid));
            fields.field("vcpu", Value::Unsigned(guest.vcpu));
        }
    }
}

fn guest(cursor: &mut Cursor<'_>) -> Option<GuestId> {
    Some(GuestId {
        machine_pid: cursor.u64("guest").ok()?,
        vcpu: cursor.u64("guest").ok()?,
    })
}
