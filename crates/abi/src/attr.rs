//! `struct perf_event_attr` of every size.

use crate::{
    AttrFlags, BranchSampleType, Cursor, Encoder, Endian, ReadFormat, SampleType, WireError,
    event_type, sw,
};

/// The published sizes of `perf_event_attr`, in bytes (`PERF_ATTR_SIZE_VER0` to `VER9`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AttrSize(pub u32);

impl AttrSize {
    /// The first (2.6.31).
    pub const VER0: Self = Self(64);
    /// The newest that this crate knows fields of (6.19).
    pub const NEWEST: Self = Self(144);
    /// All of them, oldest first.
    pub const ALL: &[Self] = &[
        Self(64),
        Self(72),
        Self(80),
        Self(96),
        Self(104),
        Self(112),
        Self(120),
        Self(128),
        Self(136),
        Self(144),
    ];
}

/// `struct perf_event_attr`: one event as it is opened or was recorded.
///
/// Source: `include/uapi/linux/perf_event.h` (v6.19). Unions appear once, under the name of the
/// member that is used most; the docs of a field name the others.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct PerfEventAttr {
    /// `type`: see [`crate::event_type`].
    pub kind: u32,
    /// Which event of its type.
    pub config: u64,
    /// Events between samples, or samples a second with [`AttrFlags::FREQ`] (`sample_freq`).
    pub sample_period: u64,
    /// Fields of a sample.
    pub sample_type: SampleType,
    /// Fields of a counter value.
    pub read_format: ReadFormat,
    /// Flags, `precise_ip` among them.
    pub flags: AttrFlags,
    /// Wake up after this number of samples, or of bytes with [`AttrFlags::WATERMARK`].
    pub wakeup: u32,
    /// Breakpoint kind.
    pub bp_type: u32,
    /// `config1`; also `bp_addr`, `kprobe_func`, `uprobe_path`.
    pub config1: u64,
    /// `config2`; also `bp_len`, `kprobe_addr`, `probe_offset`.
    pub config2: u64,
    /// Which branches.
    pub branch_sample_type: BranchSampleType,
    /// User registers in a sample, one bit each.
    pub sample_regs_user: u64,
    /// User stack in a sample, bytes.
    pub sample_stack_user: u32,
    /// Clock of the times, with [`AttrFlags::USE_CLOCKID`].
    pub clockid: i32,
    /// Registers at the interrupt, one bit each.
    pub sample_regs_intr: u64,
    /// Wake up after this number of AUX bytes.
    pub aux_watermark: u32,
    /// Longest call chain; 0 is the sysctl's value.
    pub sample_max_stack: u16,
    /// `__reserved_2`.
    pub reserved_2: u16,
    /// AUX bytes in a sample.
    pub aux_sample_size: u32,
    /// AUX start and stop bits (`aux_action`, 6.13; reserved before).
    pub aux_action: u32,
    /// Passed to the SIGTRAP handler.
    pub sig_data: u64,
    /// `config3` (6.3).
    pub config3: u64,
    /// `config4` (6.19).
    pub config4: u64,
    /// Bytes after the fields that this crate knows.
    pub tail: Vec<u8>,
}

impl PerfEventAttr {
    /// Whether it is a software event that happens in the kernel only: with `exclude_kernel` it counts 0, whatever
    /// happens.
    ///
    /// Source: `perf_sw_event_sched`, include/linux/perf_event.h (v6.12): the registers are the kernel's.
    pub fn is_of_kernel(&self) -> bool {
        let in_kernel = [
            sw::CONTEXT_SWITCHES,
            sw::CPU_MIGRATIONS,
            sw::CGROUP_SWITCHES,
        ];
        self.kind == event_type::SOFTWARE && in_kernel.contains(&self.config)
    }

    /// Reads an attr whose length is in its own `size` field (0 means [`AttrSize::VER0`]), and
    /// returns that length.
    ///
    /// # Errors
    /// [`WireError::BadSize`] for a size below 64, [`WireError::Short`] if the bytes end first.
    pub fn parse(bytes: &[u8], endian: Endian) -> Result<(Self, u32), WireError> {
        let mut head = Cursor::new(bytes, endian);
        head.u32("attr.type")?;
        let size = match head.u32("attr.size")? {
            0 => AttrSize::VER0.0,
            size => size,
        };
        if size < AttrSize::VER0.0 {
            return Err(WireError::BadSize {
                what: "perf_event_attr",
                size: u64::from(size),
                min: u64::from(AttrSize::VER0.0),
            });
        }
        let own = Cursor::new(bytes, endian).bytes(u64::from(size), "perf_event_attr")?;
        // Fields that this size does not have are zero: that is what the kernel takes them for.
        let known = AttrSize::NEWEST.0 as usize;
        let mut full = [0; AttrSize::NEWEST.0 as usize];
        for (to, from) in full.iter_mut().zip(own) {
            *to = *from;
        }
        let mut attr = Self::parse_full(Cursor::new(&full, endian))?;
        attr.tail = own.get(known..).unwrap_or_default().to_vec();
        Ok((attr, size))
    }

    fn parse_full(mut cursor: Cursor<'_>) -> Result<Self, WireError> {
        let what = "perf_event_attr";
        let kind = cursor.u32(what)?;
        cursor.u32(what)?;
        Ok(Self {
            kind,
            config: cursor.u64(what)?,
            sample_period: cursor.u64(what)?,
            sample_type: SampleType(cursor.u64(what)?),
            read_format: ReadFormat(cursor.u64(what)?),
            flags: {
                let endian = cursor.endian();
                // The word is bytes, not a number: bit fields do not swap like integers.
                let raw = endian.bytes_u64(cursor.u64(what)?);
                AttrFlags::from_file(raw, endian)
            },
            wakeup: cursor.u32(what)?,
            bp_type: cursor.u32(what)?,
            config1: cursor.u64(what)?,
            config2: cursor.u64(what)?,
            branch_sample_type: BranchSampleType(cursor.u64(what)?),
            sample_regs_user: cursor.u64(what)?,
            sample_stack_user: cursor.u32(what)?,
            clockid: cursor.i32(what)?,
            sample_regs_intr: cursor.u64(what)?,
            aux_watermark: cursor.u32(what)?,
            sample_max_stack: cursor.u16(what)?,
            reserved_2: cursor.u16(what)?,
            aux_sample_size: cursor.u32(what)?,
            aux_action: cursor.u32(what)?,
            sig_data: cursor.u64(what)?,
            config3: cursor.u64(what)?,
            config4: cursor.u64(what)?,
            tail: Vec::new(),
        })
    }

    /// The smallest published size that holds every field that is not zero.
    pub fn smallest_size(&self) -> AttrSize {
        let mut full = Vec::new();
        self.encode_full(&mut Encoder::new(&mut full, Endian::Little), 0);
        let used = full
            .iter()
            .rposition(|&byte| byte != 0)
            .map_or(0, |at| at + 1);
        let all = AttrSize::ALL.iter().copied();
        all.clone()
            .find(|size| size.0 as usize >= used)
            .unwrap_or(AttrSize::NEWEST)
    }

    /// Appends the attr in `size` bytes: fields beyond are left out, missing ones are zero.
    pub fn encode(&self, out: &mut Vec<u8>, endian: Endian, size: AttrSize) {
        let start = out.len();
        let size_bytes = size.0 as usize;
        self.encode_full(&mut Encoder::new(out, endian), size.0);
        out.extend_from_slice(&self.tail);
        out.resize(start + size_bytes, 0);
    }

    fn encode_full(&self, encoder: &mut Encoder<'_>, size: u32) {
        encoder.u32(self.kind);
        encoder.u32(size);
        encoder.u64(self.config);
        encoder.u64(self.sample_period);
        encoder.u64(self.sample_type.0);
        encoder.u64(self.read_format.0);
        encoder.bytes(&self.flags.to_file(encoder.endian()));
        encoder.u32(self.wakeup);
        encoder.u32(self.bp_type);
        encoder.u64(self.config1);
        encoder.u64(self.config2);
        encoder.u64(self.branch_sample_type.0);
        encoder.u64(self.sample_regs_user);
        encoder.u32(self.sample_stack_user);
        encoder.i32(self.clockid);
        encoder.u64(self.sample_regs_intr);
        encoder.u32(self.aux_watermark);
        encoder.u16(self.sample_max_stack);
        encoder.u16(self.reserved_2);
        encoder.u32(self.aux_sample_size);
        encoder.u32(self.aux_action);
        encoder.u64(self.sig_data);
        encoder.u64(self.config3);
        encoder.u64(self.config4);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn filled() -> PerfEventAttr {
        PerfEventAttr {
            kind: 1,
            config: 2,
            sample_period: 3,
            sample_type: SampleType(4),
            read_format: ReadFormat(5),
            flags: AttrFlags::FREQ
                .with(AttrFlags::DEFER_OUTPUT)
                .with_precise_ip(2),
            wakeup: 7,
            bp_type: 8,
            config1: 9,
            config2: 10,
            branch_sample_type: BranchSampleType(11),
            sample_regs_user: 12,
            sample_stack_user: 13,
            clockid: -14,
            sample_regs_intr: 15,
            aux_watermark: 16,
            sample_max_stack: 17,
            reserved_2: 18,
            aux_sample_size: 19,
            aux_action: 20,
            sig_data: 21,
            config3: 22,
            config4: 23,
            tail: Vec::new(),
        }
    }

    #[test]
    fn every_size_round_trips_in_both_byte_orders() {
        for endian in [Endian::Little, Endian::Big] {
            for &size in AttrSize::ALL {
                let mut bytes = Vec::new();
                filled().encode(&mut bytes, endian, size);
                assert_eq!(bytes.len(), size.0 as usize);
                let (short, len) = PerfEventAttr::parse(&bytes, endian).unwrap();
                assert_eq!(len, size.0);
                let mut again = Vec::new();
                short.encode(&mut again, endian, size);
                assert_eq!(again, bytes);
                assert!(short.smallest_size() <= size);
            }
        }
    }

    #[test]
    fn fields_sit_where_the_kernel_header_puts_them() {
        let mut bytes = Vec::new();
        filled().encode(&mut bytes, Endian::Little, AttrSize::NEWEST);
        let at = |offset: usize| bytes[offset];
        assert_eq!((at(0), at(4)), (1, 144));
        assert_eq!((at(24), at(32), at(48), at(52)), (4, 5, 7, 8));
        assert_eq!((at(56), at(64), at(72), at(80)), (9, 10, 11, 12));
        assert_eq!((at(88), at(96), at(104), at(108)), (13, 15, 16, 17));
        assert_eq!(
            (at(112), at(116), at(120), at(128), at(136)),
            (19, 20, 21, 22, 23)
        );
        // freq is bit 10, precise_ip 2 is bit 16, defer_output bit 39.
        assert_eq!(&bytes[40..48], &[0, 4, 1, 0, 0x80, 0, 0, 0]);
    }

    #[test]
    fn big_endian_bit_fields_start_at_the_top_bit() {
        // disabled (bit 0) is the top bit of the first byte on a big-endian machine;
        // precise_ip = 2 has its more significant bit first, in bit 0 of the second byte.
        let mut bytes = vec![0; 64];
        bytes[7] = 64;
        bytes[40] = 0x80;
        bytes[41] = 0x01;
        let (attr, _) = PerfEventAttr::parse(&bytes, Endian::Big).unwrap();
        assert!(attr.flags.has(AttrFlags::DISABLED));
        assert_eq!(attr.flags.precise_ip(), 2);
    }

    #[test]
    fn a_longer_attr_keeps_its_unknown_tail() {
        let mut attr = filled();
        attr.tail = vec![1, 2, 3, 4, 5, 6, 7, 8];
        let mut bytes = Vec::new();
        attr.encode(&mut bytes, Endian::Little, AttrSize(152));
        assert_eq!(
            PerfEventAttr::parse(&bytes, Endian::Little).unwrap(),
            (attr, 152)
        );
    }

    #[test]
    fn sizes_below_the_first_are_refused_and_zero_means_the_first() {
        let mut bytes = vec![0; 64];
        assert_eq!(PerfEventAttr::parse(&bytes, Endian::Little).unwrap().1, 64);
        bytes[4] = 56;
        assert!(PerfEventAttr::parse(&bytes, Endian::Little).is_err());
        assert!(PerfEventAttr::parse(&bytes[..40], Endian::Little).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_parse_to_what_encodes_to_them(mut bytes in proptest::collection::vec(any::<u8>(), 144), big: bool) {
            let endian = if big { Endian::Big } else { Endian::Little };
            bytes[4..8].copy_from_slice(&endian.bytes_u32(144));
            let (attr, _) = PerfEventAttr::parse(&bytes, endian).unwrap();
            let mut again = Vec::new();
            attr.encode(&mut again, endian, AttrSize::NEWEST);
            prop_assert_eq!(again, bytes);
        }
    }
}
