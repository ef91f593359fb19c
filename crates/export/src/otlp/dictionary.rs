//! The dictionary: strings, attributes, code and stacks, each once, which samples name by number.

use super::messages::{
    AnyValue, Dictionary, Function, KeyValueAndUnit, Line, Link, Location, Mapping, Stack, Value,
};
use crate::facts::image_spans;
use foldhash::HashMap;
use foldhash::fast::RandomState;
use rprof_base::Interner;
use rprof_profile::{
    CodeFrame, CodeImage, CodeKind, CodeLocation, CountedStacks, CountedThread, FrameId, Profile,
    StrId,
};

/// An attribute: the number of its key, and its value.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Attribute {
    key: i32,
    value: Value,
}

/// Tables that grow as samples ask for their entries. What comes first in each is empty.
pub(super) struct Tables<'s> {
    stacks: &'s CountedStacks,
    strings: Interner<u32, String, RandomState>,
    attributes: Interner<u32, Attribute, RandomState>,
    functions: Functions,
    mappings: Vec<Mapping>,
    locations: Vec<Location>,
    /// Numbers by innermost node.
    stack_numbers: HashMap<u32, i32>,
    stack_table: Vec<Stack>,
}

/// Functions by what they are and the file that they are in.
type Functions = Interner<u32, Function, RandomState, (FrameId, Option<StrId>)>;

impl<'s> Tables<'s> {
    /// With all code; without stacks.
    pub(super) fn new(stacks: &'s CountedStacks) -> Self {
        let mut tables = Self {
            stacks,
            strings: Interner::default(),
            attributes: Interner::default(),
            functions: Interner::default(),
            mappings: vec![Mapping::default()],
            locations: vec![Location::default()],
            stack_numbers: HashMap::default(),
            stack_table: vec![Stack::default()],
        };
        tables.string("");
        let images = stacks.code.images.iter().zip(image_spans(&stacks.code));
        for (image, span) in images {
            let mapping = Mapping {
                memory_start: span.start,
                memory_limit: span.limit,
                file_offset: span.file_offset,
                ..tables.mapping(image)
            };
            tables.mappings.push(mapping);
        }
        for code in &stacks.code.locations {
            let location = tables.location(code);
            tables.locations.push(location);
        }
        tables
    }

    fn text(&self, id: StrId) -> &'s str {
        self.stacks.profile.strings.of(id).into_raw()
    }

    /// The number of a string.
    pub(super) fn string(&mut self, text: &str) -> i32 {
        number(self.strings.intern_ref(text).into())
    }

    /// The number of an attribute.
    pub(super) fn attribute(&mut self, key: &str, value: Value) -> i32 {
        let key = self.string(key);
        number(u64::from(self.attributes.intern(Attribute { key, value })) + 1)
    }

    fn mapping(&mut self, image: &CodeImage) -> Mapping {
        let build_id = image.build_id.map(|id| {
            let id = Value::Text(self.text(id).to_owned());
            self.attribute("process.executable.build_id.gnu", id)
        });
        Mapping {
            filename_strindex: self.string(self.text(image.path)),
            attribute_indices: build_id.into_iter().collect(),
            ..Mapping::default()
        }
    }

    fn location(&mut self, code: &CodeLocation) -> Location {
        let image = self.stacks.code.images.get(code.image as usize);
        let is_kernel = image.is_some_and(|image| image.kind == CodeKind::Kernel);
        let kind = if is_kernel { "kernel" } else { "native" };
        let kind = self.attribute("profile.frame.type", Value::Text(kind.to_owned()));
        let lines = code.frames.iter().map(|frame| Line {
            function_index: self.function(frame),
            line: frame.line.map_or(0, |(_, line)| line.into()),
        });
        Location {
            mapping_index: number(u64::from(code.image) + 1),
            address: code.address,
            lines: lines.collect(),
            attribute_indices: vec![kind],
        }
    }

    fn function(&mut self, frame: &CodeFrame) -> i32 {
        let profile: &Profile = &self.stacks.profile;
        let file = frame.line.map(|(file, _)| file);
        let key = (frame.frame, file);
        let known = self.functions.find(&key);
        let own = known.unwrap_or_else(|| {
            let name = profile.frames.label(frame.frame, &profile.strings);
            let name = match profile.frames.of(frame.frame).name {
                Some(name) => self.string(self.text(name)),
                None => self.string(&name.into_raw()),
            };
            let function = Function {
                name_strindex: name,
                filename_strindex: file.map_or(0, |file| self.string(self.text(file))),
            };
            self.functions.intern_with(key, |_| function)
        });
        number(u64::from(own) + 1)
    }

    /// The number of a stack, by its innermost node.
    pub(super) fn stack(&mut self, innermost: Option<u32>) -> i32 {
        let Some(node) = innermost else {
            return 0;
        };
        let (stacks, table) = (&self.stacks.stacks, &mut self.stack_table);
        *self.stack_numbers.entry(node).or_insert_with(|| {
            let path = stacks.path(Some(node));
            let locations = path.map(|node| number(u64::from(node.frame.number()) + 1));
            table.push(Stack {
                location_indices: locations.collect(),
            });
            number(table.len() as u64 - 1)
        })
    }

    /// Attributes of a sample of a thread.
    pub(super) fn thread(&mut self, thread: &CountedThread) -> Vec<i32> {
        let comm = Value::Text(self.text(thread.comm).to_owned());
        vec![
            self.attribute("process.pid", Value::Int(thread.pid.into())),
            self.attribute("thread.id", Value::Int(thread.tid.into())),
            self.attribute("thread.name", comm),
        ]
    }

    /// All tables.
    pub(super) fn into_dictionary(self) -> Dictionary {
        let attributes = self.attributes.into_values().into_iter();
        let attributes = attributes.map(|Attribute { key, value }| KeyValueAndUnit {
            key_strindex: key,
            value: Some(AnyValue { value: Some(value) }),
        });
        let empty = [KeyValueAndUnit::default()].into_iter();
        let functions = self.functions.into_values().into_iter();
        Dictionary {
            mapping_table: self.mappings,
            location_table: self.locations,
            function_table: [Function::default()].into_iter().chain(functions).collect(),
            link_table: vec![Link::default()],
            string_table: self.strings.into_values(),
            attribute_table: empty.chain(attributes).collect(),
            stack_table: self.stack_table,
        }
    }
}

/// Numbers of tables are signed.
fn number(number: u64) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}
