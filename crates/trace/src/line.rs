//! A line for each call, as perf trace has it.
//!
//! Source: tools/perf/builtin-trace.c (v6.1), `trace__sys_exit`.

use crate::rounded::RoundedMillis;
use crate::stacks::CallStackId;
use crate::traced::TracedCalls;
use rprof_syscalls::{Syscall, SyscallEnd, SyscallId, Unfinished, write_arguments};
use std::fmt::Write as _;
use std::io::{self, Write};

/// Lines that have not been written yet.
#[derive(Debug)]
pub(crate) struct Lines {
    is_wanted: bool,
    text: String,
    /// Of the call at hand.
    call: String,
}

/// Bytes of lines that are written at once.
const CHUNK: usize = 1 << 16;

/// Columns of a call, if it is no longer: what it returned stands behind them.
const CALL_WIDTH: usize = 70;

/// What a call is called: `openat`, `syscall_999`, `read[32-bit]`.
pub(crate) fn write_name(traced: &TracedCalls, id: SyscallId, out: &mut String) {
    // Writing to a string does not fail.
    let _ = match traced.names(id).name(id.number) {
        Some(name) => write!(out, "{name}"),
        None => write!(out, "syscall_{}", id.number),
    };
    if id.is_32_bit {
        out.push_str("[32-bit]");
    } else if id.has_x32_bit() {
        out.push_str("[x32]");
    }
}

impl Lines {
    /// None are made if they are not wanted.
    pub(crate) fn new(is_wanted: bool) -> Self {
        Self {
            is_wanted,
            text: String::new(),
            call: String::new(),
        }
    }

    /// Adds the line of a call, whose thread has a row.
    pub(crate) fn add(
        &mut self,
        traced: &TracedCalls,
        row: usize,
        call: &Syscall<Option<CallStackId>>,
    ) {
        if !self.is_wanted {
            return;
        }
        let Self {
            text, call: one, ..
        } = self;
        let thread = traced.threads.all.get(row);
        let comm = thread.and_then(|thread| traced.comms.get(thread.comm));
        let comm = comm.map(|comm| rprof_untrusted::printable(comm));
        let start_ns = call.entry.as_ref().map(|entry| entry.time_ns);
        let since = start_ns.map(|start_ns| {
            let first_ns = traced.first_ns.unwrap_or(start_ns);
            RoundedMillis(start_ns.saturating_sub(first_ns)).to_string()
        });
        let took = match call.ns() {
            Some(ns) => format!("{:>6} ms", RoundedMillis(ns)),
            None => " ".repeat(9),
        };
        one.clear();
        write_name(traced, call.id, one);
        one.push('(');
        match &call.entry {
            Some(entry) => {
                let signature = traced.names(call.id).arguments(call.id.number);
                write_arguments(signature, &entry.args, one);
            }
            None => one.push_str("..."),
        }
        one.push(')');
        let _ = write!(
            text,
            "{:>10} ({took}): {}/{} {one:<CALL_WIDTH$} = ",
            since.as_deref().unwrap_or("?"),
            comm.as_deref().unwrap_or(""),
            call.tid
        );
        match call.end {
            SyscallEnd::Returned { result, .. } => {
                let is_address = traced.names(call.id).returns_address(call.id.number);
                result.write(is_address, text);
            }
            SyscallEnd::Unfinished(why) => text.push_str(match why {
                Unfinished::ThreadEnded => "? (the thread ended)",
                Unfinished::RecordingEnded => "? (unfinished)",
                Unfinished::Lost => "? (lost)",
            }),
        }
        text.push('\n');
        if let Some(stack) = call.entry.as_ref().and_then(|entry| entry.stack) {
            for function in traced.stacks.functions(stack) {
                let _ = writeln!(text, "{:>28}{function}", "");
            }
        }
    }

    /// Writes what there is, if it is much.
    pub(crate) fn write_some(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.text.len() < CHUNK {
            return Ok(());
        }
        self.write_all(out)
    }

    /// Writes what there is.
    pub(crate) fn write_all(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.text.is_empty() {
            return Ok(());
        }
        out.write_all(self.text.as_bytes())?;
        self.text.clear();
        out.flush()
    }
}
