//! `HEADER_ATTR`, `HEADER_EVENT_TYPE`, `ID_INDEX`: events and their ids.

use super::body::{Described, FileBody};
use crate::attr_fields::visit_attr;
use rprof_abi::format::Text;
use rprof_abi::{Cursor, Fields, Misc, PerfEventAttr, Value, Wire, WireError, wire};

/// `PERF_RECORD_HEADER_ATTR`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderAttr {
    /// The event's attr.
    pub attr: PerfEventAttr,
    /// Its ids.
    pub ids: Vec<u64>,
}

impl FileBody<'_> for Box<HeaderAttr> {
    fn parse_body(cursor: &mut Cursor<'_>, _: Misc) -> Result<Self, WireError> {
        let (attr, len) = PerfEventAttr::parse(cursor.rest(), cursor.endian())?;
        cursor.bytes(u64::from(len), "event attr")?;
        Ok(Self::new(HeaderAttr {
            attr,
            ids: cursor.u64s(),
        }))
    }

    fn name_fields(&self, fields: &mut dyn Fields) {
        fields.object("attr", |fields| visit_attr(&self.attr, fields));
        fields.list("ids", &self.ids, |fields, &id| {
            fields.field("", Value::Unsigned(id));
        });
    }
}

wire! {
    /// `PERF_RECORD_HEADER_EVENT_TYPE`.
    #[derive(Copy)]
    pub struct EventType<'a> in "event type" {
        /// `attr.config` of the event.
        pub id: u64,
        /// Its name.
        pub name: &'a [u8] as Text,
    }
}

impl<'a> Described<'a> for EventType<'a> {}

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

wire! {
    /// Whose event it is, for an event of a guest.
    #[derive(Copy)]
    pub struct GuestId in "guest" {
        /// The guest's process on the host; 0 for the host's own events.
        pub machine_pid: u64,
        /// The guest's CPU.
        pub vcpu: u64,
    }
}

impl IdIndexEntry {
    const LEN: u64 = 32;
}

impl FileBody<'_> for Vec<IdIndexEntry> {
    /// Behind the entries, in the same number, may be what says which guest each belongs to.
    fn parse_body(cursor: &mut Cursor<'_>, _: Misc) -> Result<Self, WireError> {
        let what = "id index";
        let n = cursor.u64(what)?;
        let own = cursor.bytes(n.saturating_mul(IdIndexEntry::LEN), what)?;
        let mut own = Cursor::new(own, cursor.endian());
        let entry = |_| {
            Ok(IdIndexEntry {
                id: own.u64(what)?,
                idx: own.u64(what)?,
                cpu: own.i64(what)?,
                tid: own.i64(what)?,
                guest: GuestId::parse(cursor).ok(),
            })
        };
        (0..n).map(entry).collect()
    }

    fn name_fields(&self, fields: &mut dyn Fields) {
        fields.objects("entries", self, |fields, entry| {
            fields.field("id", Value::Unsigned(entry.id));
            fields.field("idx", Value::Unsigned(entry.idx));
            fields.field("cpu", Value::Signed(entry.cpu));
            fields.field("tid", Value::Signed(entry.tid));
            if let Some(guest) = entry.guest {
                guest.visit(fields);
            }
        });
    }
}
