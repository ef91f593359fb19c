//! What all views show, and the settings that all of them obey.

use super::box_names::BoxNames;
use super::boxes::{Boxes, Found};
use super::table::rows::RowsBy;
use crate::face::SampleScope;
use crate::keys::{KeyHint, letter};
use crate::look::Look;
use crate::matcher::Matcher;
use crate::screen::Screen;
use crate::shown::Shown;
use crate::zoom::{Zoom, percent};
use rprof_base::{Share, grouped};
use rprof_profile::{Account, FrameId, Profile};
use rprof_query::Explorer;
use rprof_untrusted::printable;
use std::sync::Arc;

/// The selection, in any view.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Selected {
    /// The function.
    pub(crate) frame: Option<FrameId>,
    /// Short name of the image.
    pub(crate) image: Option<String>,
    /// The thread, or threads of a name.
    pub(crate) threads: Option<Zoom>,
}

/// The samples that are shown, and how.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) look: Look,
    /// Columns and lines.
    pub(crate) size: (u16, u16),
    pub(crate) explorer: Arc<Explorer>,
    /// Which samples these are.
    pub(crate) scope: SampleScope,
    /// The parts of the time of threads to choose from.
    pub(crate) accounts: Vec<Account>,
    /// Whether any stack has more than one function.
    pub(crate) has_chains: bool,
    /// Whether the data may be replaced (`rprof top`).
    pub(crate) is_live: bool,
    pub(crate) event: usize,
    pub(crate) zooms: Vec<Zoom>,
    /// The shown selection, once counted.
    pub(crate) shown: Option<Shown>,
    /// How rows are grouped and weighed, also when they are saved.
    pub(crate) by: RowsBy,
    /// Rows below it are hidden.
    pub(crate) min_percent: f64,
    /// Matches of a search in trees and graphs.
    pub(crate) found: Option<Found>,
    pub(crate) is_relative: bool,
    pub(crate) has_heading: bool,
    pub(crate) has_dsos: bool,
}

impl Context {
    pub(crate) fn profile(&self) -> &Profile {
        self.explorer.profile()
    }

    pub(crate) fn screen(&self) -> Option<Screen> {
        Screen::new(self.size, self.has_heading)
    }

    /// Lines of the body.
    pub(crate) fn height(&self) -> usize {
        self.screen().map_or(1, |screen| screen.height())
    }

    pub(crate) fn columns(&self) -> usize {
        self.screen().map_or(1, |screen| screen.columns())
    }

    /// Lines of a page that covers the view.
    pub(crate) fn page_height(&self) -> usize {
        usize::from(self.size.1).saturating_sub(2).max(1)
    }

    /// A share of all samples, or of the shown ones, as set.
    pub(crate) fn share(&self, weight: u64) -> Share {
        let shown = self.shown.as_ref();
        shown.map_or_else(Share::default, |shown| {
            shown.share(weight, self.is_relative)
        })
    }

    /// The same as text.
    pub(crate) fn percent(&self, weight: u64) -> String {
        percent(self.share(weight))
    }

    pub(crate) fn boxes(&self) -> Option<&Boxes> {
        self.shown.as_ref()?.boxes()
    }

    /// A box as a selection.
    pub(super) fn selected_box(&self, number: u32) -> Selected {
        let Some(boxes) = self.boxes() else {
            return Selected::default();
        };
        let frame = boxes.frame(number);
        Selected {
            frame,
            image: frame.map(|frame| self.image_of(frame)),
            threads: boxes.comm(number, self.profile()).map(Zoom::Comm),
        }
    }

    /// How many boxes a search has found, before what else the status line says.
    pub(super) fn found_text(&self) -> String {
        self.found.as_ref().map_or_else(String::new, |found| {
            let (typed, share) = (found.matcher.typed(), self.percent(found.weight));
            format!("{typed}: {} found, {share}; n: next | ", found.n)
        })
    }

    pub(super) fn box_names(&self) -> Option<BoxNames<'_>> {
        let (boxes, profile) = (self.boxes()?, self.profile());
        Some(BoxNames { boxes, profile })
    }

    /// Looks for names in the boxes.
    pub(crate) fn find(&mut self, matcher: Option<Matcher>) {
        let boxes = self.shown.as_ref().and_then(|shown| shown.boxes());
        let searched = boxes.zip(matcher);
        self.found =
            searched.map(|(boxes, matcher)| Found::new(boxes, self.explorer.profile(), matcher));
    }

    /// The key for another part of the time of threads, where there is a choice.
    pub(super) fn waits_hint(&self) -> Option<KeyHint> {
        (!self.accounts.is_empty()).then_some(letter('w', "CPUs/waiting"))
    }

    /// The name of a function.
    pub(crate) fn frame_name(&self, frame: FrameId) -> String {
        let Profile {
            frames, strings, ..
        } = self.profile();
        let mut name = String::new();
        frames.label_parts(frame, strings).append_to(&mut name);
        name
    }

    /// The name of a function with its image.
    pub(crate) fn frame_in_image(&self, frame: FrameId) -> String {
        let Profile {
            frames, strings, ..
        } = self.profile();
        let image = strings.of(frames.of(frame).image);
        format!("{}  {image}", self.frame_name(frame))
    }

    /// Short name of a function's image, as recorded.
    pub(crate) fn image_of(&self, frame: FrameId) -> String {
        let Profile {
            frames, strings, ..
        } = self.profile();
        strings.of(frames.of(frame).image).into_raw().to_owned()
    }

    /// A thread by name and number.
    pub(crate) fn thread_name(&self, thread: u32) -> String {
        let sampled = self.explorer.sampled();
        let thread = sampled.threads.get(thread as usize);
        thread.map_or_else(String::new, |thread| {
            format!("{}/{}", sampled.profile.strings.of(thread.comm), thread.tid)
        })
    }

    /// Whether the shown samples are those of a time range.
    pub(crate) fn has_times(&self) -> bool {
        self.zooms.iter().any(|zoom| matches!(zoom, Zoom::Times(_)))
    }

    /// Event, samples and zooms, in a line.
    pub(crate) fn what(&self) -> String {
        let Some(event) = self.profile().events.get(self.event) else {
            return "no events".to_owned();
        };
        let mut what = event.name.to_string();
        let n_events = self.profile().events.len();
        if n_events > 1 {
            what += &format!(" ({} of {n_events})", self.event + 1);
        }
        what += &match &self.shown {
            None => String::new(),
            Some(shown) if shown.is_all() => {
                format!(", {} samples", grouped(shown.counted.samples))
            }
            Some(shown) => format!(
                ", {} of {} samples ({})",
                grouped(shown.counted.samples),
                grouped(shown.counted.event.samples),
                percent(shown.share(shown.counted.weight, false))
            ),
        };
        for zoom in &self.zooms {
            what += ", ";
            what += &zoom.text(self.explorer.sampled());
        }
        printable(&what).into_owned()
    }
}
