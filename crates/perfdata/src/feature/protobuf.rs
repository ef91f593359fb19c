//! As much of the protobuf encoding as simpleperf's sections need.

use rprof_abi::{Cursor, Endian, WireError};

/// A field's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Payload<'a> {
    /// A number.
    Varint(u64),
    /// A string, a message, or numbers in a row.
    Bytes(&'a [u8]),
    /// A number of fixed width; simpleperf has none.
    Fixed,
}

/// Calls `each` with number and payload of each field of a message.
///
/// # Errors
/// [`WireError`] if the message ends within a field, or is no protobuf message.
pub(super) fn for_each_field<'a>(
    message: &'a [u8],
    mut each: impl FnMut(u64, Payload<'a>) -> Result<(), WireError>,
) -> Result<(), WireError> {
    let mut cursor = Cursor::new(message, Endian::Little);
    while !cursor.rest().is_empty() {
        let key = varint(&mut cursor)?;
        let payload = match key & 7 {
            0 => Payload::Varint(varint(&mut cursor)?),
            1 => {
                cursor.bytes(8, "protobuf number")?;
                Payload::Fixed
            }
            2 => {
                let len = varint(&mut cursor)?;
                Payload::Bytes(cursor.bytes(len, "protobuf field")?)
            }
            5 => {
                cursor.bytes(4, "protobuf number")?;
                Payload::Fixed
            }
            kind => {
                return Err(WireError::BadValue {
                    what: "protobuf wire type",
                    value: kind,
                });
            }
        };
        each(key >> 3, payload)?;
    }
    Ok(())
}

/// Calls `each` with every number of a repeated field, which may be packed or not.
pub(super) fn for_each_number(
    payload: Payload<'_>,
    mut each: impl FnMut(u64),
) -> Result<(), WireError> {
    match payload {
        Payload::Varint(number) => each(number),
        Payload::Bytes(packed) => {
            let mut cursor = Cursor::new(packed, Endian::Little);
            while !cursor.rest().is_empty() {
                each(varint(&mut cursor)?);
            }
        }
        Payload::Fixed => {}
    }
    Ok(())
}

/// Takes a number of 1 to 10 bytes, 7 bits each, lowest first.
fn varint(cursor: &mut Cursor<'_>) -> Result<u64, WireError> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = cursor.u8("protobuf number")?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(WireError::BadValue {
        what: "protobuf number",
        value,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_every_wire_type_are_walked() {
        let message = [
            0x08, 0xac, 0x02, // 1: 300
            0x12, 0x02, b'h', b'i', // 2: "hi"
            0x1d, 0, 0, 0, 0, // 3: fixed32
            0x21, 0, 0, 0, 0, 0, 0, 0, 0, // 4: fixed64
        ];
        let mut fields = Vec::new();
        let walked = for_each_field(&message, |number, payload| {
            fields.push((number, payload));
            Ok(())
        });
        assert_eq!(walked, Ok(()));
        assert_eq!(
            fields,
            [
                (1, Payload::Varint(300)),
                (2, Payload::Bytes(b"hi")),
                (3, Payload::Fixed),
                (4, Payload::Fixed),
            ]
        );
    }

    #[test]
    fn what_is_no_message_is_an_error() {
        let cases: [&[u8]; 5] = [&[0x08], &[0x12, 5, 0], &[0x0b], &[0x0f], &[0xff; 11]];
        for case in cases {
            assert!(for_each_field(case, |_, _| Ok(())).is_err(), "{case:?}");
        }
    }

    #[test]
    fn repeated_numbers_come_packed_or_one_by_one() {
        for payload in [Payload::Varint(300), Payload::Bytes(&[0xac, 0x02])] {
            let mut numbers = Vec::new();
            for_each_number(payload, |number| numbers.push(number)).unwrap();
            assert_eq!(numbers, [300]);
        }
    }
}
