//! What a recording is, in plain words: before its header.

use crate::views::context::Context;
use crate::zoom::TimeUnit;
use rprof_base::{Counted, grouped};
use rprof_profile::{About, Profile};
use std::collections::BTreeSet;

/// A line for each thing that is known: what ran, where, for how long, and what was sampled.
pub(super) fn lines(cx: &Context) -> Vec<String> {
    let sampled = cx.explorer.sampled();
    let Profile { about, events, .. } = &sampled.profile;
    let mut lines = Vec::new();
    let command = about.recorded_command();
    if !command.is_empty() {
        lines.push(format!("command: {}", command.join(" ")));
    }
    if !about.command.is_empty() {
        lines.push(format!("recorded by: {}", about.command.join(" ")));
    }
    lines.extend(machine(about).map(|machine| format!("machine: {machine}")));
    let threads = sampled.threads.iter();
    // Threads are listed once for each of their names.
    let threads: BTreeSet<(i32, i32)> = threads.map(|thread| (thread.pid, thread.tid)).collect();
    let processes: BTreeSet<i32> = threads.iter().map(|&(pid, _)| pid).collect();
    let n_threads = Counted::new(threads.len() as u64, "thread", "threads");
    let n_processes = Counted::new(processes.len() as u64, "process", "processes");
    let time = sampled.samples.span_ns().map_or_else(String::new, |span| {
        let length = span.end().saturating_sub(*span.start());
        format!("{}, ", TimeUnit::of(length).text(length))
    });
    lines.push(format!("length: {time}{n_threads} of {n_processes}"));
    for event in events {
        let samples = grouped(event.samples);
        lines.push(format!("event: {}, {samples} samples", event.name));
    }
    lines
}

/// The machine, its CPUs and its kernel, as far as they are known.
fn machine(about: &About) -> Option<String> {
    let cpus = match (about.n_cpus, &about.cpu) {
        (Some(n), Some(cpu)) => Some(format!("{} ({cpu})", Counted::new(n.into(), "CPU", "CPUs"))),
        (Some(n), None) => Some(Counted::new(n.into(), "CPU", "CPUs").to_string()),
        (None, cpu) => cpu.clone(),
    };
    let kernel = about.os_release.as_ref();
    let kernel = kernel.map(|release| format!("Linux {release}"));
    let parts = [about.host.clone(), cpus, kernel, about.arch.clone()];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}
