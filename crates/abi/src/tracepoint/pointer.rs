//! `%p` and its extensions: addresses, symbols, and things that a pointer leads to.
//!
//! Source: pointer() in lib/vsprintf.c (v6.18); what of it perf prints, libtraceevent.

use super::data::{TracepointData, Writer};
use super::expr::Expr;
use super::printf::{Layout, Spec, decimal, hex_0x, hex_byte};
use super::text::{bit_list, bitmask, hex_bytes};
use std::net::Ipv6Addr;

/// What the pointer points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pointer {
    /// Just an address.
    Address,
    /// `%ps`, `%pS`: a symbol of the kernel, without or with the offset into it.
    Symbol { has_offset: bool },
    /// `%pM`: a hardware address; `%pm` without colons.
    Mac {
        delimiter: &'static [u8],
        is_reversed: bool,
    },
    /// `%pI4`; `%pi4` with leading zeros.
    Ip4 { is_padded: bool, is_reversed: bool },
    /// `%pI6`; `%pi6` without colons, `%pI6c` compressed.
    Ip6 {
        has_colons: bool,
        is_compressed: bool,
    },
    /// `%pIS`: an address with its family, `p` with port.
    Socket { has_port: bool, is_compressed: bool },
    /// `%pU`: a UUID; `l` with the byte order of a GUID.
    Uuid { is_guid: bool, is_upper: bool },
    /// `%*ph`: bytes.
    Hex { delimiter: &'static [u8] },
    /// `%*pb`: a bitmap; `%*pbl` as ranges.
    Bitmap { is_list: bool },
}

impl Pointer {
    /// The extension after `%p`, which is as long as there are letters and digits.
    pub(super) fn parse(text: &[u8]) -> (Self, &[u8]) {
        let len = text
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric())
            .count();
        let (extension, rest) = text.split_at_checked(len).unwrap_or((&[], text));
        let has = |letter: u8| extension.contains(&letter);
        let kind = match extension {
            [b's' | b'f', ..] => Self::Symbol { has_offset: false },
            [b'S' | b'F', ..] => Self::Symbol { has_offset: true },
            [first @ (b'M' | b'm'), ..] => Self::Mac {
                delimiter: match first {
                    b'm' => b"",
                    _ if has(b'F') => b"-",
                    _ => b":",
                },
                is_reversed: has(b'R'),
            },
            [first @ (b'I' | b'i'), b'4', ..] => Self::Ip4 {
                is_padded: *first == b'i',
                is_reversed: has(b'h') || has(b'l'),
            },
            [first @ (b'I' | b'i'), b'6', ..] => Self::Ip6 {
                has_colons: *first == b'I',
                is_compressed: has(b'c'),
            },
            [b'I' | b'i', b'S', ..] => Self::Socket {
                has_port: has(b'p'),
                is_compressed: has(b'c'),
            },
            [b'U', ..] => Self::Uuid {
                is_guid: has(b'l') || has(b'L'),
                is_upper: has(b'B') || has(b'L'),
            },
            [b'h', ..] => Self::Hex {
                delimiter: match extension.get(1) {
                    Some(b'C') => b":",
                    Some(b'D') => b"-",
                    Some(b'N') => b"",
                    _ => b" ",
                },
            },
            [b'b', ..] => Self::Bitmap { is_list: has(b'l') },
            _ => Self::Address,
        };
        (kind, rest)
    }
}

impl Writer<'_> {
    /// Appends what a pointer points at.
    pub(super) fn pointer(&self, kind: Pointer, spec: &Spec, value: &Expr, out: &mut Vec<u8>) {
        let bytes = self.bytes(value);
        match kind {
            Pointer::Address => self.address(spec, value.number(self.data).bits, out),
            Pointer::Symbol { has_offset } => {
                self.symbol(value.number(self.data).bits, has_offset, out);
            }
            Pointer::Mac {
                delimiter,
                is_reversed,
            } => match <[u8; 6]>::try_from(bytes) {
                Ok(mut mac) => {
                    if is_reversed {
                        mac.reverse();
                    }
                    hex_bytes(&mac, delimiter, out);
                }
                Err(_) => out.extend_from_slice(b"INVALIDMAC"),
            },
            Pointer::Ip4 {
                is_padded,
                is_reversed,
            } => match <[u8; 4]>::try_from(bytes) {
                Ok(mut address) => {
                    if is_reversed {
                        address.reverse();
                    }
                    ip4(address, is_padded, out);
                }
                Err(_) => out.extend_from_slice(b"INVALIDIPv4"),
            },
            Pointer::Ip6 {
                has_colons,
                is_compressed,
            } => match <[u8; 16]>::try_from(bytes) {
                Ok(address) if is_compressed => ip6_compressed(address, out),
                Ok(address) => ip6(address, has_colons, out),
                Err(_) => out.extend_from_slice(b"INVALIDIPv6"),
            },
            Pointer::Socket {
                has_port,
                is_compressed,
            } => socket(self.data, bytes, has_port, is_compressed, out),
            Pointer::Uuid { is_guid, is_upper } => match <[u8; 16]>::try_from(bytes) {
                Ok(id) => uuid(id, is_guid, is_upper, out),
                Err(_) => out.extend_from_slice(b"INVALIDUUID"),
            },
            Pointer::Hex { delimiter } => {
                let len = spec.count(self.data).max(1);
                hex_bytes(bytes.get(..len).unwrap_or(bytes), delimiter, out);
            }
            Pointer::Bitmap { is_list } => {
                let n_bits = spec.count(self.data);
                let print = if is_list { bit_list } else { bitmask };
                print(self.data, bytes, n_bits, out);
            }
        }
    }

    /// As glibc prints `%p`, and so perf.
    fn address(&self, spec: &Spec, address: u64, out: &mut Vec<u8>) {
        let start = out.len();
        match address {
            0 => out.extend_from_slice(b"(nil)"),
            _ => hex_0x(address, out),
        }
        let layout = Layout {
            precision: None,
            ..spec.layout(self.data)
        };
        layout.fit(start, out);
    }

    fn symbol(&self, address: u64, has_offset: bool, out: &mut Vec<u8>) {
        let Some((name, offset)) = self.names.kernel_symbol(address) else {
            return hex_0x(address, out);
        };
        out.extend_from_slice(name.as_bytes());
        if has_offset {
            out.push(b'+');
            hex_0x(offset, out);
        }
    }
}

fn ip4(address: [u8; 4], is_padded: bool, out: &mut Vec<u8>) {
    for (nth, byte) in address.into_iter().enumerate() {
        if nth > 0 {
            out.push(b'.');
        }
        if is_padded && byte < 100 {
            out.push(b'0');
        }
        if is_padded && byte < 10 {
            out.push(b'0');
        }
        decimal(byte.into(), out);
    }
}

fn ip6(address: [u8; 16], has_colons: bool, out: &mut Vec<u8>) {
    for (nth, byte) in address.into_iter().enumerate() {
        if has_colons && nth > 0 && nth % 2 == 0 {
            out.push(b':');
        }
        hex_byte(byte, out);
    }
}

/// The usual short form, which std writes; only ISATAP addresses are the kernel's own.
fn ip6_compressed(address: [u8; 16], out: &mut Vec<u8>) {
    let ip = Ipv6Addr::from(address);
    let [a, b, c, d, e, f, _, _] = ip.segments();
    let [.., h, i, j, k] = address;
    if (e | 0x0200, f) != (0x0200, 0x5efe) {
        out.extend_from_slice(ip.to_string().as_bytes());
        return;
    }
    let upper = Ipv6Addr::new(a, b, c, d, e, f, 1, 1).to_string();
    let upper = upper.strip_suffix("1:1").unwrap_or_default();
    out.extend_from_slice(upper.as_bytes());
    ip4([h, i, j, k], false, out);
}

/// `struct sockaddr`: the family is in the recording's byte order, the rest in the network's.
fn socket(
    data: &TracepointData<'_>,
    bytes: &[u8],
    has_port: bool,
    is_compressed: bool,
    out: &mut Vec<u8>,
) {
    const AF_INET: u64 = 2;
    const AF_INET6: u64 = 10;
    let address = TracepointData { bytes, ..*data };
    let port = bytes.get(2..4).and_then(|port| port.try_into().ok());
    let port = u16::from_be_bytes(port.unwrap_or_default());
    match address.unsigned(0, 2) {
        Some(AF_INET) => match bytes.get(4..16).and_then(|bytes| bytes.first_chunk()) {
            Some(ip) => ip4(*ip, false, out),
            None => return out.extend_from_slice(b"INVALIDIPv4"),
        },
        Some(AF_INET6) => {
            let Some(ip) = bytes.get(8..28).and_then(|bytes| bytes.first_chunk()) else {
                return out.extend_from_slice(b"INVALIDIPv6");
            };
            if has_port {
                out.push(b'[');
            }
            if is_compressed {
                ip6_compressed(*ip, out);
            } else {
                ip6(*ip, true, out);
            }
            if has_port {
                out.push(b']');
            }
        }
        _ => return,
    }
    if has_port {
        out.push(b':');
        decimal(port.into(), out);
    }
}

fn uuid(id: [u8; 16], is_guid: bool, is_upper: bool, out: &mut Vec<u8>) {
    let start = out.len();
    let [a, b, c, d, e, f, g, h, rest @ ..] = id;
    let head = if is_guid {
        [d, c, b, a, f, e, h, g]
    } else {
        [a, b, c, d, e, f, g, h]
    };
    for (nth, byte) in head.into_iter().chain(rest).enumerate() {
        if matches!(nth, 4 | 6 | 8 | 10) {
            out.push(b'-');
        }
        hex_byte(byte, out);
    }
    if is_upper && let Some(text) = out.get_mut(start..) {
        text.make_ascii_uppercase();
    }
}
