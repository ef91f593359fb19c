//! The tables that all threads share: strings, libraries, functions, frames, stacks.

use foldhash::fast::RandomState;
use rprof_base::Interner;
use rprof_profile::{
    CodeFrame, CodeImage, CodeKind, CodeLocation, FrameId, Level, SampledProfile, StrId, Strings,
};
use rprof_untrusted::JsonWriter;

/// Categories with their colours; the first is for what is of none.
pub(super) const CATEGORIES: [(&str, &str); 5] = [
    ("Other", "grey"),
    ("Kernel", "orange"),
    ("Program", "yellow"),
    ("Library", "blue"),
    ("JIT", "green"),
];

/// A function: one of a name and an image, wherever it was inlined.
struct Func {
    name: StrId,
    image: u32,
    /// Index of its source file. The page has one for each function: lines in others are left
    /// out.
    source: Option<u32>,
}

/// Where in the source a frame is.
struct FuncLine {
    func: u32,
    /// `None` if it is not known, or not in the function's file.
    line: Option<u32>,
}

/// A function that has an address.
struct NativeSymbol {
    image: u32,
    address: u64,
    name: StrId,
}

struct Frame {
    /// In its library; `None` if that is not known.
    address: Option<u64>,
    inline_depth: u64,
    category: u64,
    func: u32,
    native_symbol: Option<u32>,
    line: Option<u32>,
}

/// All shared tables.
pub(super) struct Shared<'t> {
    sampled: &'t SampledProfile,
    /// Those of the profile, then more.
    pub(super) strings: Strings,
    funcs: Interner<u32, Func, RandomState, (StrId, u32, Level)>,
    /// By image and address.
    natives: Interner<u32, NativeSymbol, RandomState, (u32, u64)>,
    sources: Interner<u32, StrId, RandomState>,
    frames: Vec<Frame>,
    /// By code, its first frame, which is the outermost; one more at the end.
    first_frames: Vec<u32>,
    /// By node, the number of the stack that ends with its innermost frame.
    stacks: Vec<Option<u32>>,
}

impl<'t> Shared<'t> {
    pub(super) fn of(sampled: &'t SampledProfile) -> Self {
        let mut shared = Self {
            sampled,
            strings: sampled.profile.strings.clone(),
            funcs: Interner::default(),
            natives: Interner::default(),
            sources: Interner::default(),
            frames: Vec::new(),
            first_frames: Vec::with_capacity(sampled.code.locations.len() + 1),
            stacks: Vec::with_capacity(sampled.stacks.nodes().len()),
        };
        for code in &sampled.code.locations {
            shared.first_frames.push(number(shared.frames.len()));
            shared.add_code(code);
        }
        shared.first_frames.push(number(shared.frames.len()));
        let mut n_stacks = 0;
        for node in sampled.stacks.nodes() {
            let n_frames = number(shared.frames_of(node.frame.number()).len());
            n_stacks += n_frames;
            let parent = node.parent.and_then(|parent| shared.stack(parent));
            let last = match n_frames {
                0 => parent,
                _ => n_stacks.checked_sub(1),
            };
            shared.stacks.push(last);
        }
        shared
    }

    /// The stack that ends at a node.
    pub(super) fn stack(&self, node: u32) -> Option<u32> {
        self.stacks.get(node as usize).copied().flatten()
    }

    /// Numbers of the frames of some code, outermost first.
    fn frames_of(&self, code: u32) -> std::ops::Range<u32> {
        let at = |idx: usize| self.first_frames.get(idx).copied().unwrap_or(0);
        at(code as usize)..at(code as usize + 1)
    }

    fn add_code(&mut self, code: &CodeLocation) {
        let Some(image) = self.sampled.code.images.get(code.image as usize) else {
            return;
        };
        let address = code.svma.and_then(|svma| in_library(image, svma));
        let host = code.frames.last().map(|one| one.frame);
        let native = host.and_then(|host| self.native(code, image, host));
        for (inline_depth, one) in (0..).zip(code.frames.iter().rev()) {
            let FuncLine { func, line } = self.func(code, one);
            self.frames.push(Frame {
                address: address.filter(|_| native.is_some()),
                inline_depth,
                category: self.category(image, one.frame),
                func,
                native_symbol: native,
                line,
            });
        }
    }

    fn func(&mut self, code: &CodeLocation, one: &CodeFrame) -> FuncLine {
        let profile = &self.sampled.profile;
        let frame = profile.frames.of(one.frame);
        let name = match frame.name {
            Some(name) => name,
            None => {
                let label = profile.frames.label(one.frame, &profile.strings).into_raw();
                self.strings.intern(&label)
            }
        };
        let source = one.line.map(|(file, _)| self.sources.intern(file));
        let image = code.image;
        let key = (name, image, frame.level);
        let func = self.funcs.intern_with(key, |_| Func {
            name,
            image,
            source,
        });
        let known = self.funcs.get_mut(func).and_then(|func| {
            func.source = func.source.or(source);
            func.source
        });
        let is_there = source.is_some() && known == source;
        let line = one.line.map(|(_, line)| line).filter(|_| is_there);
        FuncLine { func, line }
    }

    fn native(&mut self, code: &CodeLocation, image: &CodeImage, host: FrameId) -> Option<u32> {
        let frame = self.sampled.profile.frames.of(host);
        let (name, start) = (frame.name?, code.function?);
        let address = in_library(image, start)?;
        let made = |&(image, address): &(u32, u64)| NativeSymbol {
            image,
            address,
            name,
        };
        Some(self.natives.intern_with((code.image, address), made))
    }

    fn category(&self, image: &CodeImage, frame: FrameId) -> u64 {
        match (self.sampled.profile.frames.of(frame).level, image.kind) {
            (Level::Kernel | Level::GuestKernel | Level::Hypervisor, _) => 1,
            (_, CodeKind::Kernel) => 1,
            (_, CodeKind::Program) => 2,
            (_, CodeKind::Library) => 3,
            (_, CodeKind::Jit) => 4,
            (_, CodeKind::Unknown) => 0,
        }
    }

    /// Every image is a library, and a resource of the same number.
    pub(super) fn write_libs(&self, json: &mut JsonWriter<'_>) {
        let text = |id: StrId| self.strings.of(id).into_raw();
        let arch = self.sampled.profile.about.arch.as_deref().unwrap_or("");
        for image in &self.sampled.code.images {
            let build_id = image.build_id.map(text);
            json.object(|json| {
                json.key("arch").text(arch);
                for key in ["name", "debugName"] {
                    json.key(key).text(text(image.name));
                }
                for key in ["path", "debugPath"] {
                    json.key(key).text(text(image.path));
                }
                let id = build_id.map_or_else(String::new, breakpad_id);
                json.key("breakpadId").text(&id);
                match build_id {
                    Some(id) => json.key("codeId").text(id),
                    None => json.key("codeId").null(),
                }
            });
        }
    }

    pub(super) fn write(&self, json: &mut JsonWriter<'_>) {
        json.key("stackTable").object(|json| self.stack_table(json));
        json.key("frameTable").object(|json| self.frame_table(json));
        json.key("funcTable").object(|json| self.func_table(json));
        json.key("resourceTable").object(|json| {
            let images = &self.sampled.code.images;
            json.column("lib", 0..images.len(), |json, lib| json.number(lib as u64));
            json.column("name", images, |json, image| {
                json.number(image.name.number().into());
            });
            json.column("host", images, |json, _| json.null());
            // A library.
            json.column("type", images, |json, _| json.number(1));
            json.key("length").number(images.len() as u64);
        });
        json.key("nativeSymbols").object(|json| {
            let all = self.natives.values();
            json.column("libIndex", all, |json, one| json.number(one.image.into()));
            json.column("address", all, |json, one| json.number(one.address));
            json.column("name", all, |json, one| {
                json.number(one.name.number().into())
            });
            json.column("functionSize", all, |json, _| json.null());
            json.key("length").number(all.len() as u64);
        });
        json.key("sources").object(|json| {
            let all = self.sources.values();
            json.key("length").number(all.len() as u64);
            json.column("filename", all, |json, file| {
                json.number(file.number().into());
            });
            for name in ["startLine", "startColumn"] {
                json.column(name, all, |json, _| json.number(1));
            }
            for name in ["id", "sourceMapURL", "content"] {
                json.column(name, all, |json, _| json.null());
            }
        });
        json.key("sourceLocationTable").object(|json| {
            for name in ["source", "line", "column"] {
                json.key(name).list(|_| {});
            }
            json.key("length").number(0);
        });
        json.column("stringArray", self.strings.iter(), JsonWriter::text);
    }

    fn stack_table(&self, json: &mut JsonWriter<'_>) {
        let nodes = self.sampled.stacks.nodes();
        json.key("frame").list(|json| {
            for node in nodes {
                self.frames_of(node.frame.number())
                    .for_each(|frame| json.number(frame.into()));
            }
        });
        let mut next = 0;
        json.key("prefixOffset").list(|json| {
            for node in nodes {
                let parent = node.parent.and_then(|parent| self.stack(parent));
                for nth in self
                    .frames_of(node.frame.number())
                    .enumerate()
                    .map(|(nth, _)| nth)
                {
                    // Those inlined into a frame come right after it.
                    let offset = match (nth, parent) {
                        (0, None) => 0,
                        (0, Some(parent)) => next - parent,
                        _ => 1,
                    };
                    json.number(offset.into());
                    next += 1;
                }
            }
        });
        json.key("length").number(next.into());
    }

    fn frame_table(&self, json: &mut JsonWriter<'_>) {
        let all = &self.frames;
        json.column("address", all, |json, frame| match frame.address {
            Some(address) => json.number(address),
            None => json.signed(-1),
        });
        json.column("inlineDepth", all, |json, one| {
            json.number(one.inline_depth)
        });
        json.column("category", all, |json, one| json.number(one.category));
        json.column("subcategory", all, |json, _| json.number(0));
        json.column("func", all, |json, one| json.number(one.func.into()));
        json.column("nativeSymbol", all, |json, one| {
            json.maybe(one.native_symbol.map(u64::from));
        });
        json.column("line", all, |json, one| json.maybe(one.line.map(u64::from)));
        for name in ["innerWindowID", "column", "originalLocation"] {
            json.column(name, all, |json, _| json.null());
        }
        json.key("length").number(all.len() as u64);
    }

    fn func_table(&self, json: &mut JsonWriter<'_>) {
        let all = self.funcs.values();
        json.column("name", all, |json, func| {
            json.number(func.name.number().into())
        });
        for name in ["isJS", "relevantForJS"] {
            json.column(name, all, |json, _| json.boolean(false));
        }
        json.column("resource", all, |json, func| json.number(func.image.into()));
        json.column("source", all, |json, func| {
            json.maybe(func.source.map(u64::from))
        });
        for name in ["lineNumber", "columnNumber", "originalLocation"] {
            json.column(name, all, |json, _| json.null());
        }
        json.key("length").number(all.len() as u64);
    }
}

fn number(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

/// An address in its library. The kernel's count from where it begins, where that is known: they
/// are larger than what JavaScript can hold.
fn in_library(image: &CodeImage, address: u64) -> Option<u64> {
    match image.kind {
        CodeKind::Kernel => address.checked_sub(image.base?),
        _ => Some(address),
    }
    .filter(|&address| address < 1 << 53)
}

/// A build id as Breakpad writes it: the first 16 bytes as a GUID, and an age of 0.
fn breakpad_id(build_id: &str) -> String {
    let mut digits: Vec<char> = build_id.to_uppercase().chars().take(32).collect();
    digits.resize(32, '0');
    let field = |range: std::ops::Range<usize>| {
        let bytes = digits[range].chunks(2).rev();
        bytes.flatten().collect::<String>()
    };
    let rest: String = digits[16..].iter().collect();
    field(0..8) + &field(8..12) + &field(12..16) + &rest + "0"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_ids_are_written_as_breakpad_does() {
        assert_eq!(
            breakpad_id("30c71a2a9e9a1bcd0f1122334455667788990011"),
            "2A1AC7309A9ECD1B0F11223344556677".to_owned() + "0"
        );
        assert_eq!(breakpad_id("ab"), "000000AB0000000000000000000000000");
    }
}
