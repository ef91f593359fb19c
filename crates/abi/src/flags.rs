//! The flag word of an attr.

use crate::Endian;
use crate::bits::bit_set;

bit_set! {
    /// The flag word of an attr (offset 40), without the two-bit `precise_ip` (bits 15 and 16).
    AttrFlags {
        /// Off until enabled.
        DISABLED = 0, "disabled";
        /// Children inherit it.
        INHERIT = 1, "inherit";
        /// Must always be on the PMU.
        PINNED = 2, "pinned";
        /// Alone on the PMU.
        EXCLUSIVE = 3, "exclusive";
        /// Not in user space.
        EXCLUDE_USER = 4, "exclude_user";
        /// Not in the kernel.
        EXCLUDE_KERNEL = 5, "exclude_kernel";
        /// Not in the hypervisor.
        EXCLUDE_HV = 6, "exclude_hv";
        /// Not when idle.
        EXCLUDE_IDLE = 7, "exclude_idle";
        /// MMAP records of code.
        MMAP = 8, "mmap";
        /// COMM records.
        COMM = 9, "comm";
        /// `sample_freq`, not `sample_period`.
        FREQ = 10, "freq";
        /// Counts per task.
        INHERIT_STAT = 11, "inherit_stat";
        /// On at the next exec.
        ENABLE_ON_EXEC = 12, "enable_on_exec";
        /// FORK and EXIT records.
        TASK = 13, "task";
        /// `wakeup_watermark`, not `wakeup_events`.
        WATERMARK = 14, "watermark";
        /// MMAP records of data.
        MMAP_DATA = 17, "mmap_data";
        /// Every record ends with the sample's id fields.
        SAMPLE_ID_ALL = 18, "sample_id_all";
        /// Not in the host.
        EXCLUDE_HOST = 19, "exclude_host";
        /// Not in a guest.
        EXCLUDE_GUEST = 20, "exclude_guest";
        /// No kernel part in call chains.
        EXCLUDE_CALLCHAIN_KERNEL = 21, "exclude_callchain_kernel";
        /// No user part in call chains.
        EXCLUDE_CALLCHAIN_USER = 22, "exclude_callchain_user";
        /// MMAP2 instead of MMAP.
        MMAP2 = 23, "mmap2";
        /// COMM says whether by exec.
        COMM_EXEC = 24, "comm_exec";
        /// `clockid` is used.
        USE_CLOCKID = 25, "use_clockid";
        /// SWITCH records.
        CONTEXT_SWITCH = 26, "context_switch";
        /// The ring is written downwards.
        WRITE_BACKWARD = 27, "write_backward";
        /// NAMESPACES records.
        NAMESPACES = 28, "namespaces";
        /// KSYMBOL records.
        KSYMBOL = 29, "ksymbol";
        /// `BPF_EVENT` records.
        BPF_EVENT = 30, "bpf_event";
        /// Output goes to an AUX area.
        AUX_OUTPUT = 31, "aux_output";
        /// CGROUP records.
        CGROUP = 32, "cgroup";
        /// `TEXT_POKE` records.
        TEXT_POKE = 33, "text_poke";
        /// Build ids in MMAP2.
        BUILD_ID = 34, "build_id";
        /// Threads inherit, processes do not.
        INHERIT_THREAD = 35, "inherit_thread";
        /// Removed at exec.
        REMOVE_ON_EXEC = 36, "remove_on_exec";
        /// SIGTRAP on overflow.
        SIGTRAP = 37, "sigtrap";
        /// User chains come later.
        DEFER_CALLCHAIN = 38, "defer_callchain";
        /// Emit `CALLCHAIN_DEFERRED` here.
        DEFER_OUTPUT = 39, "defer_output";
    }
}

const PRECISE_SHIFT: u32 = 15;

impl AttrFlags {
    /// Skid allowed, 0 (any) to 3 (none): `precise_ip`.
    pub const fn precise_ip(self) -> u8 {
        (self.0 >> PRECISE_SHIFT & 3) as u8
    }

    /// The same flags with another `precise_ip` (only its low two bits count).
    #[must_use]
    pub const fn with_precise_ip(self, level: u8) -> Self {
        Self(self.0 & !(3 << PRECISE_SHIFT) | (level as u64 & 3) << PRECISE_SHIFT)
    }

    /// C allocates bit fields from the most significant bit on big-endian machines: each byte
    /// comes bit-reversed, and so does the two-bit `precise_ip`, which spans two bytes.
    pub(crate) fn from_file(bytes: [u8; 8], endian: Endian) -> Self {
        match endian {
            Endian::Little => Self(u64::from_le_bytes(bytes)),
            Endian::Big => {
                Self(u64::from_le_bytes(bytes.map(u8::reverse_bits))).with_precise_reversed()
            }
        }
    }

    pub(crate) fn to_file(self, endian: Endian) -> [u8; 8] {
        match endian {
            Endian::Little => self.0.to_le_bytes(),
            Endian::Big => self
                .with_precise_reversed()
                .0
                .to_le_bytes()
                .map(u8::reverse_bits),
        }
    }

    const fn with_precise_reversed(self) -> Self {
        let level = self.precise_ip();
        self.with_precise_ip(level >> 1 | (level & 1) << 1)
    }
}
