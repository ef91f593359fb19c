//! How JIT code is unwound: as its jitdump says.

use rprof_abi::Machine;
use rprof_base::FileOffset;
use rprof_images::{JitDump, JitLoad, JitRecord};
use rprof_untrusted::{Budget, Held, OverBudget};
use rprof_unwind::{TableError, UnwindTable};
use std::sync::{Mutex, OnceLock};

/// The functions in one jitdump of which it says how they are unwound.
#[derive(Debug)]
pub(crate) struct JitTables {
    machine: Machine,
    budget: Budget,
    dump: Mutex<JitDump>,
    /// By offset in the jitdump.
    all: Vec<JitFunction>,
    _held: Held,
}

#[derive(Debug)]
struct JitFunction {
    load: JitLoad,
    /// Made when a stack first leads here.
    table: OnceLock<Option<Box<UnwindTable>>>,
}

impl JitTables {
    /// Finds them. What comes after damage is missing: a warning about names says so.
    ///
    /// # Errors
    /// If there is no room for all of them.
    pub(crate) fn of(
        mut dump: JitDump,
        machine: Machine,
        budget: &Budget,
    ) -> Result<Self, OverBudget> {
        let mut held = budget.hold_nothing();
        let mut all = Vec::new();
        while let Ok(Some(record)) = dump.next_record() {
            let JitRecord::Load(load) = record else {
                continue;
            };
            if load.frames.is_some() {
                held.grow(size_of::<JitFunction>() as u64)?;
                all.push(JitFunction {
                    load,
                    table: OnceLock::new(),
                });
            }
        }
        Ok(Self {
            machine,
            budget: budget.clone(),
            dump: Mutex::new(dump),
            all,
            _held: held,
        })
    }

    /// The table of the function at an offset of the jitdump. `full` is called if there is no room for it.
    pub(crate) fn table(&self, offset: FileOffset, full: impl FnOnce()) -> Option<&UnwindTable> {
        let end = |function: &JitFunction| function.load.code.0.saturating_add(function.load.len);
        let n_before = self
            .all
            .partition_point(|function| end(function) <= offset.0);
        let function = self.all.get(n_before)?;
        if offset < function.load.code {
            return None;
        }
        let table = function.table.get_or_init(|| {
            let mut dump = self.dump.lock().ok()?;
            let place = function.load.code;
            match UnwindTable::from_jitdump(
                self.machine,
                &mut dump,
                &function.load,
                place,
                &self.budget,
            ) {
                Ok(table) => Some(Box::new(table)),
                Err(error) => {
                    (error == TableError::Memory).then(full);
                    None
                }
            }
        });
        table.as_deref()
    }
}
