//! [`SampleLayout`]: what the records of one event hold, computed once from its attr.

use super::{
    BranchSampleType, BranchStack, Callchain, ReadFormat, ReadValues, Sample, SampleHead, SampleId,
    SampleType, StackDump, Weight,
};
use crate::{
    AttrFlags, Cursor, Encoder, Endian, PerfEventAttr, RawRecord, RecordKind, Registers, WireError,
};

/// Where the fields of one event's records sit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleLayout {
    sample_type: SampleType,
    read_format: ReadFormat,
    branches: BranchSampleType,
    regs_user: u64,
    regs_intr: u64,
    id_at: Option<usize>,
    time_at: Option<usize>,
    trailer_len: usize,
    /// Whether mappings were asked to have build ids.
    pub(crate) has_build_ids: bool,
    endian: Endian,
}

/// Fields of the trailer, in its order; all take 8 bytes.
const TRAILER: [SampleType; 6] = [
    SampleType::TID,
    SampleType::TIME,
    SampleType::ID,
    SampleType::STREAM_ID,
    SampleType::CPU,
    SampleType::IDENTIFIER,
];

/// The first fields of a sample, in its order; all take 8 bytes.
const WORDS: [SampleType; 9] = [
    SampleType::IDENTIFIER,
    SampleType::IP,
    SampleType::TID,
    SampleType::TIME,
    SampleType::ADDR,
    SampleType::ID,
    SampleType::STREAM_ID,
    SampleType::CPU,
    SampleType::PERIOD,
];

/// Where one of [`WORDS`] is in the body of a sample, bytes; `None` if the sample has it not.
fn place_of_word(sample_type: SampleType, word: SampleType) -> Option<usize> {
    let before = WORDS.into_iter().take_while(|&other| other != word);
    let n_before = before.filter(|&other| sample_type.has(other)).count();
    sample_type.has(word).then_some(n_before * 8)
}

impl SampleLayout {
    /// The layout of an event's records.
    pub fn new(attr: &PerfEventAttr, endian: Endian) -> Self {
        let has = |bit| attr.sample_type.has(bit);
        let trailer = if attr.flags.has(AttrFlags::SAMPLE_ID_ALL) {
            TRAILER.into_iter().filter(|&bit| has(bit)).count()
        } else {
            0
        };
        Self {
            has_build_ids: attr.flags.has(AttrFlags::BUILD_ID),
            sample_type: attr.sample_type,
            read_format: attr.read_format,
            branches: attr.branch_sample_type,
            regs_user: attr.sample_regs_user,
            regs_intr: attr.sample_regs_intr,
            id_at: place_of_word(attr.sample_type, SampleType::IDENTIFIER)
                .or_else(|| place_of_word(attr.sample_type, SampleType::ID)),
            time_at: place_of_word(attr.sample_type, SampleType::TIME),
            trailer_len: trailer * 8,
            endian,
        }
    }

    /// Byte order of the records.
    pub fn endian(&self) -> Endian {
        self.endian
    }

    /// Fields of the samples.
    pub fn sample_type(&self) -> SampleType {
        self.sample_type
    }

    /// Fields of counter values.
    pub fn read_format(&self) -> ReadFormat {
        self.read_format
    }

    /// Where the CPU is in a sample's body, bytes; `None` if it has none.
    pub fn cpu_place(&self) -> Option<usize> {
        place_of_word(self.sample_type, SampleType::CPU)
    }

    /// Where the period is in a sample's body, bytes; `None` if it has none.
    pub fn period_place(&self) -> Option<usize> {
        place_of_word(self.sample_type, SampleType::PERIOD)
    }

    /// Where the address is in a sample's body, bytes; `None` if it has none.
    pub fn addr_place(&self) -> Option<usize> {
        place_of_word(self.sample_type, SampleType::ADDR)
    }

    /// Where samples and other records hold the event id: equal for events of which either can find
    /// the other's id.
    pub fn id_places(&self) -> (Option<usize>, SampleType) {
        let trailer = match self.trailer_len {
            0 => SampleType::default(),
            _ => self.sample_type,
        };
        let in_trailer = TRAILER.into_iter().filter(|&bit| trailer.has(bit));
        (
            self.id_at,
            in_trailer.fold(SampleType::default(), SampleType::with),
        )
    }

    /// The event id in a record, found without decoding the rest: events of one file must
    /// agree on where it is.
    #[inline]
    pub fn event_id(&self, raw: RawRecord<'_>) -> Option<u64> {
        let at = if raw.kind == RecordKind::SAMPLE {
            self.id_at?
        } else if self.trailer_len == 0 {
            return None;
        } else if self.sample_type.has(SampleType::IDENTIFIER) {
            raw.body.len().checked_sub(8)?
        } else if self.sample_type.has(SampleType::ID) {
            let after = [SampleType::STREAM_ID, SampleType::CPU];
            let after = after.into_iter().filter(|&bit| self.sample_type.has(bit));
            raw.body.len().checked_sub(8 * (1 + after.count()))?
        } else {
            return None;
        };
        let bytes = raw.body.get(at..)?.first_chunk()?;
        Some(self.endian.u64(*bytes))
    }

    /// The time of a SAMPLE record, found without decoding the rest.
    #[inline]
    pub fn sample_time(&self, raw: RawRecord<'_>) -> Option<u64> {
        let bytes = raw.body.get(self.time_at?..)?.first_chunk()?;
        Some(self.endian.u64(*bytes))
    }

    /// Splits the id fields off a non-sample record.
    ///
    /// # Errors
    /// [`WireError::Short`] if the record is shorter than they are.
    pub fn split_trailer<'a>(&self, raw: RawRecord<'a>) -> Result<(&'a [u8], SampleId), WireError> {
        let short = WireError::Short {
            what: "sample id",
            need: self.trailer_len as u64,
            have: raw.body.len() as u64,
        };
        let at = raw.body.len().checked_sub(self.trailer_len).ok_or(short)?;
        let (body, trailer) = raw.body.split_at_checked(at).ok_or(short)?;
        let mut id = SampleId::default();
        if self.trailer_len == 0 {
            return Ok((body, id));
        }
        let mut cursor = Cursor::new(trailer, self.endian);
        let what = "sample id";
        for field in TRAILER {
            if !self.sample_type.has(field) {
                continue;
            }
            match field {
                SampleType::TID => {
                    id.pid = Some(cursor.i32(what)?);
                    id.tid = Some(cursor.i32(what)?);
                }
                SampleType::TIME => id.time_ns = Some(cursor.u64(what)?),
                SampleType::STREAM_ID => id.stream_id = Some(cursor.u64(what)?),
                SampleType::CPU => {
                    id.cpu = Some(cursor.u32(what)?);
                    cursor.u32(what)?;
                }
                _ => id.id = Some(cursor.u64(what)?),
            }
        }
        Ok((body, id))
    }

    /// Appends the id fields that this layout puts after a non-sample record.
    pub fn encode_trailer(&self, id: &SampleId, encoder: &mut Encoder<'_>) {
        if self.trailer_len == 0 {
            return;
        }
        for field in TRAILER {
            if !self.sample_type.has(field) {
                continue;
            }
            match field {
                SampleType::TID => {
                    encoder.i32(id.pid.unwrap_or(0));
                    encoder.i32(id.tid.unwrap_or(0));
                }
                SampleType::TIME => encoder.u64(id.time_ns.unwrap_or(0)),
                SampleType::STREAM_ID => encoder.u64(id.stream_id.unwrap_or(0)),
                SampleType::CPU => {
                    encoder.u32(id.cpu.unwrap_or(0));
                    encoder.u32(0);
                }
                _ => encoder.u64(id.id.unwrap_or(0)),
            }
        }
    }

    /// Decodes the body of a SAMPLE record.
    ///
    /// The order is that of `perf_output_sample()` (kernel/events/core.c, v6.19); the comment
    /// in the UAPI header puts AUX too early.
    ///
    /// # Errors
    /// [`WireError::Short`] if a field or a count exceeds the record.
    #[inline]
    pub fn parse_sample<'a>(&self, body: &'a [u8]) -> Result<Sample<'a>, WireError> {
        let mut cursor = Cursor::new(body, self.endian);
        let cursor = &mut cursor;
        let has = |bit| self.sample_type.has(bit);
        let mut sample = Sample::default();
        if has(SampleType::IDENTIFIER) {
            sample.id = Some(cursor.u64("identifier")?);
        }
        if has(SampleType::IP) {
            sample.ip = Some(cursor.u64("ip")?);
        }
        if has(SampleType::TID) {
            sample.pid = Some(cursor.i32("pid")?);
            sample.tid = Some(cursor.i32("tid")?);
        }
        if has(SampleType::TIME) {
            sample.time_ns = Some(cursor.u64("time")?);
        }
        if has(SampleType::ADDR) {
            sample.addr = Some(cursor.u64("addr")?);
        }
        if has(SampleType::ID) {
            sample.id = Some(cursor.u64("id")?);
        }
        if has(SampleType::STREAM_ID) {
            sample.stream_id = Some(cursor.u64("stream id")?);
        }
        if has(SampleType::CPU) {
            sample.cpu = Some(cursor.u32("cpu")?);
            sample.cpu_reserved = cursor.u32("cpu")?;
        }
        if has(SampleType::PERIOD) {
            sample.period = Some(cursor.u64("period")?);
        }
        if has(SampleType::READ) {
            sample.read = Some(ReadValues::parse(cursor, self.read_format)?);
        }
        if has(SampleType::CALLCHAIN) {
            sample.callchain = Some(Callchain::parse(cursor, "callchain")?);
        }
        if self.sample_type.0 >> 10 != 0 {
            self.parse_rest(cursor, &mut sample)?;
        }
        Ok(sample)
    }

    /// Decodes the fields of a SAMPLE record that every reader wants.
    ///
    /// # Errors
    /// As [`Self::parse_sample`]: all fields are checked.
    #[inline]
    pub fn parse_head<'a>(&self, body: &'a [u8]) -> Result<SampleHead<'a>, WireError> {
        const RARE: u64 = SampleType::READ.0 | !(SampleType::RAW.0 - 1) & !SampleType::IDENTIFIER.0;
        if self.sample_type.0 & RARE != 0 {
            return self.head_of_whole(body);
        }
        let mut cursor = Cursor::new(body, self.endian);
        let has = |bit| self.sample_type.has(bit);
        let mut head = SampleHead::default();
        if has(SampleType::IDENTIFIER) {
            cursor.u64("identifier")?;
        }
        if has(SampleType::IP) {
            head.ip = Some(cursor.u64("ip")?);
        }
        if has(SampleType::TID) {
            head.task = Some((cursor.i32("pid")?, cursor.i32("tid")?));
        }
        if has(SampleType::TIME) {
            head.time_ns = Some(cursor.u64("time")?);
        }
        for other in [SampleType::ADDR, SampleType::ID, SampleType::STREAM_ID] {
            if has(other) {
                cursor.u64("addr, id or stream id")?;
            }
        }
        if has(SampleType::CPU) {
            head.cpu = Some(cursor.u32("cpu")?);
            cursor.u32("cpu")?;
        }
        if has(SampleType::PERIOD) {
            head.period = Some(cursor.u64("period")?);
        }
        if has(SampleType::CALLCHAIN) {
            head.callchain = Some(Callchain::parse(&mut cursor, "callchain")?);
        }
        Ok(head)
    }

    fn head_of_whole<'a>(&self, body: &'a [u8]) -> Result<SampleHead<'a>, WireError> {
        let sample = self.parse_sample(body)?;
        Ok(SampleHead {
            ip: sample.ip,
            task: sample.pid.zip(sample.tid),
            time_ns: sample.time_ns,
            cpu: sample.cpu,
            period: sample.period,
            callchain: sample.callchain,
        })
    }

    /// The fields from RAW on, which most samples do not have.
    fn parse_rest<'a>(
        &self,
        cursor: &mut Cursor<'a>,
        sample: &mut Sample<'a>,
    ) -> Result<(), WireError> {
        let has = |bit| self.sample_type.has(bit);
        if has(SampleType::RAW) {
            let size = cursor.u32("raw data")?;
            sample.raw = Some(cursor.bytes(u64::from(size), "raw data")?);
        }
        if has(SampleType::BRANCH_STACK) {
            sample.branch_stack = Some(BranchStack::parse(cursor, self.branches)?);
        }
        if has(SampleType::REGS_USER) {
            sample.regs_user = Some(Registers::parse(cursor, self.regs_user)?);
        }
        if has(SampleType::STACK_USER) {
            sample.stack_user = Some(StackDump::parse(cursor)?);
        }
        if has(SampleType::WEIGHT_STRUCT) {
            sample.weight = Some(self.parse_weight_parts(cursor.u64("weight")?));
        } else if has(SampleType::WEIGHT) {
            sample.weight = Some(Weight::Whole(cursor.u64("weight")?));
        }
        if has(SampleType::DATA_SRC) {
            sample.data_src = Some(cursor.u64("data source")?);
        }
        if has(SampleType::TRANSACTION) {
            sample.transaction = Some(cursor.u64("transaction")?);
        }
        if has(SampleType::REGS_INTR) {
            sample.regs_intr = Some(Registers::parse(cursor, self.regs_intr)?);
        }
        if has(SampleType::PHYS_ADDR) {
            sample.phys_addr = Some(cursor.u64("physical address")?);
        }
        if has(SampleType::CGROUP) {
            sample.cgroup = Some(cursor.u64("cgroup")?);
        }
        if has(SampleType::DATA_PAGE_SIZE) {
            sample.data_page_size = Some(cursor.u64("data page size")?);
        }
        if has(SampleType::CODE_PAGE_SIZE) {
            sample.code_page_size = Some(cursor.u64("code page size")?);
        }
        if has(SampleType::AUX) {
            let size = cursor.u64("aux data")?;
            sample.aux = Some(cursor.bytes(size, "aux data")?);
        }
        Ok(())
    }

    /// `union perf_sample_weight` orders its parts so that the word is the same number on both
    /// kinds of machine: `var1` is its low half.
    fn parse_weight_parts(&self, word: u64) -> Weight {
        let [a, b, c, d, e, f, g, h] = word.to_le_bytes();
        Weight::Parts {
            var1: u32::from_le_bytes([a, b, c, d]),
            var2: u16::from_le_bytes([e, f]),
            var3: u16::from_le_bytes([g, h]),
        }
    }

    /// Appends the body of a SAMPLE record. Words that the sample lacks are written as zero; parts
    /// with a length of their own (chains, stacks, registers, ...) must all be there. Registers that the
    /// layout has not are left out.
    pub fn encode_sample(&self, sample: &Sample<'_>, encoder: &mut Encoder<'_>) {
        let has = |bit| self.sample_type.has(bit);
        let word = |bit, value: Option<u64>, encoder: &mut Encoder<'_>| {
            if has(bit) {
                encoder.u64(value.unwrap_or(0));
            }
        };
        word(SampleType::IDENTIFIER, sample.id, encoder);
        word(SampleType::IP, sample.ip, encoder);
        if has(SampleType::TID) {
            encoder.i32(sample.pid.unwrap_or(0));
            encoder.i32(sample.tid.unwrap_or(0));
        }
        word(SampleType::TIME, sample.time_ns, encoder);
        word(SampleType::ADDR, sample.addr, encoder);
        word(SampleType::ID, sample.id, encoder);
        word(SampleType::STREAM_ID, sample.stream_id, encoder);
        if has(SampleType::CPU) {
            encoder.u32(sample.cpu.unwrap_or(0));
            encoder.u32(sample.cpu_reserved);
        }
        word(SampleType::PERIOD, sample.period, encoder);
        if let Some(read) = &sample.read {
            read.encode(encoder, self.read_format);
        }
        if let Some(chain) = &sample.callchain {
            chain.encode(encoder);
        }
        if let Some(raw) = sample.raw {
            encoder.count(raw.len());
            encoder.bytes(raw);
        }
        if let Some(branches) = &sample.branch_stack {
            branches.encode(encoder);
        }
        if let Some(regs) = sample.regs_user.filter(|_| has(SampleType::REGS_USER)) {
            regs.encode(self.regs_user, encoder);
        }
        if let Some(stack) = &sample.stack_user {
            stack.encode(encoder);
        }
        match sample.weight {
            Some(Weight::Whole(weight)) => encoder.u64(weight),
            Some(Weight::Parts { var1, var2, var3 }) => {
                encoder.u64(u64::from(var1) | u64::from(var2) << 32 | u64::from(var3) << 48);
            }
            None => {}
        }
        word(SampleType::DATA_SRC, sample.data_src, encoder);
        word(SampleType::TRANSACTION, sample.transaction, encoder);
        if let Some(regs) = &sample.regs_intr {
            regs.encode(self.regs_intr, encoder);
        }
        word(SampleType::PHYS_ADDR, sample.phys_addr, encoder);
        word(SampleType::CGROUP, sample.cgroup, encoder);
        word(SampleType::DATA_PAGE_SIZE, sample.data_page_size, encoder);
        word(SampleType::CODE_PAGE_SIZE, sample.code_page_size, encoder);
        if let Some(aux) = sample.aux {
            encoder.u64(aux.len() as u64);
            encoder.bytes(aux);
        }
    }
}
