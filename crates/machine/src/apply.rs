//! Applying changes in order of time: what a fork inherits is what its parent had just then.

use crate::change::{Change, Space};
use crate::exec::{Execs, Loaded};
use crate::history::{CommId, SpaceJournals};
use crate::ranges::{Backing, Editor, Range, Ranges, Root};
use crate::timeline::{Journal, Key};
use crate::{History, ImageId, Images};
use foldhash::HashMap;

/// A history on its way through time.
#[derive(Debug)]
pub(crate) struct Now {
    editor: Editor,
    spaces: SpaceJournals,
    comms: Journal<CommId>,
    execs: Execs,
    pub(crate) vdso: Option<ImageId>,
    /// The kernel and its modules alone, without symbols over them.
    ground: Root,
}

impl Now {
    /// Before the first of about this many changes; `vdso` is the image of that name.
    pub(crate) fn new(n_changes: usize, vdso: Option<ImageId>) -> Self {
        Self {
            editor: Editor::new(n_changes),
            spaces: SpaceJournals::default(),
            comms: Journal::default(),
            execs: Execs::default(),
            vdso,
            ground: Root::default(),
        }
    }

    /// Goes on to the moment of a change.
    pub(crate) fn apply(&mut self, key: Key, change: Change) {
        match change {
            Change::Map { space, range } => {
                if space == Space::Kernel {
                    self.ground = self.editor.insert(self.ground, range);
                }
                self.map(key, space, range);
            }
            Change::Symbol(range) => self.map(key, Space::Kernel, range),
            Change::SymbolGone(range) => self.symbol_gone(key, range),
            Change::Comm {
                pid,
                tid,
                comm,
                exec,
            } => {
                self.comms.push(key, tid, comm);
                if exec {
                    self.end_exec(key, pid);
                    self.execs.begin(pid);
                }
            }
            Change::Fork {
                pid,
                ppid,
                tid,
                ptid,
                inherits,
            } => {
                if pid != ppid {
                    self.execs.forget(pid);
                    self.end_exec(key, ppid);
                    let parent = self.root(Space::User(ppid));
                    let root = if inherits { parent } else { Root::default() };
                    self.spaces.push(key, Space::User(pid), root);
                }
                let name = self.name(ptid).or_else(|| self.name(ppid));
                if let Some(name) = name {
                    self.comms.push(key, tid, name);
                } else if inherits && self.name(tid).is_some() {
                    // The name of the task that had the id before.
                    self.comms.push(key, tid, CommId::UNKNOWN);
                }
            }
        }
    }

    /// The mappings of a process at a moment not long ago.
    pub(crate) fn recent(&self, pid: i32, key: Key) -> Option<Root> {
        self.spaces.recent(pid, key)
    }

    /// All sets of mappings, for look-ups.
    pub(crate) fn ranges(&self) -> &Ranges {
        self.editor.ranges()
    }

    /// Programs that were loaded by a moment run.
    pub(crate) fn end_execs(&mut self, until: Key) {
        for exec in self.execs.end_until(until) {
            self.spaces
                .push(exec.since, Space::User(exec.pid), exec.root);
        }
    }

    /// Forgets changes before a moment, and all names.
    pub(crate) fn forget(&mut self, before: Key) {
        self.spaces.forget(before);
        self.comms = Journal::default();
    }

    /// Forgets a process that has ended, unless its id is another's by now.
    pub(crate) fn remove(&mut self, pid: i32, ended: Key) {
        self.spaces.remove(pid, ended);
        self.execs.forget(pid);
    }

    /// Nodes of all sets of mappings that were ever made.
    pub(crate) fn n_nodes(&self) -> usize {
        self.editor.n_nodes()
    }

    /// What takes memory, in nodes: those of all sets, and changes that are remembered, which take about as much.
    pub(crate) fn weight(&self) -> usize {
        self.n_nodes() + self.spaces.n_changes()
    }

    /// Gives back the memory of mappings that nobody has any more. Epochs get new numbers, images those that
    /// `image` says.
    pub(crate) fn compact(&mut self, image: &mut impl FnMut(ImageId) -> ImageId) {
        self.vdso = self.vdso.map(&mut *image);
        let roots = self.spaces.roots_mut().chain(self.execs.roots_mut());
        let roots = roots.chain(std::iter::once(&mut self.ground));
        self.editor.compact(roots, image);
    }

    /// Forgets the mappings of the processes that have most, half as many or more; returns the
    /// processes. A change that is remembered counts as the nodes that it has of its own.
    pub(crate) fn forget_largest(&mut self) -> Vec<i32> {
        /// About the depth of a large set.
        const NODES_OF_CHANGE: usize = 16;
        let sizes = self.editor.sizes();
        let changes = self.spaces.n_changes_of_each();
        let processes = || {
            let all = self.spaces.processes();
            all.map(|(pid, root)| {
                let n_changes = changes.get(&pid).copied().unwrap_or(0);
                let size = usize::try_from(sizes[root.0 as usize]).unwrap_or(usize::MAX);
                (pid, size.saturating_add(n_changes * NODES_OF_CHANGE))
            })
        };
        let most = processes().map(|(_, size)| size).max().unwrap_or(0);
        let large = processes().filter(|&(_, size)| size > 0 && size >= most / 2);
        let large: Vec<i32> = large.map(|(pid, _)| pid).collect();
        self.spaces.drop_processes(&large.iter().copied().collect());
        large
    }

    /// The history up to now.
    pub(crate) fn finish(mut self, names: Vec<Vec<u8>>, images: Images) -> History {
        for exec in self.execs.finish() {
            self.spaces
                .push(exec.since, Space::User(exec.pid), exec.root);
        }
        History {
            ranges: self.editor.finish(),
            spaces: self.spaces.finish(),
            comms: self.comms.finish(),
            names,
            images,
            first_mapped_ns: HashMap::default(),
        }
    }

    fn map(&mut self, key: Key, space: Space, range: Range) {
        if let Space::User(pid) = space {
            self.end_exec(key, pid);
        }
        let before = self.root(space);
        let mut after = match range.backing {
            Backing::Memory => self.editor.insert_memory(before, range),
            Backing::File | Backing::Compiled => self.editor.insert(before, range),
        };
        if let Space::User(pid) = space {
            let is_vdso = Some(range.image) == self.vdso;
            let editor = &mut self.editor;
            let insert = |new| editor.insert(new, range);
            if let Loaded::Now(new) = self.execs.mapped(pid, key, is_vdso, insert) {
                after = new;
            }
        }
        if after != before {
            self.spaces.push(key, space, after);
        }
    }

    /// Before a change of a process: if it was executing another program, that runs by now.
    fn end_exec(&mut self, key: Key, pid: i32) {
        if let Some(exec) = self.execs.end_before(pid, key) {
            self.spaces.push(exec.since, Space::User(pid), exec.root);
        }
    }

    /// Uncovers what the symbol lay over. If another one came over it in between, that stays.
    fn symbol_gone(&mut self, key: Key, gone: Range) {
        if gone.start >= gone.end {
            return;
        }
        let before = self.root(Space::Kernel);
        let mut after = before;
        // A symbol over the start leaves what is at the end, and the other way round.
        for address in [gone.end - 1, gone.start] {
            let there = self.editor.find(after, address);
            if let Some(part) = there.filter(|there| there.image == gone.image) {
                let span = part.start.max(gone.start)..part.end.min(gone.end);
                after = self.editor.restore(after, span, self.ground);
            }
        }
        if after != before {
            self.spaces.push(key, Space::Kernel, after);
        }
    }

    fn root(&self, space: Space) -> Root {
        self.spaces.last(space).unwrap_or_default()
    }

    fn name(&self, tid: i32) -> Option<CommId> {
        let name = self.comms.last(tid);
        name.filter(|&name| name != CommId::UNKNOWN)
    }
}
