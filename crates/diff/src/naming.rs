//! What rows are called: the same on both sides for what is the same.

use crate::recordings::Recordings;
use foldhash::{HashMap, HashSet};
use rprof_profile::difference::{FunctionMatch, MatchedBy, Programs, SideFunctions, stable_name};
use rprof_profile::run::{Run, RunEvent};
use rprof_profile::view::SortKey;
use rprof_profile::{FrameId, FrameInfo, Group};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// How functions and images of two sides are found to be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum NameMatching {
    /// By names without what compilers add, images by build id or name.
    #[default]
    Similar,
    /// By their very names, as perf has it.
    Exact,
}

/// What a frame is called.
#[derive(Clone, Copy, Debug)]
struct FrameCells {
    image: u32,
    symbol: u32,
    line: u32,
}

/// What frames of all recordings are called.
#[derive(Clone, Debug, Default)]
pub(crate) struct Naming {
    texts: Vec<String>,
    numbers: HashMap<String, u32>,
    /// By recording and number of the frame.
    frames: Vec<Vec<FrameCells>>,
    /// Images and symbols of functions that have other names on the sides, and of all others; each once more without
    /// its image.
    renamed: HashSet<(Option<u32>, u32)>,
    kept: HashSet<(Option<u32>, u32)>,
    renamed_program: Option<(String, String)>,
    /// What functions are called in stacks, by their texts of image and symbol.
    stack_labels: HashMap<(String, String), String>,
    /// What functions are called here, by names that they have in recordings.
    labels: BTreeMap<String, String>,
}

impl Naming {
    /// Names all frames.
    pub(crate) fn of(recordings: &Recordings, matching: NameMatching) -> Self {
        let mut naming = Self::default();
        naming.number(String::new());
        match matching {
            NameMatching::Exact => naming.name_exactly(recordings),
            NameMatching::Similar => naming.name_matched(recordings),
        }
        naming
    }

    fn name_exactly(&mut self, recordings: &Recordings) {
        for (_, one) in recordings.all() {
            let run = &one.run;
            let cells = run.frames.ids().map(|id| {
                let frame = run.frames.of(run.frames.function_of(id));
                let symbol = FrameInfo {
                    is_inlined: false,
                    // Code without names is one row of an image.
                    start: frame.start.filter(|_| frame.is_fde),
                    ..*frame
                };
                FrameCells {
                    image: self.number(run.strings.of(frame.image).to_string()),
                    symbol: self.number(symbol.symbol(&run.strings)),
                    line: self.line_of(run, id),
                }
            });
            let cells = cells.collect();
            self.frames.push(cells);
        }
    }

    fn name_matched(&mut self, recordings: &Recordings) {
        let programs: Vec<Programs> = recordings
            .all()
            .map(|(_, one)| programs(&one.run))
            .collect();
        let sides = recordings.all().zip(&programs);
        let sides = sides.map(|((side, one), programs)| SideFunctions {
            side,
            programs,
            frames: &one.run.frames,
            strings: &one.run.strings,
            images: &one.run.images,
        });
        let sides: Vec<SideFunctions<'_>> = sides.collect();
        let matched = FunctionMatch::of(&sides);
        let functions = matched.functions().iter().map(|function| {
            let symbol = format!("[{}] {}", function.level.sign(), function.label);
            let image = function.image.to_string();
            let cells = (image.clone(), symbol.clone());
            self.stack_labels.insert(cells, function.stack_label());
            let symbol = self.number(symbol);
            let image = self.number(image);
            let functions = if function.is_renamed {
                &mut self.renamed
            } else {
                &mut self.kept
            };
            functions.extend([(Some(image), symbol), (None, symbol)]);
            (image, symbol)
        });
        let functions: Vec<(u32, u32)> = functions.collect();
        for (at, (_, one)) in recordings.all().enumerate() {
            self.keep_names(&one.run, |frame| {
                let function = matched
                    .functions()
                    .get(matched.number(at, frame)? as usize)?;
                (function.by != MatchedBy::Name).then(|| function.label.to_string())
            });
            let cells = one.run.frames.ids().map(|id| {
                let function = one.run.frames.function_of(id);
                let number = matched.number(at, function).unwrap_or(u32::MAX);
                let (image, symbol) = functions.get(number as usize).copied().unwrap_or((0, 0));
                FrameCells {
                    image,
                    symbol,
                    line: self.line_of(&one.run, id),
                }
            });
            let cells = cells.collect();
            self.frames.push(cells);
        }
        self.renamed_program = matched.renamed_program().cloned();
    }

    /// Keeps the names of functions that `label` calls otherwise.
    fn keep_names(&mut self, run: &Run, label: impl Fn(FrameId) -> Option<String>) {
        for id in run.frames.ids() {
            if let Some(name) = run.frames.of(id).name
                && let Some(label) = label(id)
            {
                let name = run.strings.of(name).to_string();
                self.labels.entry(name).or_insert(label);
            }
        }
    }

    /// What a function is called here; it may be typed as it was recorded.
    pub(crate) fn resolved<'n>(&'n self, name: &'n str) -> Cow<'n, str> {
        if self.has_function(name) {
            return Cow::Borrowed(name);
        }
        if let Some(label) = self.labels.get(name) {
            return Cow::Borrowed(label);
        }
        let bare = stable_name(name);
        if self.has_function(&bare) {
            bare
        } else {
            Cow::Borrowed(name)
        }
    }

    /// Whether some recording has an image or a thread of this name, in any event.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.numbers.contains_key(name)
    }

    /// The same of a function.
    pub(crate) fn has_function(&self, name: &str) -> bool {
        // Signs of levels: perf's.
        let signs = ['.', 'k', 'H', 'g', 'u'].iter();
        let mut symbols = signs.map(|sign| format!("[{sign}] {name}"));
        self.has(name) || symbols.any(|symbol| self.numbers.contains_key(&symbol))
    }

    fn line_of(&mut self, run: &Run, id: FrameId) -> u32 {
        match run.frames.of(id).position {
            None => 0,
            Some(position) => {
                let file = run.strings.of(position.file);
                let text = match position.line {
                    0 => file.to_string(),
                    line => format!("{file}:{line}"),
                };
                self.number(text)
            }
        }
    }

    fn number(&mut self, text: String) -> u32 {
        if let Some(&number) = self.numbers.get(&text) {
            return number;
        }
        let number = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        self.texts.push(text.clone());
        self.numbers.insert(text, number);
        number
    }

    /// The text with a number.
    pub(crate) fn text(&self, number: u32) -> &str {
        self.texts.get(number as usize).map_or("", String::as_str)
    }

    fn cells(&self, run: usize, frame: FrameId) -> Option<&FrameCells> {
        self.frames.get(run)?.get(frame.number() as usize)
    }

    pub(crate) fn image(&self, run: usize, frame: FrameId) -> u32 {
        self.cells(run, frame).map_or(0, |cells| cells.image)
    }

    pub(crate) fn symbol(&self, run: usize, frame: FrameId) -> u32 {
        self.cells(run, frame).map_or(0, |cells| cells.symbol)
    }

    pub(crate) fn line(&self, run: usize, frame: FrameId) -> u32 {
        self.cells(run, frame).map_or(0, |cells| cells.line)
    }

    /// Whether all functions of a row have other names on the sides.
    pub(crate) fn is_renamed(&self, keys: &[SortKey], cells: &[u32]) -> bool {
        let cell = |wanted: SortKey| {
            let mut cells = keys.iter().zip(cells);
            cells.find_map(|(key, &cell)| (*key == wanted).then_some(cell))
        };
        cell(SortKey::Symbol).is_some_and(|symbol| {
            let function = (cell(SortKey::Dso), symbol);
            self.renamed.contains(&function) && !self.kept.contains(&function)
        })
    }

    /// What functions are called in stacks, by their texts of image and symbol; of exact names none.
    pub(crate) fn into_stack_labels(self) -> HashMap<(String, String), String> {
        self.stack_labels
    }

    /// What the recorded program was called before and after, where it was found by nothing else.
    pub(crate) fn renamed_program(&self) -> Option<&(String, String)> {
        self.renamed_program.as_ref()
    }

    /// The cells of each group of an event, by sort key; of keys of functions nothing.
    pub(crate) fn groups(
        &mut self,
        run: &Run,
        event: &RunEvent,
        keys: &[SortKey],
    ) -> Vec<Vec<u32>> {
        let groups = event.groups.iter();
        let mut cells = |group: &Group| {
            let cells = keys.iter().map(|key| match key {
                SortKey::Comm => self.number(run.strings.of(group.comm).to_string()),
                SortKey::Dimension(one) => match run.values.of(group.values).get(*one) {
                    Some(value) => self.number(one.cell(value, &run.strings)),
                    None => 0,
                },
                SortKey::Dso | SortKey::Symbol | SortKey::Srcline | SortKey::Srcfile => 0,
            });
            cells.collect()
        };
        groups.map(&mut cells).collect()
    }
}

fn programs(run: &Run) -> Programs {
    let groups = run.events.iter().flat_map(|event| &event.groups);
    let threads = groups.map(|group| run.strings.of(group.comm).into_raw());
    let rows = run.events.iter().flat_map(|event| &event.rows);
    let samples = rows.map(|row| (row.frame, row.own.iter().map(|block| block.samples).sum()));
    Programs::of(&run.about, threads, samples)
}
