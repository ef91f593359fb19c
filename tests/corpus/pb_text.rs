//! Protobuf's text form, as far as quipper writes it: text in, nested messages out.

use std::path::Path;

/// A message: its fields in order; a repeated field is there more than once.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Message(pub(crate) Vec<(String, Item)>);

/// What a field holds.
#[derive(Debug, PartialEq)]
pub(crate) enum Item {
    /// Another message.
    Message(Message),
    /// A string or bytes.
    Bytes(Vec<u8>),
    /// A number, a truth value or the name of an enumerator.
    Word(String),
}

impl Item {
    /// As text; bytes that are not UTF-8 are replaced.
    #[track_caller]
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Message(message) => panic!("a message, not a value: {message:?}"),
            Self::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Self::Word(word) => word.clone(),
        }
    }
}

impl Message {
    /// The fields of this name.
    pub(crate) fn all(&self, name: &str) -> Vec<&Item> {
        let fields = self.0.iter();
        let named = fields.filter(|(field, _)| field == name);
        named.map(|(_, item)| item).collect()
    }

    /// The messages of this name.
    pub(crate) fn messages(&self, name: &str) -> Vec<&Self> {
        let all = self.all(name).into_iter();
        all.filter_map(|item| match item {
            Item::Message(message) => Some(message),
            Item::Bytes(_) | Item::Word(_) => None,
        })
        .collect()
    }

    /// The field of this name, which is there once.
    #[track_caller]
    pub(crate) fn one(&self, name: &str) -> &Item {
        match self.all(name)[..] {
            [item] => item,
            ref items => panic!("{} fields '{name}'", items.len()),
        }
    }

    /// The text of the field of this name.
    #[track_caller]
    pub(crate) fn text(&self, name: &str) -> String {
        self.one(name).text()
    }

    /// The number in the field of this name.
    #[track_caller]
    pub(crate) fn number(&self, name: &str) -> u64 {
        self.text(name).parse().unwrap()
    }
}

/// Reads a file.
#[track_caller]
pub(crate) fn read(path: &Path) -> Message {
    let text = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    parse(&text)
}

/// Reads a text.
///
/// # Panics
/// If it is not of the form that quipper writes.
pub(crate) fn parse(text: &[u8]) -> Message {
    let mut parser = Parser { rest: text };
    let message = parser.fields();
    assert!(parser.rest.is_empty(), "a closing brace too many");
    message
}

struct Parser<'a> {
    rest: &'a [u8],
}

impl Parser<'_> {
    /// Fields up to a closing brace or the end, which is left there.
    fn fields(&mut self) -> Message {
        let mut message = Message::default();
        loop {
            self.skip_space();
            if matches!(self.rest.first(), None | Some(b'}')) {
                return message;
            }
            let name = self.word();
            let item = if self.eats(b':') {
                self.skip_space();
                if self.eats(b'"') {
                    Item::Bytes(self.bytes())
                } else {
                    Item::Word(self.word())
                }
            } else {
                assert!(self.eats(b'{'), "neither a value nor a message: {name}");
                let inner = self.fields();
                assert!(self.eats(b'}'), "no end of {name}");
                Item::Message(inner)
            };
            message.0.push((name, item));
        }
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    /// Whether this is what comes next, after white space; if so, goes past it.
    fn eats(&mut self, what: u8) -> bool {
        self.skip_space();
        match self.rest.split_first() {
            Some((&first, rest)) if first == what => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    fn next(&mut self) -> u8 {
        let (&first, rest) = self.rest.split_first().expect("the text goes on");
        self.rest = rest;
        first
    }

    fn word(&mut self) -> String {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.+".contains(byte);
        let len = self.rest.iter().take_while(|byte| is_part(byte)).count();
        let (word, rest) = self.rest.split_at(len);
        assert!(len > 0, "no word at {:?}", rest.get(..20));
        self.rest = rest;
        String::from_utf8(word.to_vec()).unwrap()
    }

    /// The bytes of a string, after its opening quote.
    fn bytes(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        loop {
            match self.next() {
                b'"' => return bytes,
                b'\\' => bytes.push(self.escaped()),
                byte => bytes.push(byte),
            }
        }
    }

    /// The byte that stands after a backslash.
    fn escaped(&mut self) -> u8 {
        match self.next() {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            first @ b'0'..=b'7' => {
                let mut value = u32::from(first - b'0');
                for _ in 0..2 {
                    let Some(digit @ b'0'..=b'7') = self.rest.first().copied() else {
                        break;
                    };
                    value = value * 8 + u32::from(digit - b'0');
                    self.next();
                }
                u8::try_from(value).unwrap()
            }
            byte @ (b'"' | b'\'' | b'\\') => byte,
            other => panic!("unknown escape \\{}", char::from(other)),
        }
    }
}

#[test]
fn text_form_is_read_with_nested_and_repeated_fields() {
    let text = br#"a { b: -1 c: "x\"\n\001\3334" } a { } d: true  d: NAME"#;
    let message = parse(text);
    let [first, second] = message.messages("a")[..] else {
        panic!("{message:?}");
    };
    assert_eq!(first.text("b"), "-1");
    assert_eq!(*first.one("c"), Item::Bytes(b"x\"\n\x01\xdb4".to_vec()));
    assert_eq!(*second, Message::default());
    let words: Vec<String> = message.all("d").iter().map(|item| item.text()).collect();
    assert_eq!(words, ["true", "NAME"]);
}
