//! The interface: as `rprof tui`, but for the last seconds instead of a file.

use super::super::tui::{CodeReader, answer, free_name, log, save_view};
use super::window::LiveWindow;
use crate::args::TopViewArgs;
use anyhow::{Context, Result, anyhow};
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use rprof_base::Counted;
use rprof_locate::Locator;
use rprof_profile::SampledProfile;
use rprof_record::{NextSegment, RecordedSegment, Segments};
use rprof_report::{quality_advice, quality_line};
use rprof_tui::{
    App, EarlyKeys, Face, Look, SampleScope, SaveForm, Saved, TuiData, TuiSettings, TuiUpdate,
    WantedCode, WantedComparison, Wires, run,
};
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The interface and its data.
pub(super) struct Interface {
    shared: Arc<Shared>,
    view: TopViewArgs,
    terminal: (Look, (u16, u16)),
    to: Sender<TuiUpdate>,
    from: Receiver<TuiUpdate>,
}

/// State shared by the thread that reads segments and the one that owns the terminal.
struct Shared {
    window: Mutex<LiveWindow>,
    is_paused: AtomicBool,
    /// The interface has ended.
    is_over: AtomicBool,
}

/// Segments that are kept while it pauses, at most: of more, the oldest are left out.
const MOST_PENDING: usize = 64;

/// How long a segment is waited for at a time; the same while it pauses.
const WAIT: Duration = Duration::from_secs(3600);
const WAIT_PAUSED: Duration = Duration::from_millis(100);

impl Interface {
    /// Returns it, and what ends it.
    pub(super) fn new(
        window: LiveWindow,
        view: TopViewArgs,
        terminal: (Look, (u16, u16)),
    ) -> (Self, impl Fn()) {
        let (to, from) = bounded(2);
        let shared = Arc::new(Shared {
            window: Mutex::new(window),
            is_paused: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
        });
        let (end, ended) = (to.clone(), Arc::clone(&shared));
        let quit = move || {
            ended.is_over.store(true, Ordering::Relaxed);
            // Where there is no room, it is asked for again.
            let _ = end.send_timeout(TuiUpdate::End, WAIT_PAUSED);
        };
        let interface = Self {
            shared,
            view,
            terminal,
            to,
            from,
        };
        (interface, quit)
    }

    /// Shows what comes, until somebody leaves, or is made to.
    pub(super) fn show(self, segments: Segments) -> Result<()> {
        let segments = Arc::new(segments);
        let (look, size) = self.terminal;
        let settings = TuiSettings {
            look,
            size,
            keys: self.view.keys(),
            weighing: self.view.weighing(),
            event: 0,
            is_live: true,
        };
        let waits = TuiData {
            title: "rprof top".to_owned(),
            quality: "waiting for samples".to_owned(),
            ..TuiData::default()
        };
        let mut feed = Feed {
            shared: Arc::clone(&self.shared),
            segments: Arc::clone(&segments),
            to: self.to.clone(),
            pending: VecDeque::new(),
            n_dropped: 0,
        };
        let reader = thread::Builder::new().name("rprof-read".to_owned());
        let reader = reader
            .spawn(move || feed.run())
            .context("starting a thread")?;
        let mut app = App::new(waits, settings);
        let (asked, wanted) = unbounded();
        let (shared, to) = (Arc::clone(&self.shared), self.to);
        // It ends with the program: what it reads nobody waits for.
        let code = thread::Builder::new().name("rprof-code".to_owned());
        code.spawn(move || read_code(&shared, &wanted, &to))
            .context("starting a thread")?;
        let mut face = LiveFace {
            shared: Arc::clone(&self.shared),
            asked,
        };
        let wires = Wires {
            out: || Box::new(io::stdout()),
            updates: self.from,
            signals: None,
            log: log()?,
            early: EarlyKeys::default(),
        };
        let shown = run(&mut app, &mut face, wires);
        self.shared.is_over.store(true, Ordering::Relaxed);
        segments.stop();
        let read = reader.join();
        shown?;
        read.unwrap_or_else(|_| Err(anyhow::anyhow!("the thread that reads samples failed")))?;
        match &self.view.save {
            Some(path) => self.shared.window().save_and_say(path),
            None => Ok(()),
        }
    }
}

impl Shared {
    fn is_paused(&self) -> bool {
        self.is_paused.load(Ordering::Relaxed)
    }

    fn window(&self) -> std::sync::MutexGuard<'_, LiveWindow> {
        self.window.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A segment that is not read yet.
struct PendingSegment {
    segment: RecordedSegment,
    /// Those before it were left out.
    is_after_gap: bool,
}

/// Reads segments, and sends what is in the window.
struct Feed {
    shared: Arc<Shared>,
    segments: Arc<Segments>,
    to: Sender<TuiUpdate>,
    /// Those that came while it pauses.
    pending: VecDeque<PendingSegment>,
    /// Samples that were left out.
    n_dropped: u64,
}

impl Feed {
    fn run(&mut self) -> Result<()> {
        let done = self.read();
        if done.is_err() {
            // What is wrong is said when the terminal is free.
            let _ = self.to.send(TuiUpdate::End);
        }
        done
    }

    fn read(&mut self) -> Result<()> {
        let mut has_ended = false;
        loop {
            if self.shared.is_over.load(Ordering::Relaxed) {
                return Ok(());
            }
            if has_ended {
                if self.shared.is_paused() {
                    thread::sleep(WAIT_PAUSED);
                    continue;
                }
                return self.flush(has_ended);
            }
            let wait = if self.pending.is_empty() {
                WAIT
            } else {
                WAIT_PAUSED
            };
            match self.segments.next(wait) {
                NextSegment::End => has_ended = true,
                NextSegment::NotYet => {}
                NextSegment::Segment(segment) => self.take(segment),
            }
            if !self.shared.is_paused() && !self.pending.is_empty() {
                self.flush(false)?;
            }
        }
    }

    fn take(&mut self, segment: RecordedSegment) {
        let n_dropped = self.segments.take_dropped();
        self.n_dropped += n_dropped;
        self.pending.push_back(PendingSegment {
            segment,
            is_after_gap: n_dropped > 0,
        });
        if self.pending.len() > MOST_PENDING
            && let Some(oldest) = self.pending.pop_front()
        {
            self.n_dropped += oldest.segment.samples;
            let next = self.pending.front_mut();
            next.into_iter().for_each(|next| next.is_after_gap = true);
        }
    }

    /// Reads what is pending, and sends what is in the window then.
    fn flush(&mut self, has_ended: bool) -> Result<()> {
        let mut window = self.shared.window();
        if self.shared.is_paused() && !has_ended {
            // Since it was asked.
            return Ok(());
        }
        for pending in self.pending.drain(..) {
            if pending.is_after_gap {
                window.skip();
            }
            window.take(pending.segment)?;
        }
        let data = data(&window, self.n_dropped, has_ended);
        drop(window);
        // If nobody looks any more, that is said elsewhere.
        let _ = self.to.send(TuiUpdate::Data(Box::new(data)));
        Ok(())
    }
}

/// The data in the window.
fn data(window: &LiveWindow, n_dropped: u64, has_ended: bool) -> TuiData {
    let sampled: &SampledProfile = window.sampled();
    let profile = &sampled.profile;
    let state = if has_ended { "ended, " } else { "" };
    let mut quality = format!("{:.0}/s, ", window.rate);
    let lost = window.lost();
    if lost.samples > 0 {
        quality += &format!("{lost} in {:.1} s, ", window.time().as_secs_f64());
    }
    quality += &quality_line(profile);
    for (n, why) in [(n_dropped, "not shown"), (window.left_out(), "omitted")] {
        if n > 0 {
            quality += &format!(", {} {why}", Counted::new(n, "sample", "samples"));
        }
    }
    TuiData {
        sampled: sampled.clone(),
        scope: window.scope(),
        accounts: Vec::new(),
        title: format!("{state}last {:.0} s", window.time().as_secs_f64()),
        quality,
        advice: quality_advice(profile),
        about: profile.warnings.clone(),
    }
}

/// Reads code of what is in the window when it is asked for.
fn read_code(shared: &Shared, asked: &Receiver<WantedCode>, to: &Sender<TuiUpdate>) {
    let code = CodeReader::of_live(shared.window().filter());
    answer(asked, to, |wanted| {
        let code = code.as_ref().map_err(|error| anyhow!("{error:#}"))?;
        let (reader, has_all) = {
            let mut window = shared.window();
            (window.copied()?, window.has_all_segments())
        };
        let locator = Locator {
            budget: reader.budget().clone(),
            ..Locator::default()
        };
        let mut lines = code.lines((&reader, &locator), wanted, &mut None)?;
        if !has_all {
            lines.note = lines.note.or(Some("latest samples only"));
        }
        Ok(lines)
    });
}

/// The program as seen by the interface.
struct LiveFace {
    shared: Arc<Shared>,
    /// Channel to the thread that reads code.
    asked: Sender<WantedCode>,
}

impl Face for LiveFace {
    fn ask_code(&mut self, wanted: WantedCode) -> Result<(), String> {
        let sent = self.asked.send(wanted);
        sent.map_err(|_| "code can no longer be read".to_owned())
    }

    fn ask_scope(&mut self, _: SampleScope) -> Result<(), String> {
        Err("rprof top shows what it was started for: --off-cpu, --wall".to_owned())
    }

    fn ask_comparison(&mut self, _: WantedComparison) -> Result<(), String> {
        Err("rprof tui compares times: save the samples (s), and open the file".to_owned())
    }

    fn save(&mut self, saved: &Saved<'_>) -> Result<String, String> {
        let save = || match saved.form {
            SaveForm::Recording => {
                let path = free_name(saved.form)?;
                self.shared.window().save(&path)?;
                Ok(path.display().to_string())
            }
            _ => save_view(saved),
        };
        save().map_err(|error: anyhow::Error| format!("{error:#}"))
    }

    fn pause(&mut self, is_paused: bool) {
        // Not while something is added to it: what is seen then is what is in it.
        let _window = self.shared.window();
        self.shared.is_paused.store(is_paused, Ordering::Relaxed);
    }
}
