//! The menu of what can be done with the selection.

use super::over::choice;
use crate::keys::{Command, LeftOut};
use crate::menu::Menu;
use crate::views::context::Context;
use crate::views::view::View;
use crate::zoom::Zoom;
use ratatui_crossterm::crossterm::event::KeyCode;
use rprof_profile::text::Fit;
use rprof_untrusted::printable;

/// Columns of a name in it.
const NAME: usize = 40;

/// What can be done with what is selected in a view: its title is the selection.
pub(super) fn context_menu(cx: &Context, view: &dyn View) -> Menu {
    let selected = view.selected(cx);
    let fit = Fit {
        columns: NAME,
        ellipsis: cx.look.ellipsis(),
    };
    let cut = |name: &str| fit.cut(&printable(name), NAME).into_owned();
    let function = selected.frame.map(|frame| cut(&cx.frame_name(frame)));
    let thread = selected.threads.as_ref().map(|zoom| match zoom {
        Zoom::Comm(comm) => cut(comm),
        zoom => cut(&zoom.text(cx.explorer.sampled())),
    });
    let is_zoomed = |is_it: fn(&Zoom) -> bool| cx.zooms.iter().any(is_it);
    let in_dso = is_zoomed(|zoom| matches!(zoom, Zoom::Dso(_)));
    let in_kernel = is_zoomed(|zoom| matches!(zoom, Zoom::Kernel));
    let in_thread = is_zoomed(Zoom::is_of_threads);
    let mut choices = Vec::new();
    let mut add = |key, text: String, command| choices.push(choice(key, &text, command));
    let mut keys = view.keys(cx).into_iter();
    let open = keys.find(|hint| hint.key == KeyCode::Enter);
    let open = open.map_or("open", |hint| hint.does);
    add('+', open.to_owned(), Command::Open);
    if function.is_some() {
        add('a', "show its code".to_owned(), Command::Code);
        let text = "keep stacks with it anywhere".to_owned();
        add('f', text, Command::KeepSelected);
        let text = "drop stacks with it anywhere".to_owned();
        add('F', text, Command::Without(LeftOut::Function));
    }
    match selected.image.as_deref() {
        _ if in_dso => add('d', "back out of the DSO".to_owned(), Command::Dso),
        Some(image) => add('d', format!("zoom into {}", cut(image)), Command::Dso),
        None => {}
    }
    if let Some(image) = selected.image.as_deref().filter(|_| !in_dso) {
        let text = format!("hide what ran in {} itself", cut(image));
        add('X', text, Command::Without(LeftOut::Dso));
    }
    match &thread {
        _ if in_thread => add('t', "back out of the thread".to_owned(), Command::Thread),
        Some(thread) => add('t', format!("zoom into {thread}"), Command::Thread),
        None => {}
    }
    let comm = selected.threads.as_ref().and_then(Zoom::comm);
    if let Some(comm) = comm.filter(|_| !in_thread) {
        let text = format!("hide threads {}", cut(&comm));
        add('T', text, Command::Without(LeftOut::Comm));
    }
    let kernel = if in_kernel {
        "back out of the kernel"
    } else {
        "zoom into the kernel"
    };
    add('k', kernel.to_owned(), Command::Kernel);
    if !cx.zooms.is_empty() {
        add('u', "undo the last zoom".to_owned(), Command::ZoomOut);
    }
    add('/', "search ..".to_owned(), Command::Search);
    add('y', "copy".to_owned(), Command::Copy);
    add('s', "save ..".to_owned(), Command::Save);
    add('q', "quit".to_owned(), Command::Quit);
    let title = function.or(thread);
    Menu::new(title.as_deref().unwrap_or("Actions"), choices)
}
