//! `CALLCHAIN_DEFERRED`: the user part of call chains, taken when the task returned to user space.

use crate::{Callchain, Cursor, Encoder, Fields, Value, Wire, WireError};

/// `PERF_RECORD_CALLCHAIN_DEFERRED` (6.19).
#[derive(Clone, Debug, PartialEq)]
pub struct CallchainDeferred<'a> {
    /// Which samples of this thread it completes: those whose chain ends with this cookie.
    pub cookie: u64,
    /// The chain, with its leading `PERF_CONTEXT_USER`.
    pub chain: Callchain<'a>,
}

impl<'a> Wire<'a> for CallchainDeferred<'a> {
    const MIN_LEN: usize = 16;

    fn parse(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
        Ok(Self {
            cookie: cursor.u64("deferred chain")?,
            chain: Callchain::parse(cursor, "deferred chain")?,
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("cookie", Value::Hex(self.cookie));
        self.chain.visit(fields);
    }

    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.u64(self.cookie);
        self.chain.encode(encoder);
    }
}
