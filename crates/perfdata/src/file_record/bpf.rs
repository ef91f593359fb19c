//! `BPF_METADATA`: variables by which a BPF program describes itself.

use super::body::Described;
use rprof_abi::format::{CountedItems, FixedText};
use rprof_abi::wire;

// Lengths: `KSYM_NAME_LEN` in tools/lib/perf, `BPF_METADATA_KEY_LEN` and `BPF_METADATA_VALUE_LEN`.
wire! {
    /// `PERF_RECORD_BPF_METADATA` (v6.16).
    pub struct BpfMetadata<'a> in "BPF metadata" {
        /// The program, as its symbol is named.
        pub program: &'a [u8] as FixedText<256>,
        /// Its variables named `bpf_metadata_*`.
        pub variables: Vec<BpfVariable<'a>> as CountedItems<u64>,
    }

    /// One variable of a [`BpfMetadata`].
    #[derive(Copy)]
    pub struct BpfVariable<'a> in "BPF metadata" {
        /// Its name, without `bpf_metadata_`.
        pub key: &'a [u8] as FixedText<64>,
        /// Its value as text.
        pub value: &'a [u8] as FixedText<256>,
    }
}

impl<'a> Described<'a> for BpfMetadata<'a> {}
