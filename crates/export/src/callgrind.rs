//! Callgrind's format, as KCachegrind and `callgrind_annotate` read it: costs of lines of functions, and
//! of the calls between functions.
//!
//! Source: Callgrind's manual, "Callgrind Format Specification" (Valgrind 3.19).

use crate::Format;
use foldhash::fast::RandomState;
use rprof_base::Interner;
use rprof_profile::{CodeFrame, CountedStacks, FrameId, StrId};
use rprof_untrusted::printable;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Write};

/// What [KCachegrind](https://kcachegrind.github.io) opens.
///
/// A sample's cost is its weight. It is of the innermost function, and of each call on its stack that
/// enters a function for the first time: so what a function's calls cost is what the report says of the
/// function and all that it calls, recursive or not. Callers of the outermost functions are the
/// threads, by name. How often functions were called is not known: a call's number is that of its
/// samples.
#[derive(Clone, Copy, Debug)]
pub struct Callgrind;

/// What Callgrind writes for what it does not know.
const UNKNOWN: &str = "???";

impl Format for Callgrind {
    type Source = CountedStacks;

    fn write(&self, stacks: &CountedStacks, out: &mut dyn Write) -> io::Result<()> {
        let mut table = Table::default();
        for ((stack, comm), cost) in costs_of(stacks) {
            table.add_stack(stacks, (stack, comm), &cost);
        }
        write_header(stacks, out)?;
        table.write(out)
    }
}

/// Samples, and their weights by event.
#[derive(Clone, Default)]
struct Cost {
    samples: u64,
    weights: Vec<u64>,
}

impl Cost {
    fn add(&mut self, other: &Self) {
        self.samples += other.samples;
        self.weights.resize(other.weights.len(), 0);
        for (sum, weight) in self.weights.iter_mut().zip(&other.weights) {
            *sum = sum.saturating_add(*weight);
        }
    }

    fn write(&self, line: u32, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{line}")?;
        for weight in &self.weights {
            write!(out, " {weight}")?;
        }
        writeln!(out)
    }
}

/// By stack and thread's name.
fn costs_of(stacks: &CountedStacks) -> BTreeMap<(Option<u32>, StrId), Cost> {
    let n_events = stacks.profile.events.len();
    let mut costs: BTreeMap<(Option<u32>, StrId), Cost> = BTreeMap::new();
    for one in &stacks.counts {
        let Some(thread) = stacks.threads.get(one.thread as usize) else {
            continue;
        };
        let cost = costs.entry((one.stack, thread.comm)).or_default();
        cost.weights.resize(n_events, 0);
        cost.samples += one.count.samples;
        if let Some(sum) = cost.weights.get_mut(one.event as usize) {
            *sum = sum.saturating_add(one.count.weight);
        }
    }
    costs
}

fn write_header(stacks: &CountedStacks, out: &mut dyn Write) -> io::Result<()> {
    let profile = &stacks.profile;
    writeln!(out, "# callgrind format\nversion: 1")?;
    writeln!(out, "creator: rprof {}", env!("CARGO_PKG_VERSION"))?;
    let command = profile.about.command.join(" ");
    if !command.is_empty() {
        writeln!(out, "cmd: {}", printable(&command))?;
    }
    for event in profile.events.iter().filter(|event| event.loss.samples > 0) {
        writeln!(out, "desc: Lost: {}: {}", event.name, event.loss)?;
    }
    if let Some(how) = profile.unwound.summary() {
        writeln!(out, "desc: Stacks: {how}")?;
    }
    writeln!(out, "positions: line")?;
    let mut names: Vec<String> = Vec::new();
    for event in &profile.events {
        let mut name = event.name.shown().replace(char::is_whitespace, "_");
        while names.contains(&name) {
            name.push('\'');
        }
        names.push(name);
    }
    writeln!(out, "events: {}", names.join(" "))?;
    let weights = profile.events.iter().map(|event| event.weight.to_string());
    writeln!(out, "summary: {}", weights.collect::<Vec<_>>().join(" "))
}

/// What a function is told apart by: code, or a thread's name; and the image's number.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum FunctionKey {
    Frame(FrameId, u32),
    Thread(StrId),
    /// Of samples without a stack.
    Unknown,
}

/// By numbers of names.
struct Function {
    image: u32,
    file: u32,
    name: u32,
}

/// A line of a function, or a call there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Position {
    function: u32,
    /// Lines of files that the function includes come last.
    is_included: bool,
    file: u32,
    line: u32,
    callee: Option<u32>,
}

/// What is written.
#[derive(Default)]
struct Table {
    images: Interner<u32, String, RandomState>,
    files: Interner<u32, String, RandomState>,
    names: Interner<u32, String, RandomState>,
    functions: Interner<u32, Function, RandomState, FunctionKey>,
    costs: BTreeMap<Position, Cost>,
}

impl Table {
    fn add_stack(&mut self, stacks: &CountedStacks, of: (Option<u32>, StrId), cost: &Cost) {
        let (stack, comm) = of;
        let mut path = Vec::new();
        for node in stacks.stacks.path(stack) {
            if let Some(code) = stacks.code.of(node) {
                path.extend(code.frames.iter().map(|frame| (code.image, frame)));
            }
        }
        let thread = self.function_of(FunctionKey::Thread(comm), stacks, None);
        let mut here = self.position(stacks, thread, None);
        let mut entered = HashSet::from([thread]);
        for (image, frame) in path.into_iter().rev() {
            let key = FunctionKey::Frame(frame.frame, image);
            let function = self.function_of(key, stacks, Some(frame));
            self.call(here, function, cost, entered.insert(function));
            here = self.position(stacks, function, Some(frame));
        }
        if stack.is_none() {
            let unknown = self.function_of(FunctionKey::Unknown, stacks, None);
            self.call(here, unknown, cost, true);
            here = self.position(stacks, unknown, None);
        }
        self.costs.entry(here).or_default().add(cost);
    }

    /// Counts a call; one that enters no function for the first time costs nothing.
    fn call(&mut self, from: Position, callee: u32, cost: &Cost, is_first: bool) {
        let callee = Some(callee);
        let sum = self.costs.entry(Position { callee, ..from }).or_default();
        if is_first {
            sum.add(cost)
        } else {
            sum.add(&Cost {
                samples: cost.samples,
                weights: vec![0; cost.weights.len()],
            })
        }
    }

    fn function_of(
        &mut self,
        key: FunctionKey,
        stacks: &CountedStacks,
        code: Option<&CodeFrame>,
    ) -> u32 {
        let strings = &stacks.profile.strings;
        let Self {
            images,
            files,
            names,
            functions,
            ..
        } = self;
        functions.intern_with(key, |_| {
            let (image, name) = match key {
                FunctionKey::Frame(frame, image) => {
                    let image = stacks.code.images.get(image as usize);
                    let path = image.map_or(UNKNOWN, |image| strings.of(image.path).into_raw());
                    (path, stacks.profile.frames.label(frame, strings).into_raw())
                }
                FunctionKey::Thread(comm) => {
                    (UNKNOWN, format!("thread {}", strings.of(comm).raw()))
                }
                FunctionKey::Unknown => (UNKNOWN, "[unknown]".to_owned()),
            };
            let line = code.and_then(|code| code.line);
            let file = line.map_or(UNKNOWN, |(file, _)| strings.of(file).into_raw());
            Function {
                image: images.intern_ref(image),
                file: files.intern_ref(file),
                name: names.intern_ref(name.as_str()),
            }
        })
    }

    fn position(
        &mut self,
        stacks: &CountedStacks,
        function: u32,
        code: Option<&CodeFrame>,
    ) -> Position {
        let own = self.functions.get(function).map_or(0, |known| known.file);
        let (file, line) = match code.and_then(|code| code.line) {
            Some((file, line)) => {
                let file = stacks.profile.strings.of(file).into_raw();
                (self.files.intern_ref(file), line)
            }
            None => (own, 0),
        };
        Position {
            function,
            is_included: file != own,
            file,
            line,
            callee: None,
        }
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut names = Names::new(self);
        let mut last: Option<Position> = None;
        for (position, cost) in &self.costs {
            if last.is_none_or(|last| last.function != position.function) {
                let function = &self.functions.values()[position.function as usize];
                writeln!(out)?;
                names.write("ob", Kind::Image, function.image, out)?;
                names.write("fl", Kind::File, function.file, out)?;
                names.write("fn", Kind::Name, function.name, out)?;
                if position.is_included {
                    names.write("fi", Kind::File, position.file, out)?;
                }
            } else if last.is_some_and(|last| last.file != position.file) {
                names.write("fi", Kind::File, position.file, out)?;
            }
            if let Some(callee) = position.callee {
                let callee = &self.functions.values()[callee as usize];
                names.write("cob", Kind::Image, callee.image, out)?;
                names.write("cfi", Kind::File, callee.file, out)?;
                names.write("cfn", Kind::Name, callee.name, out)?;
                writeln!(out, "calls={} 0", cost.samples)?;
            }
            cost.write(position.line, out)?;
            last = Some(*position);
        }
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Image,
    File,
    Name,
}

/// Names are written once, and then by their numbers.
struct Names<'t> {
    table: &'t Table,
    written: HashMap<Kind, HashSet<u32>>,
}

impl<'t> Names<'t> {
    fn new(table: &'t Table) -> Self {
        Self {
            table,
            written: HashMap::new(),
        }
    }

    fn write(&mut self, key: &str, kind: Kind, number: u32, out: &mut dyn Write) -> io::Result<()> {
        let all = match kind {
            Kind::Image => &self.table.images,
            Kind::File => &self.table.files,
            Kind::Name => &self.table.names,
        };
        let name = all.get(number).map_or(UNKNOWN, String::as_str);
        let id = u64::from(number) + 1;
        if self.written.entry(kind).or_default().insert(number) {
            writeln!(out, "{key}=({id}) {}", printable(name))
        } else {
            writeln!(out, "{key}=({id})")
        }
    }
}
