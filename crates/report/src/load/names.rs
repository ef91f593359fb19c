//! Between the passes: every place gets its frames, in parallel by image.

use super::Context;
use super::embedded::Embedded;
use super::kernel::Kernel;
use super::parallel::{self, Threads};
use super::resolve::{PlaceKey, TRUNCATED, UNMAPPED_KERNEL, UNMAPPED_OTHER};
use crate::Error;
use foldhash::HashMap;
use rprof_base::{Avma, FileOffset};
use rprof_machine::{ImageId, ImageKind, RecordedImage};
use rprof_profile::{FrameId, FrameInfo, Level, Profile, StrId};
use rprof_symbols::{Answers, Detail, Reason, Request, symbolize_user};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Mutex;

/// Places and their frames.
#[derive(Debug)]
pub(crate) struct Names {
    places: Vec<PlaceKey>,
    numbers: HashMap<PlaceKey, u32>,
    /// Whether places are those of stacks.
    in_stacks: bool,
    /// Ends of each place's frames; they start where those of the place before end.
    ends: Vec<u32>,
    frames: Vec<FrameId>,
    /// File and line of each frame, if they are wanted.
    lines: Option<Vec<Option<(StrId, u32)>>>,
    /// Bytes from the start of each place's function to the place.
    offsets: Vec<u64>,
    /// Whether each place has a name.
    is_named: Vec<bool>,
    /// Images that lack names, with the reason.
    pub(crate) unnamed: Vec<(ImageId, Reason)>,
}

/// The places of one image.
pub(crate) struct Task<'a> {
    /// Its image; `None` for addresses that no mapping holds.
    pub(crate) image: Option<(ImageId, &'a RecordedImage)>,
    pub(crate) places: Range<usize>,
}

/// What is known of a task's places, in their order.
pub(crate) type Answered = Result<Answers, Reason>;

impl Names {
    /// Frames of a place, innermost first.
    #[inline]
    pub(crate) fn frames(&self, place: u32) -> &[FrameId] {
        self.frames.get(self.range(place)).unwrap_or_default()
    }

    /// File and line of a place's frames, innermost first; empty if they are not wanted.
    pub(crate) fn lines(&self, place: u32) -> &[Option<(StrId, u32)>] {
        let lines = self.lines.as_deref().unwrap_or_default();
        lines.get(self.range(place)).unwrap_or_default()
    }

    fn range(&self, place: u32) -> Range<usize> {
        let end = |idx: u32| self.ends.get(idx as usize).map_or(0, |&end| end as usize);
        let start = place.checked_sub(1).map_or(0, end);
        start..end(place)
    }

    /// Bytes from the start of a place's function to the place; 0 without a name.
    pub(crate) fn offset(&self, place: u32) -> u64 {
        self.offsets.get(place as usize).copied().unwrap_or(0)
    }

    /// The number of a place. All places that occur were collected before.
    #[inline]
    pub(crate) fn place(&self, key: PlaceKey) -> u32 {
        let key = match self.in_stacks {
            true => key.in_stacks(),
            false => key,
        };
        self.numbers.get(&key).copied().unwrap_or(u32::MAX)
    }

    /// The image of a place without a name, if there is a reason why it has none.
    #[inline]
    pub(crate) fn unnamed_image(&self, place: u32) -> Option<ImageId> {
        if self.unnamed.is_empty() || self.is_named(place) {
            return None;
        }
        let image = ImageId(self.places.get(place as usize)?.image);
        // In the order of images, as tasks are.
        let found = self.unnamed.binary_search_by_key(&image, |&(id, _)| id);
        found.is_ok().then_some(image)
    }

    /// Whether a place has a name.
    pub(crate) fn is_named(&self, place: u32) -> bool {
        self.is_named.get(place as usize).copied().unwrap_or(false)
    }

    /// Names all places; `places` must be sorted.
    pub(crate) fn find(
        context: &Context<'_>,
        places: Vec<PlaceKey>,
        request: Request,
        profile: &mut Profile,
    ) -> Result<Self, Error> {
        let embedded = Embedded::of(context.reader);
        profile.warnings.extend(embedded.warning.clone());
        let answers = answer_all(context, &places, request, &embedded)?;
        profile.warnings.extend(context.servers_say());
        let most = context.reader.budget().limits().memory;
        let tables = context.tables.iter();
        profile
            .warnings
            .extend(tables.flat_map(|tables| tables.warnings(most)));
        let mut names = Self {
            ends: Vec::with_capacity(places.len()),
            frames: Vec::new(),
            lines: (request.detail == Detail::Lines).then(Vec::new),
            offsets: Vec::with_capacity(places.len()),
            is_named: Vec::with_capacity(places.len()),
            unnamed: Vec::new(),
            in_stacks: context.chains.stacks,
            numbers: (0..).zip(&places).map(|(n, &place)| (place, n)).collect(),
            places: Vec::new(),
        };
        // In the order of places, not of threads: same input, same numbers.
        for (task, answered) in answers {
            names.add(context, &task, &places, answered, profile);
        }
        names.places = places;
        Ok(names)
    }

    fn add(
        &mut self,
        context: &Context<'_>,
        task: &Task<'_>,
        places: &[PlaceKey],
        answered: Option<Answered>,
        profile: &mut Profile,
    ) {
        let image = match task.image {
            Some((_, image)) => String::from_utf8_lossy(&image.short_name()).into_owned(),
            None => "[unknown]".to_owned(),
        };
        let image = profile.strings.intern(&image);
        if let Some((_, image)) = task
            .image
            .filter(|_| answered.as_ref().is_some_and(is_over_budget))
        {
            profile.warnings.push(format!(
                "{}: what its files say takes more memory than --mem {}, or nests too deep: names, \
                 inlined functions or lines of it are left out",
                String::from_utf8_lossy(&image.path),
                context.reader.budget().limits().memory,
            ));
        }
        let answers = match answered {
            Some(Ok(answers)) => answers,
            Some(Err(reason)) => {
                self.unnamed.extend(task.image.map(|(id, _)| (id, reason)));
                Answers::default()
            }
            None => Answers::default(),
        };
        if let Some((_, image)) = task.image.filter(|_| answers.n_malformed() > 0) {
            profile.warnings.push(format!(
                "{}: {} lines make no sense and are passed over",
                String::from_utf8_lossy(&image.path),
                answers.n_malformed()
            ));
        }
        let own = &places[task.places.clone()];
        if let (Some((id, _)), Some(lack)) = (task.image, answers.lack())
            && (0..own.len()).any(|idx| answers.frames(idx).is_empty())
        {
            self.unnamed.push((id, lack.clone()));
        }
        let is_run_time = task
            .image
            .is_some_and(|(_, image)| image.is_run_time_code());
        for (idx, place) in own.iter().enumerate() {
            let level = level_of(place, task.image.map(|(_, image)| image));
            let named = answers.frames(idx);
            let own_name = own_name(place, task.image.map(|(_, image)| image));
            self.is_named.push(!named.is_empty() || own_name.is_some());
            for frame in named {
                if let Some(lines) = &mut self.lines {
                    let mut file = |file| profile.strings.intern(answers.name(file));
                    lines.push(frame.line.map(|line| (file(line.file), line.line)));
                }
                let name = profile.strings.intern(answers.name(frame.name));
                self.frames.push(profile.frames.intern(FrameInfo {
                    name: Some(name),
                    image,
                    start: Some(frame.start),
                    level,
                    is_inlined: frame.is_inlined,
                    is_run_time,
                }));
            }
            if named.is_empty() {
                if let Some(lines) = &mut self.lines {
                    lines.push(None);
                }
                // Stacks with an address for every frame without a name would grow with the
                // recording: there, an image's nameless code counts as one.
                let address = (!context.chains.stacks).then_some(place.address);
                self.frames.push(profile.frames.intern(FrameInfo {
                    start: if own_name.is_some() { Some(0) } else { address },
                    name: own_name.map(|name| profile.strings.intern(&name)),
                    image,
                    level,
                    is_inlined: false,
                    is_run_time,
                }));
            }
            self.offsets
                .push(named.last().map_or(0, |frame| frame.offset));
            self.ends
                .push(u32::try_from(self.frames.len()).unwrap_or(u32::MAX));
        }
    }
}

/// The name of a place that needs no symbols.
fn own_name<'a>(place: &PlaceKey, image: Option<&'a RecordedImage>) -> Option<Cow<'a, str>> {
    match image {
        // One piece of code: BPF programs are named by the record that announced them.
        Some(image) => matches!(image.kind, ImageKind::KernelSymbol | ImageKind::OutOfLine)
            .then(|| String::from_utf8_lossy(&image.path)),
        None => (place.image == TRUNCATED).then_some(Cow::Borrowed("[truncated]")),
    }
}

fn level_of(place: &PlaceKey, image: Option<&RecordedImage>) -> Level {
    match image.map(|image| image.kind) {
        Some(ImageKind::User) => Level::User,
        Some(ImageKind::GuestKernel) => Level::GuestKernel,
        Some(ImageKind::GuestUser) => Level::GuestUser,
        Some(_) => Level::Kernel,
        None if place.image == UNMAPPED_KERNEL => Level::Kernel,
        None if place.image == UNMAPPED_OTHER => Level::Hypervisor,
        None => Level::User,
    }
}

/// Answers for all places, which must be sorted: in parallel by image, in the order of places.
/// `None` for places of images that nothing can name.
pub(crate) fn answer_all<'a>(
    context: &Context<'a>,
    places: &[PlaceKey],
    request: Request,
    embedded: &Embedded,
) -> Result<Vec<(Task<'a>, Option<Answered>)>, Error> {
    // One image may have most of the places: it gets threads of its own for them.
    let request = Request {
        n_threads: parallel::n_cpus(),
        ..request
    };
    let tasks = tasks_of(context, places);
    let work = work_of(&tasks);
    let answers: Vec<Mutex<Option<Answered>>> = tasks.iter().map(|_| Mutex::new(None)).collect();
    let answer = |work: &[usize]| {
        let kernel = OnceCell::new();
        for &idx in work {
            let task = &tasks[idx];
            let Some((_, image)) = task.image else {
                continue;
            };
            let own = &places[task.places.clone()];
            let find = |places: &[PlaceKey]| task.answer(context, places, request, &kernel);
            let answered = embedded.name(image, own, request, find);
            if let Ok(mut slot) = answers[idx].lock() {
                *slot = answered;
            }
        }
        Ok(())
    };
    let all = (work.len(), Threads::All);
    parallel::for_each(all, || (), |(), turn| answer(&work[turn]), &mut |_| {})?;
    let work = work_again(context, &tasks, &work);
    if !work.is_empty() {
        let all = (work.len(), Threads::All);
        parallel::for_each(all, || (), |(), turn| answer(&work[turn]), &mut |_| {})?;
    }
    // What did not fit beside other files may fit alone.
    for (idx, slot) in answers.iter().enumerate() {
        let is_over_budget = |slot: &Option<Answered>| slot.as_ref().is_some_and(is_over_budget);
        if slot.lock().is_ok_and(|slot| is_over_budget(&slot)) {
            answer(&[idx])?;
        }
    }
    let answers = answers.into_iter();
    let answers = answers.map(|answered| answered.into_inner().ok().flatten());
    Ok(tasks.into_iter().zip(answers).collect())
}

/// Whether something was left out of an image's files, so that they fit into the budget.
fn is_over_budget(answered: &Answered) -> bool {
    match answered {
        Ok(answers) => answers.is_over_budget(),
        Err(reason) => *reason == Reason::OverBudget,
    }
}

/// Runs of places with the same image.
fn tasks_of<'a>(context: &Context<'a>, places: &[PlaceKey]) -> Vec<Task<'a>> {
    let images = context.skimmed.history.images();
    let mut tasks = Vec::new();
    let mut start = 0;
    for run in places.chunk_by(|a, b| a.image == b.image) {
        let end = start + run.len();
        let id = run.first().map(|place| ImageId(place.image));
        tasks.push(Task {
            image: id.and_then(|id| Some((id, images.of(id)?))),
            places: start..end,
        });
        start = end;
    }
    tasks
}

/// Tasks as pieces of work, the longest first so that no thread is left with one at the end: the
/// kernel with its modules, whose list of symbols is read once and forgotten, then images by
/// their number of places.
fn work_of(tasks: &[Task<'_>]) -> Vec<Vec<usize>> {
    let all = 0..tasks.len();
    let (kernel, mut images): (Vec<usize>, Vec<usize>) =
        all.partition(|&idx| tasks[idx].is_kernel());
    images.sort_by_key(|&idx| std::cmp::Reverse(tasks[idx].places.len()));
    let mut work = vec![kernel];
    work.extend(images.into_iter().map(|idx| vec![idx]));
    work
}

/// What servers have sent a file for since: of the same work, those tasks.
fn work_again(context: &Context<'_>, tasks: &[Task<'_>], work: &[Vec<usize>]) -> Vec<Vec<usize>> {
    context.wait_for_servers();
    let has_come = |idx: &usize| {
        let image = tasks[*idx].image;
        image.is_some_and(|(_, image)| context.has_come(image))
    };
    work.iter()
        .map(|turn| turn.iter().copied().filter(has_come).collect::<Vec<_>>())
        .filter(|turn| !turn.is_empty())
        .collect()
}

impl Task<'_> {
    fn is_kernel(&self) -> bool {
        let kind = self.image.map(|(_, image)| image.kind);
        matches!(
            kind,
            Some(ImageKind::Kernel { .. } | ImageKind::Module { .. })
        )
    }

    fn answer<'c>(
        &self,
        context: &Context<'c>,
        places: &[PlaceKey],
        request: Request,
        kernel: &OnceCell<Kernel<'c>>,
    ) -> Option<Answered> {
        let (id, image) = self.image?;
        match image.kind {
            ImageKind::User => {
                let offsets: Vec<FileOffset> = places
                    .iter()
                    .map(|place| FileOffset(place.address))
                    .collect();
                let run_time = context.name_run_time_code((id, image), &offsets, request);
                if run_time.is_some() {
                    return run_time;
                }
                let located = context.locate(id, image).map_err(Reason::NoFile);
                Some(located.and_then(|located| symbolize_user(&located, &offsets, request)))
            }
            ImageKind::Kernel { .. } | ImageKind::Module { .. } => {
                let addresses: Vec<Avma> = places.iter().map(|place| Avma(place.address)).collect();
                let kernel = kernel.get_or_init(|| Kernel::of(context));
                Some(kernel.name(image, &addresses, request))
            }
            ImageKind::KernelSymbol
            | ImageKind::OutOfLine
            | ImageKind::GuestKernel
            | ImageKind::GuestUser => None,
        }
    }
}
