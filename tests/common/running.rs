//! Programs that run beside a test: whatever happens, they and what they started end with it.

use super::{Ran, WATCHDOG, end_of, signal, tool};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// A program that was started. It is killed and reaped when this goes away, and what it has started
/// is killed, too.
#[derive(Debug)]
pub struct Running {
    child: Option<Child>,
    pid: u32,
    input: Option<ChildStdin>,
    output: Option<BufReader<ChildStdout>>,
    /// Gone when this is.
    _watched: Option<Sender<()>>,
}

/// No program that a test has started lives longer: then whoever waits for a line of it gets none.
const LONGEST: Duration = Duration::from_secs(300);

impl Running {
    /// Starts a program with pipes for what it reads and says, in a process group of its own.
    #[track_caller]
    pub fn start(command: &mut Command) -> Self {
        let mut child = command
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let input = child.stdin.take();
        let output = child.stdout.take().map(BufReader::new);
        let mut running = Self::new(child, input, output);
        let (watched, end) = channel::<()>();
        running._watched = Some(watched);
        let pid = running.pid;
        std::thread::spawn(move || {
            if end.recv_timeout(LONGEST) == Err(RecvTimeoutError::Timeout) {
                kill_all(pid);
            }
        });
        running
    }

    /// Takes over a program that was started with other pipes.
    pub fn of(child: Child) -> Self {
        Self::new(child, None, None)
    }

    fn new(
        child: Child,
        input: Option<ChildStdin>,
        output: Option<BufReader<ChildStdout>>,
    ) -> Self {
        let pid = child.id();
        Self {
            child: Some(child),
            pid,
            input,
            output,
            _watched: None,
        }
    }

    /// Its id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The next line that it says.
    #[track_caller]
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.as_mut().unwrap().read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Has it do its work once: a line to it, and one from it when that is done.
    #[track_caller]
    pub fn work(&mut self) {
        self.input.as_mut().unwrap().write_all(b"\n").unwrap();
        assert_eq!(self.line(), "done");
    }

    /// Gives it something to read.
    #[track_caller]
    pub fn type_in(&mut self, text: &[u8]) {
        self.input.as_mut().unwrap().write_all(text).unwrap();
    }

    /// Gives it something to read, if it still reads.
    pub fn type_in_if_open(&mut self, text: &[u8]) -> bool {
        self.input.as_mut().unwrap().write_all(text).is_ok()
    }

    /// There is nothing more to read for it.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// Whether it lives.
    #[track_caller]
    pub fn is_running(&mut self) -> bool {
        self.child.as_mut().unwrap().try_wait().unwrap().is_none()
    }

    /// Waits for its end, under the watchdog. What it may read stays open until then.
    #[track_caller]
    pub fn finish(self) -> Ran {
        self.finish_within(WATCHDOG)
    }

    /// The same, where many things are done that each have a watchdog of their own.
    #[track_caller]
    pub fn finish_within(mut self, limit: Duration) -> Ran {
        let mut child = self.child.take().unwrap();
        let (done, ended) = channel();
        let read_all = |pipe: Option<Box<dyn Read + Send>>| {
            let (done, text) = channel();
            std::thread::spawn(move || {
                let mut bytes = Vec::new();
                if let Some(mut pipe) = pipe {
                    // What ends early is what was said.
                    let _ = pipe.read_to_end(&mut bytes);
                }
                // The other side is gone only if the watchdog barked.
                let _ = done.send(String::from_utf8_lossy(&bytes).into_owned());
            });
            text
        };
        let stdout = match self.output.take() {
            Some(output) => Some(Box::new(output) as _),
            None => child.stdout.take().map(|pipe| Box::new(pipe) as _),
        };
        let stdout = read_all(stdout);
        let stderr = read_all(child.stderr.take().map(|pipe| Box::new(pipe) as _));
        std::thread::spawn(move || {
            let _ = done.send(child.wait());
        });
        let until = Instant::now() + limit;
        let status = end_of(&ended, until).unwrap_or_else(|| {
            kill_all(self.pid);
            let said = end_of(&stderr, Instant::now() + WATCHDOG);
            panic!("still running after {limit:?}: {said:?}");
        });
        let whole = "something that it started still has its output";
        Ran {
            status: status.unwrap(),
            stdout: end_of(&stdout, until).expect(whole),
            stderr: end_of(&stderr, until).expect(whole),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(child) = &mut self.child else {
            return;
        };
        // It may have ended by itself, and left something behind.
        match child.try_wait() {
            Ok(Some(_)) => kill_group(self.pid),
            _ => kill_all(self.pid),
        }
        let _ = child.wait();
    }
}

/// Kills what is left of the group of a program that was started as one.
fn kill_group(pid: u32) {
    let mut shell = Command::new("sh");
    shell.args(["-c", "kill -s KILL -- \"-$0\"", &pid.to_string()]);
    let _ = shell.stderr(Stdio::null()).status();
}

/// Kills a process of ours that nobody has waited for, its group, and all below it.
fn kill_all(pid: u32) {
    kill_group(pid);
    let mut pids = vec![pid];
    let mut at = 0;
    while let Some(&parent) = pids.get(at) {
        pids.extend(children(parent));
        at += 1;
    }
    for pid in pids {
        signal(pid, "KILL");
    }
}

/// Processes that a process has started.
fn children(parent: u32) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_child = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // Behind its name, which may hold anything: state and parent.
        let rest = stat.rsplit(')').next().unwrap_or_default();
        rest.split_whitespace().nth(1) == Some(&parent.to_string())
    };
    ids.filter(is_child).collect()
}

/// Records while something is done: from when the recorder's command runs, which is after sampling
/// has begun, until the work is done. `recorder` is all of the command line but the command.
#[track_caller]
pub fn record_while(recorder: &mut Command, work: impl FnOnce()) -> Ran {
    // It ends when nothing more can come.
    let mut recorder = Running::start(recorder.args(["--", "cat"]));
    let input = recorder.input.as_mut().unwrap();
    input.write_all(b"runs\n").unwrap();
    let line = recorder.line();
    if line != "runs" {
        let ran = recorder.finish();
        panic!("not recording: {ran:?}");
    }
    work();
    recorder.close_input();
    recorder.finish()
}

/// A command whose errors come with its output, in order.
pub fn both(command: &Command) -> Command {
    let mut shell = tool("sh");
    shell.args(["-c", "exec \"$@\" 2>&1", "sh"]);
    shell.arg(command.get_program()).args(command.get_args());
    if let Some(dir) = command.get_current_dir() {
        shell.current_dir(dir);
    }
    shell
}

/// Reads what a program says up to a line that has this; returns all of it.
#[track_caller]
pub fn until(running: &mut Running, text: &str) -> String {
    let mut said = String::new();
    loop {
        let line = running.line();
        assert!(!line.is_empty(), "it never said {text:?}: {said}");
        said.push_str(&line);
        said.push('\n');
        if line.contains(text) {
            return said;
        }
    }
}
