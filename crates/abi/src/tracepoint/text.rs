//! Text: what an [`Expr`] is as a string, for `%s`.

use super::data::{TracepointData, Writer, until_nul};
use super::expr::{Expr, Names};
use super::field::FieldPlace;
use super::printf::{decimal, hex, hex_0x, hex_byte};

impl Writer<'_> {
    /// Appends the expression as text.
    pub(super) fn text(&self, expr: &Expr, out: &mut Vec<u8>) {
        let data = self.data;
        match expr.inner() {
            Expr::Text(text) => out.extend_from_slice(text),
            Expr::Field(place) => self.field_text(*place, out),
            Expr::Dynamic(place) => out.extend_from_slice(until_nul(data.region(*place))),
            Expr::Bitmask(place) => bitmask(data, data.region(*place), usize::MAX, out),
            Expr::CpuMask(place) => bit_list(data, data.region(*place), usize::MAX, out),
            Expr::Choice(parts) => {
                let [condition, yes, no] = &**parts;
                let chosen = if condition.is_true(data) { yes } else { no };
                self.text(chosen, out);
            }
            Expr::Flags {
                value,
                delimiter,
                names,
            } => flags(value.number(data).bits, delimiter, names, out),
            Expr::Symbols { value, names } => symbol(value.number(data).bits, names, out),
            Expr::Hex { of, delimiter } => {
                let [bytes, len] = &**of;
                let len = usize::try_from(len.number(data).bits).unwrap_or(usize::MAX);
                let bytes = self.bytes(bytes);
                hex_bytes(bytes.get(..len).unwrap_or(bytes), delimiter, out);
            }
            Expr::Array {
                bytes,
                count,
                element_len,
            } => self.array(self.bytes(bytes), count.as_deref(), element_len, out),
            other => hex(other.number(data).bits, out),
        }
    }

    /// The bytes that an expression points at, as far as they are in the sample.
    pub(super) fn bytes(&self, expr: &Expr) -> &[u8] {
        match expr.inner() {
            Expr::Field(place) | Expr::Dynamic(place) => self.data.region(*place),
            _ => &[],
        }
    }

    fn field_text(&self, place: FieldPlace, out: &mut Vec<u8>) {
        let is_address = !place.is_array && place.size == usize::from(self.data.long_size);
        if !is_address {
            out.extend_from_slice(until_nul(self.data.region(place)));
            return;
        }
        let address = self.data.unsigned(place.offset, place.size).unwrap_or(0);
        match self.names.printk_string(address) {
            Some(text) => out.extend_from_slice(text),
            None => hex(address, out),
        }
    }

    fn array(&self, bytes: &[u8], count: Option<&Expr>, element: &Expr, out: &mut Vec<u8>) {
        let size = match element.number(self.data).bits {
            2 => 2,
            4 => 4,
            8 => 8,
            _ => 1,
        };
        let count = count.map_or(u64::MAX, |count| count.number(self.data).bits);
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let elements = TracepointData {
            bytes,
            ..*self.data
        };
        out.push(b'{');
        for at in (0..bytes.len()).step_by(size).take(count) {
            let Some(number) = elements.unsigned(at, size) else {
                break;
            };
            if at > 0 {
                out.push(b',');
            }
            hex_0x(number, out);
        }
        out.push(b'}');
    }
}

/// Names of the bits that are set, and the rest as a number.
fn flags(mut value: u64, delimiter: &[u8], names: &Names, out: &mut Vec<u8>) {
    let mut is_first = true;
    let mut separate = |out: &mut Vec<u8>| {
        if !std::mem::take(&mut is_first) {
            out.extend_from_slice(delimiter);
        }
    };
    for (mask, name) in names {
        if let Some(mask @ 1..) = *mask
            && value & mask == mask
        {
            separate(out);
            out.extend_from_slice(name);
            value &= !mask;
        }
    }
    if value != 0 {
        separate(out);
        hex_0x(value, out);
    }
}

fn symbol(value: u64, names: &Names, out: &mut Vec<u8>) {
    match names.iter().find(|(known, _)| *known == Some(value)) {
        Some((_, name)) => out.extend_from_slice(name),
        None => hex_0x(value, out),
    }
}

/// Bytes in hexadecimal.
pub(super) fn hex_bytes(bytes: &[u8], delimiter: &[u8], out: &mut Vec<u8>) {
    for (nth, &byte) in bytes.iter().enumerate() {
        if nth > 0 {
            out.extend_from_slice(delimiter);
        }
        hex_byte(byte, out);
    }
}

/// A bitmask in hexadecimal, most significant first, a comma every 32 bits.
pub(super) fn bitmask(data: &TracepointData<'_>, mask: &[u8], n_bits: usize, out: &mut Vec<u8>) {
    let n_bytes = n_bits.div_ceil(8).min(mask.len());
    for nth in (0..n_bytes).rev() {
        let byte = byte_of_mask(data, mask, nth);
        let n_bits = n_bits - nth * 8;
        let byte = match n_bits {
            0..8 => byte & !(u8::MAX << n_bits),
            _ => byte,
        };
        // The kernel writes no digit for bits after the last one.
        match n_bits {
            1..=4 => hex(byte.into(), out),
            _ => hex_byte(byte, out),
        }
        if nth > 0 && nth % 4 == 0 {
            out.push(b',');
        }
    }
}

/// Ranges of the bits that are set: `0-3,5`.
pub(super) fn bit_list(data: &TracepointData<'_>, mask: &[u8], n_bits: usize, out: &mut Vec<u8>) {
    let n_bits = n_bits.min(mask.len().saturating_mul(8));
    let is_set = |bit: &usize| byte_of_mask(data, mask, bit / 8) & 1 << (bit % 8) != 0;
    let mut bit = 0;
    let mut is_first = true;
    while bit < n_bits {
        let run = (bit..n_bits).take_while(&is_set).count();
        if run > 0 {
            if !std::mem::take(&mut is_first) {
                out.push(b',');
            }
            decimal(bit as u64, out);
        }
        if run > 1 {
            out.push(b'-');
            decimal((bit + run - 1) as u64, out);
        }
        bit += run + 1;
    }
}

/// The `nth` byte from the least significant one: a mask is an array of longs.
fn byte_of_mask(data: &TracepointData<'_>, mask: &[u8], nth: usize) -> u8 {
    let long = usize::from(data.long_size.max(1));
    let at = match data.endian {
        crate::Endian::Little => nth,
        crate::Endian::Big => nth / long * long + (long - 1 - nth % long),
    };
    mask.get(at).copied().unwrap_or(0)
}

/// A text field where there is no `print fmt`: `None` if it is not printable.
pub(super) fn printable<'a>(data: &TracepointData<'a>, place: FieldPlace) -> Option<&'a [u8]> {
    let text = until_nul(data.region(place));
    let is_printable = |byte: &u8| matches!(byte, b' '..=b'~' | b'\t'..=b'\r');
    (place.is_text && text.iter().all(is_printable)).then_some(text)
}
