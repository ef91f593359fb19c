//! What the view needs: asked for, and taken when it was made.

use super::App;
use crate::face::WantedCode;
use crate::shown::{CountedSamples, Shown};
use crate::task::{Made, MadePart, Task};
use crate::views::boxes::BoxesOf;
use crate::views::view::View;
use crate::zoom::selection;
use std::any::Any;
use std::sync::Arc;

/// Selections that were left and are kept, so that going back takes no time.
const MAX_KEPT: usize = 4;

/// Nodes of their trees: each takes about a hundred bytes with its rows and boxes.
const MAX_KEPT_NODES: usize = 1 << 20;

impl App {
    /// All views keep what they show by name: it is about to be replaced.
    pub(super) fn before_change(&mut self) {
        for view in &mut self.views {
            view.before_change(&self.cx);
        }
    }

    pub(super) fn settings_changed(&mut self) {
        for view in &mut self.views {
            view.settings_changed(&self.cx);
        }
    }

    /// Asks for the samples that are selected.
    pub(crate) fn select(&mut self) {
        self.before_change();
        let selection = selection(self.cx.event, &self.cx.zooms, self.cx.profile());
        // Code of other samples comes too late, and so does a comparison.
        let account = self.cx.scope.account;
        let is_other =
            |wanted: &mut WantedCode| wanted.selection != selection || wanted.account != account;
        self.awaited.take_if(is_other);
        self.awaited_comparison = None;
        self.kept.extend(self.cx.shown.take());
        let is_it = |one: &Shown| one.counted.selection == selection;
        if let Some(at) = self.kept.iter().position(is_it) {
            self.cx.shown = Some(self.kept.remove(at));
            self.find_again();
            for view in &mut self.views {
                view.after_change(&mut self.cx);
            }
        }
        let n_nodes = |kept: &[Shown]| -> usize {
            let trees = kept.iter().map(|one| &one.counted.event.tree);
            trees.map(|tree| tree.nodes().len()).sum()
        };
        while self.kept.len() > MAX_KEPT || n_nodes(&self.kept) > MAX_KEPT_NODES {
            self.kept.remove(0);
        }
        self.asked = Some(selection).filter(|_| self.cx.shown.is_none());
    }

    /// What the view waits for.
    pub(crate) fn needed(&self) -> Option<Task> {
        self.missing(self.view())
    }

    /// What other views will need.
    pub(crate) fn wanted(&self) -> Option<Task> {
        self.views.iter().find_map(|view| self.missing(&**view))
    }

    fn missing(&self, view: &dyn View) -> Option<Task> {
        let Some(shown) = &self.cx.shown else {
            let selection = self.asked.clone()?;
            let explorer = Arc::clone(&self.cx.explorer);
            return Some(Task::Count(explorer, Box::new(selection)));
        };
        let recipe = view.recipe(&self.cx);
        let is_made = recipe.is_made(shown);
        (!is_made).then(|| Task::Part(Arc::clone(&shown.counted), recipe))
    }

    /// Takes what was made. What is of another selection than the one that is shown comes too late.
    pub(crate) fn take_made(&mut self, made: Made) {
        match made {
            Made::Counted(selection, counted) if self.asked.as_ref() == Some(&*selection) => {
                self.asked = None;
                self.cx.shown = counted.map(Shown::new);
            }
            Made::Part(counted, part) if self.is_shown(&counted) => self.take_part(part),
            _ => {}
        }
        self.prepare();
    }

    fn is_shown(&self, counted: &Arc<CountedSamples>) -> bool {
        let shown = self.cx.shown.as_ref();
        shown.is_some_and(|shown| Arc::ptr_eq(&shown.counted, counted))
    }

    /// Takes a part, for the views that show such a part.
    fn take_part(&mut self, part: Box<dyn Any + Send>) {
        let shows_it = |view: &dyn View| view.recipe(&self.cx).is_kind_of(&*part);
        let views: Vec<usize> = (0..self.views.len())
            .filter(|&view| shows_it(&*self.views[view]))
            .collect();
        for &view in &views {
            self.views[view].before_change(&self.cx);
        }
        let is_boxes = part.is::<MadePart<BoxesOf>>();
        if let Some(shown) = &mut self.cx.shown {
            shown.take_part(part);
        }
        if is_boxes {
            self.find_again();
        }
        for &view in &views {
            self.views[view].after_change(&mut self.cx);
        }
    }

    /// Repeats the search in other boxes.
    fn find_again(&mut self) {
        if self.cx.boxes().is_some()
            && let Some(found) = self.cx.found.take()
        {
            self.cx.find(Some(found.matcher));
        }
    }

    /// Makes what the view needs, here and now.
    pub(crate) fn settle(&mut self) {
        while let Some(task) = self.needed() {
            self.take_made(task.run());
        }
    }

    /// Brings selections onto the screen.
    pub(crate) fn prepare(&mut self) {
        for view in &mut self.views {
            view.fit(&mut self.cx);
        }
        let height = self.cx.page_height();
        if let Some(page) = self.over.page_mut() {
            page.fit(height);
        }
    }

    fn working_view(&self) -> Option<usize> {
        self.views
            .iter()
            .position(|view| view.has_work() && self.missing(&**view).is_none())
    }

    /// Whether there is something left to do while nobody types.
    pub(crate) fn has_work(&self) -> bool {
        self.working_view().is_some()
    }

    /// Does a part of it.
    pub(crate) fn work(&mut self) {
        if let Some(view) = self.working_view() {
            self.views[view].work(&mut self.cx);
        }
        self.prepare();
    }
}
