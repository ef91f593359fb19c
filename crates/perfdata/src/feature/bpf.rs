//! BPF_PROG_INFO and BPF_BTF: the BPF programs that were loaded, and their types.

use super::section::SectionItem;
use rprof_abi::{Cursor, Endian, Fields, Value, WireError};

/// A BPF program: what of `struct bpf_prog_info` says which code it is and where.
///
/// Source: include/uapi/linux/bpf.h (v6.16); around it `struct perf_bpil`,
/// tools/perf/util/bpf-utils.h (v6.16), in which pointers are replaced by offsets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BpfProgram {
    /// Its id while it was loaded.
    pub id: u32,
    /// `BPF_PROG_TYPE_*`.
    pub kind: u32,
    /// Hash of its instructions.
    pub tag: [u8; 8],
    /// Its name, at most 15 bytes.
    pub name: Vec<u8>,
    /// When it was loaded, nanoseconds since boot.
    pub load_time_ns: u64,
    /// Id of its types (see [`BpfBtf`]), or 0.
    pub btf_id: u32,
    /// Bytes of machine code.
    pub jited_len: u32,
    /// Bytes of BPF code.
    pub xlated_len: u32,
    /// Its functions in machine code, the main one first.
    pub functions: Vec<BpfFunction>,
    /// Bytes of its arrays in the section.
    pub data_len: u32,
}

/// A function of a BPF program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BpfFunction {
    /// First address (AVMA).
    pub addr: u64,
    /// Bytes of machine code.
    pub len: u32,
}

/// Bits of `perf_bpil.arrays`.
const JITED_KSYMS: u64 = 1 << 3;
const JITED_FUNC_LENS: u64 = 1 << 4;

/// Bytes of `struct bpf_prog_info` up to the last field that is read here.
const INFO_LEN: usize = 132;

impl BpfProgram {
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, WireError> {
        let info_len = cursor.u32("BPF program")?;
        let data_len = cursor.u32("BPF program")?;
        let arrays = cursor.u64("BPF program")?;
        let own = cursor.bytes(u64::from(info_len), "BPF program")?;
        let data = cursor.bytes(u64::from(data_len), "BPF program arrays")?;
        // Fields that an old kernel does not have are zero.
        let mut info = [0; INFO_LEN];
        for (to, from) in info.iter_mut().zip(own) {
            *to = *from;
        }
        Self::parse_info(Cursor::new(&info, cursor.endian()), arrays, data)
    }

    fn parse_info(mut info: Cursor<'_>, arrays: u64, data: &[u8]) -> Result<Self, WireError> {
        let what = "BPF program";
        let kind = info.u32(what)?;
        let id = info.u32(what)?;
        let tag = info.bytes(8, what)?.first_chunk().copied();
        let jited_len = info.u32(what)?;
        let xlated_len = info.u32(what)?;
        info.bytes(16, what)?; // addresses of the code
        let load_time_ns = info.u64(what)?;
        info.bytes(16, what)?; // uid and maps
        let name = Cursor::new(info.bytes(16, what)?, info.endian()).c_str();
        info.bytes(24, what)?; // network device
        let n_ksyms = info.u32(what)?;
        let n_func_lens = info.u32(what)?;
        let ksyms = (arrays & JITED_KSYMS != 0).then_some(n_ksyms);
        let func_lens = (arrays & JITED_FUNC_LENS != 0).then_some(n_func_lens);
        let addrs = Array {
            offset: info.u64(what)?,
            n: ksyms.unwrap_or(0),
        };
        let lens = Array {
            offset: info.u64(what)?,
            n: func_lens.unwrap_or(0),
        };
        Ok(Self {
            id,
            kind,
            tag: tag.unwrap_or_default(),
            name: name.to_vec(),
            load_time_ns,
            btf_id: info.u32(what)?,
            jited_len,
            xlated_len,
            functions: functions(addrs, lens, data, info.endian())?,
            data_len: u32::try_from(data.len()).unwrap_or(u32::MAX),
        })
    }
}

impl SectionItem for BpfProgram {
    /// Reads a whole BPF_PROG_INFO section.
    fn parse_all(section: &[u8], endian: Endian) -> Result<Vec<Self>, WireError> {
        let mut cursor = Cursor::new(section, endian);
        let n = cursor.u32("BPF program count")?;
        (0..n).map(|_| Self::parse(&mut cursor)).collect()
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("id", Value::Unsigned(self.id.into()));
        fields.field("type", Value::Unsigned(self.kind.into()));
        fields.field("tag", Value::Bytes(&self.tag));
        fields.field("name", Value::Text(&self.name));
        fields.field("load_time_ns", Value::Unsigned(self.load_time_ns));
        fields.field("btf_id", Value::Unsigned(self.btf_id.into()));
        fields.field("jited_len", Value::Unsigned(self.jited_len.into()));
        fields.field("xlated_len", Value::Unsigned(self.xlated_len.into()));
        fields.objects("functions", &self.functions, |fields, function| {
            fields.field("addr", Value::Hex(function.addr));
            fields.field("len", Value::Unsigned(function.len.into()));
        });
        fields.field("data_len", Value::Unsigned(self.data_len.into()));
    }
}

/// An array in a program's data.
#[derive(Clone, Copy)]
struct Array {
    /// Where it begins, bytes.
    offset: u64,
    /// Its items.
    n: u32,
}

impl Array {
    /// A cursor over its items, of `item_len` bytes each.
    fn items(self, item_len: u64, data: &[u8], endian: Endian) -> Result<Cursor<'_>, WireError> {
        let what = "BPF program array";
        let mut cursor = Cursor::new(data, endian);
        if self.n > 0 {
            cursor.bytes(self.offset, what)?;
        }
        let items = cursor.bytes(u64::from(self.n) * item_len, what)?;
        Ok(Cursor::new(items, endian))
    }
}

fn functions(
    addrs: Array,
    lens: Array,
    data: &[u8],
    endian: Endian,
) -> Result<Vec<BpfFunction>, WireError> {
    let mut addrs = addrs.items(8, data, endian)?;
    let mut lens = lens.items(4, data, endian)?;
    let function = || {
        Some(BpfFunction {
            addr: addrs.u64("ksym").ok()?,
            len: lens.u32("length of a ksym").unwrap_or(0),
        })
    };
    Ok(std::iter::from_fn(function).collect())
}

/// The types of BPF programs: their size only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BpfBtf {
    /// Its id while it was loaded.
    pub id: u32,
    /// Bytes of type information.
    pub data_len: u32,
}

impl SectionItem for BpfBtf {
    /// Reads a whole BPF_BTF section.
    fn parse_all(section: &[u8], endian: Endian) -> Result<Vec<Self>, WireError> {
        let mut cursor = Cursor::new(section, endian);
        let n = cursor.u32("BTF count")?;
        let btf = |_| {
            let id = cursor.u32("BTF id")?;
            let data_len = cursor.u32("BTF size")?;
            cursor.bytes(u64::from(data_len), "BTF")?;
            Ok(Self { id, data_len })
        };
        (0..n).map(btf).collect()
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("id", Value::Unsigned(self.id.into()));
        fields.field("data_len", Value::Unsigned(self.data_len.into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ORDERS, bytes, u32s, u64s};
    use rprof_abi::Encoder;

    /// A program with two functions; `info_len` bytes of its `struct bpf_prog_info`.
    fn program(info_len: u32, encoder: &mut Encoder<'_>) {
        let endian = encoder.endian();
        let mut info = bytes(endian, |info| {
            u32s(&[26, 5], info);
            info.bytes(&[1, 2, 3, 4, 5, 6, 7, 8]);
            u32s(&[300, 200], info);
            u64s(&[0, 0, 9_000_000_000, 0, 0], info);
            info.bytes(b"tracer\0\0\0\0\0\0\0\0\0\0");
            u64s(&[0, 0, 0], info);
            u32s(&[2, 2], info);
            u64s(&[0, 16], info);
            info.u32(77);
        });
        assert_eq!(info.len(), INFO_LEN);
        info.resize(info_len as usize, 0);
        encoder.u32(1);
        encoder.u32(info_len);
        encoder.u32(24);
        encoder.u64(JITED_KSYMS | JITED_FUNC_LENS);
        encoder.bytes(&info);
        u64s(&[0xffff_0000, 0xffff_1000], encoder);
        u32s(&[256, 44], encoder);
    }

    #[test]
    fn programs_of_every_kernel_are_read() {
        for endian in ORDERS {
            let new = bytes(endian, |encoder| program(232, encoder));
            let programs = BpfProgram::parse_all(&new, endian).unwrap();
            assert_eq!(programs.len(), 1);
            let read = &programs[0];
            assert_eq!((read.id, read.kind, read.btf_id), (5, 26, 77));
            assert_eq!((&read.name[..], read.tag[7]), (&b"tracer"[..], 8));
            assert_eq!(read.load_time_ns, 9_000_000_000);
            let ends = |function: &BpfFunction| (function.addr, function.len);
            assert_eq!(
                read.functions.iter().map(ends).collect::<Vec<_>>(),
                [(0xffff_0000, 256), (0xffff_1000, 44)]
            );
            let old = bytes(endian, |encoder| program(128, encoder));
            let programs = BpfProgram::parse_all(&old, endian).unwrap();
            assert_eq!((programs[0].btf_id, programs[0].functions.len()), (0, 2));
            for len in 0..new.len() {
                assert!(BpfProgram::parse_all(&new[..len], endian).is_err());
            }
        }
    }

    #[test]
    fn arrays_beyond_the_data_are_an_error() {
        let mut section = bytes(Endian::Little, |encoder| program(232, encoder));
        // jited_ksyms
        section[20 + 112] = 9;
        assert!(BpfProgram::parse_all(&section, Endian::Little).is_err());
    }

    #[test]
    fn types_are_counted_by_size() {
        for endian in ORDERS {
            let section = bytes(endian, |encoder| {
                u32s(&[1, 77, 3], encoder);
                encoder.bytes(&[0; 3]);
            });
            let expected = BpfBtf {
                id: 77,
                data_len: 3,
            };
            assert_eq!(BpfBtf::parse_all(&section, endian), Ok(vec![expected]));
            assert!(BpfBtf::parse_all(&section[..14], endian).is_err());
        }
    }
}
