//! Man pages and completions, as files below a prefix such as `/usr/local`.

use clap::Command;
use clap_complete::{Shell, generate};
use std::fs;
use std::io;
use std::path::Path;

/// Shells, and where each looks for completions.
const COMPLETIONS: [(Shell, &str); 3] = [
    (Shell::Bash, "share/bash-completion/completions/rprof"),
    (Shell::Zsh, "share/zsh/site-functions/_rprof"),
    (Shell::Fish, "share/fish/vendor_completions.d/rprof.fish"),
];

const MAN_PAGES: &str = "share/man/man1";

/// Writes all of them below `prefix`; the man pages say that they are of `date`.
pub(crate) fn write(prefix: &Path, date: &str) -> io::Result<()> {
    for (shell, path) in COMPLETIONS {
        let mut text = Vec::new();
        generate(shell, &mut rprof::command(), "rprof", &mut text);
        write_file(&prefix.join(path), &text)?;
    }
    let mut command = rprof::command();
    command.build();
    write_man_pages(&command, &prefix.join(MAN_PAGES), date)
}

/// Writes the page of a command and those of its sub-commands.
fn write_man_pages(command: &Command, folder: &Path, date: &str) -> io::Result<()> {
    let version = command.get_version().unwrap_or_default();
    let page = clap_mangen::Man::new(command.clone())
        .source(format!("rprof {version}"))
        .manual("rprof")
        .date(date);
    let mut text = Vec::new();
    page.render(&mut text)?;
    write_file(&folder.join(page.get_filename()), &text)?;
    let mut below = command.get_subcommands();
    below.try_for_each(|command| write_man_pages(command, folder, date))
}

fn write_file(path: &Path, text: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text)
}
