//! The beginning of every drained sample: header, IDENTIFIER, IP, TID, TIME. What comes then differs from event to
//! event.

/// The first fields of a sample.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Head {
    pub(crate) id: u64,
    pub(crate) pid: u32,
    pub(crate) tid: i32,
    pub(crate) time_ns: u64,
}

impl Head {
    /// Those of a record; `None` if it is too short.
    #[inline]
    pub(crate) fn parse(record: &[u8]) -> Option<Self> {
        let fields: &[u8; 40] = record.first_chunk()?;
        let word = |at: usize| fields.get(at..)?.first_chunk().copied();
        let long = |at: usize| Some(u64::from_ne_bytes(*fields.get(at..)?.first_chunk()?));
        Some(Self {
            id: long(8)?,
            pid: u32::from_ne_bytes(word(24)?),
            tid: i32::from_ne_bytes(word(28)?),
            time_ns: long(32)?,
        })
    }
}
