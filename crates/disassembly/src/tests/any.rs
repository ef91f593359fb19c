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

    #[test]
    fn instructions_are_the_same_without_their_texts(
        decoder in decoders(),
        bytes in prop::collection::vec(prop_oneof![2 => any::<u8>(), 1 => Just(0x90), 1 => Just(0xcc)], 0..200),
        wanted in prop::collection::hash_set(0u64..200, 0..50),
    ) {
        let some = decoder.decode_some(0, &bytes, &|address| wanted.contains(&address));
        let all = decoder.decode(0, &bytes);
        prop_assert_eq!(some.len(), all.len());
        for (mut one, other) in some.into_iter().zip(all) {
            let is_padding = other.text.starts_with("nop") || other.text.trim_end() == "int3";
            if one.text.is_empty() {
                prop_assert!(!wanted.contains(&one.address) && !is_padding, "{}", other.text);
                one.text.clone_from(&other.text);
            }
            prop_assert_eq!(one, other);
        }
    }
}
