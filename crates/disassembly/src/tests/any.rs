//! What holds for any bytes.

use proptest::prelude::*;

use super::*;

fn decoders() -> impl Strategy<Value = Decoder> {
    let machines = prop::sample::select(vec!["x86_64", "i686", "aarch64"]);
    let syntaxes = prop::sample::select(vec![Syntax::Att, Syntax::Intel]);
    (machines, syntaxes).prop_map(|(machine, syntax)| Decoder::of(machine, syntax).unwrap())
}

proptest! {
    #[test]
    fn all_bytes_are_in_instructions_that_follow_each_other(
        decoder in decoders(),
        address in any::<u64>(),
        bytes in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let instructions = decoder.decode(address, &bytes);
        let mut next = address;
        let mut sum = 0;
        for one in &instructions {
            prop_assert_eq!(one.address, next);
            prop_assert!((1..=15).contains(&one.len) && !one.text.is_empty());
            prop_assert!(one.text.is_ascii() && !one.text.contains(char::is_control));
            if let Some(range) = one.written_address() {
                prop_assert!(one.text.get(range).is_some());
            }
            next = next.wrapping_add(u64::from(one.len));
            sum += usize::from(one.len);
        }
        prop_assert_eq!(sum, bytes.len());
        prop_assert_eq!(decoder.decode(address, &bytes), instructions);
    }
}
