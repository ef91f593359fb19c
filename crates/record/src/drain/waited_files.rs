//! Through which descriptor a thread waits, and for what: `/proc` says the arguments of its system call, and what its
//! descriptors are open for. Names are other people's text: they are bounded, and stored as they are.

use foldhash::HashMap;
use rprof_abi::Endian;
use rprof_perfdata::FeatureId;
use rprof_perfdata::feature::{WaitedFd, WaitedFile};
use rprof_syscalls::{SyscallAbi, SyscallNames};
use std::env::consts::ARCH;
use std::fs;
use std::os::unix::ffi::OsStringExt;

/// System calls whose first argument is the descriptor that they may wait for. Not those of two descriptors, as `splice`
/// has them, and not `poll` and `select`, whose descriptors are in memory. Sorted.
const CALLS: &[&str] = &[
    "accept",
    "accept4",
    "connect",
    "epoll_pwait",
    "epoll_pwait2",
    "epoll_wait",
    "fallocate",
    "fcntl",
    "fdatasync",
    "flock",
    "fsync",
    "ftruncate",
    "getdents64",
    "io_uring_enter",
    "ioctl",
    "mq_timedreceive",
    "mq_timedsend",
    "pread64",
    "preadv",
    "preadv2",
    "pwrite64",
    "pwritev",
    "pwritev2",
    "read",
    "readv",
    "recvfrom",
    "recvmmsg",
    "recvmsg",
    "sendmmsg",
    "sendmsg",
    "sendto",
    "sync_file_range",
    "syncfs",
    "vmsplice",
    "write",
    "writev",
];

/// Names of a file, and bytes of one. Descriptors of others have no name.
const MOST_FILES: usize = 1 << 16;
const MOST_NAME_BYTES: usize = 1 << 10;
/// Bytes of all names.
const MOST_BYTES: usize = 8 << 20;

/// Names system calls by what `/proc/PID/task/TID/syscall` says.
#[derive(Debug)]
pub(super) struct ProcCalls {
    names: SyscallNames,
}

impl Default for ProcCalls {
    fn default() -> Self {
        Self {
            names: SyscallNames::of(SyscallAbi::of_machine(ARCH)),
        }
    }
}

impl ProcCalls {
    /// The system call that a thread is in; `None` if it is in none, or may be a 32-bit task: these have other numbers,
    /// and their stacks are in the first 4 GiB.
    pub(super) fn name(&self, words: &[&str]) -> Option<&'static str> {
        let is_native = match words {
            [_, .., sp, _] => hex(sp).is_none_or(|sp| sp > u64::from(u32::MAX)),
            _ => true,
        };
        let number = words.first()?.parse().ok();
        number
            .filter(|_| is_native)
            .and_then(|number| self.names.name(number))
    }

    /// The descriptor that a thread may wait for.
    pub(super) fn fd(&self, words: &[&str]) -> Option<u32> {
        let name = self.name(words)?;
        CALLS.binary_search(&name).ok()?;
        // The kernel takes an int: those below 0 are none.
        u32::try_from(hex(words.get(1)?)?)
            .ok()
            .filter(|&fd| i32::try_from(fd).is_ok())
    }

    /// What a thread may wait for.
    pub(super) fn descriptor(&self, pid: i32, tid: i32) -> Option<Descriptor> {
        let text = fs::read_to_string(format!("/proc/{pid}/task/{tid}/syscall")).ok()?;
        let words: Vec<&str> = text.split_whitespace().collect();
        self.fd(&words).map(|fd| Descriptor::of(pid, tid, fd))
    }
}

pub(super) fn hex(word: &str) -> Option<u64> {
    u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()
}

/// A descriptor that a thread waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Descriptor {
    fd: u32,
    /// What it is open for.
    name: Option<Vec<u8>>,
}

impl Descriptor {
    /// One of a thread, as it is now.
    pub(super) fn of(pid: i32, tid: i32, fd: u32) -> Self {
        // A name alone: nothing is opened.
        let name = fs::read_link(format!("/proc/{pid}/task/{tid}/fd/{fd}"));
        let name = name.map(|name| name.into_os_string().into_vec());
        let is_short = |name: &Vec<u8>| name.len() <= MOST_NAME_BYTES;
        Self {
            fd,
            name: name.ok().filter(is_short),
        }
    }
}

/// What threads waited for in a file.
#[derive(Debug, Default)]
pub(crate) struct WaitedFiles {
    numbers: HashMap<Vec<u8>, u32>,
    n_bytes: usize,
    /// Descriptors whose names had no room, of all files.
    n_nameless: u64,
}

impl WaitedFiles {
    /// What the field ADDR of a sample is to say.
    pub(super) fn addr(&mut self, waited: Descriptor) -> Option<u64> {
        let file = waited.name.and_then(|name| self.number(name));
        let fd = waited.fd;
        WaitedFd { fd, file }.to_addr()
    }

    /// Descriptors whose names had no room.
    pub(super) fn n_nameless(&self) -> u64 {
        self.n_nameless
    }

    fn number(&mut self, name: Vec<u8>) -> Option<u32> {
        if let Some(&known) = self.numbers.get(&name) {
            return Some(known);
        }
        let n_bytes = self.n_bytes + name.len();
        if self.numbers.len() >= MOST_FILES || n_bytes > MOST_BYTES {
            self.n_nameless += 1;
            return None;
        }
        let number = u32::try_from(self.numbers.len()).ok()?;
        self.n_bytes = n_bytes;
        self.numbers.insert(name, number);
        Some(number)
    }

    /// Lets the next file have names of its own: no sample of the one before is still to be written.
    pub(crate) fn begin_anew(&mut self) {
        self.numbers.clear();
        self.n_bytes = 0;
    }

    /// The section of a file that ends now.
    pub(crate) fn section(&self) -> (FeatureId, Vec<u8>) {
        let mut all: Vec<_> = self.numbers.iter().collect();
        all.sort_unstable_by_key(|&(_, number)| number);
        let all = all.into_iter();
        let files = all.map(|(name, _)| WaitedFile { name: name.clone() });
        let files: Vec<WaitedFile> = files.collect();
        let mut bytes = Vec::new();
        let mut encoder = rprof_abi::Encoder::new(&mut bytes, Endian::NATIVE);
        WaitedFile::encode_all(&files, &mut encoder);
        (FeatureId::WAITED_FILES, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_perfdata::Feature;
    use std::os::fd::AsRawFd;

    /// What `/proc` says of a call with a first argument.
    fn words(calls: &ProcCalls, name: &str, first: &str) -> [String; 9] {
        let number = calls.names.numbers(name)[0].to_string();
        let mut words = [(); 9].map(|()| "0x0".to_owned());
        (words[0], words[1]) = (number, first.to_owned());
        words[7] = "0x7ffc00000010".to_owned();
        words
    }

    #[test]
    fn the_first_argument_of_calls_that_wait_is_the_descriptor() {
        let calls = ProcCalls::default();
        let fd = |name, first| {
            let words = words(&calls, name, first);
            calls.fd(&words.each_ref().map(String::as_str))
        };
        assert_eq!(fd("read", "0x5"), Some(5));
        assert_eq!(fd("epoll_pwait", "0x0"), Some(0));
        // None, or not of a descriptor.
        assert_eq!(fd("read", "0xffffffffffffffff"), None);
        assert_eq!(fd("read", "0xffffff9c"), None);
        assert_eq!(fd("futex", "0x5"), None);
        assert_eq!(calls.fd(&["running"]), None);
        assert_eq!(calls.fd(&["-1", "0x7ffc00000010", "0x401000"]), None);
        assert!(CALLS.is_sorted_by(|a, b| a < b));
        // Each is a call of this machine or of an older one.
        let is_known = |name: &&&str| !calls.names.numbers(name).is_empty();
        assert!(CALLS.iter().filter(is_known).count() >= 30);
    }

    #[test]
    fn files_have_the_names_of_proc_each_once() {
        let mut files = WaitedFiles::default();
        let (reader, _writer) = std::io::pipe().unwrap();
        let fd = u32::try_from(reader.as_raw_fd()).unwrap();
        let own = i32::try_from(std::process::id()).unwrap();
        let closed = u32::try_from(i32::MAX).unwrap();
        for (fd, file) in [(fd, Some(0)), (fd, Some(0)), (closed, None)] {
            let addr = files.addr(Descriptor::of(own, own, fd));
            assert_eq!(addr, WaitedFd { fd, file }.to_addr());
        }
        let (id, bytes) = files.section();
        let Ok(Feature::WaitedFiles(all)) = Feature::parse(id, &bytes, Endian::NATIVE) else {
            panic!("no such section");
        };
        assert_eq!(all.len(), 1);
        assert!(all[0].name.starts_with(b"pipe:["), "{all:?}");
        // The next file does not have those.
        files.begin_anew();
        assert_eq!(files.number(b"socket:[1]".to_vec()), Some(0));
    }

    #[test]
    fn names_are_bounded() {
        let mut files = WaitedFiles::default();
        let long = |n: usize| {
            let mut name = n.to_string().into_bytes();
            name.resize(MOST_NAME_BYTES, b'x');
            name
        };
        let kept =
            (0..2 * MOST_BYTES / MOST_NAME_BYTES).filter(|&n| files.number(long(n)).is_some());
        assert_eq!(kept.count(), MOST_BYTES / MOST_NAME_BYTES);
        assert_eq!(files.n_nameless(), (MOST_BYTES / MOST_NAME_BYTES) as u64);
        // Those that are known stay so.
        assert_eq!(files.number(long(1)), Some(1));
        let mut files = WaitedFiles::default();
        let names = (0..MOST_FILES + 10).map(|n| n.to_string().into_bytes());
        let kept = names.filter(|name| files.number(name.clone()).is_some());
        assert_eq!(kept.count(), MOST_FILES);
    }
}
