//! The recorded kernel: its list of symbols, its vmlinux, its modules.
//!
//! A list of symbols is fastest, and names what no file does (BPF programs, trampolines). Files
//! are opened where there is no list of this kernel, and for inlined functions and lines.

use super::known_names::SymbolizeResult;
use crate::binaries::kernel_id;
use crate::recording::Recording;
use foldhash::HashMap;
use rprof_base::{Avma, BuildId, ReferenceSymbol, module_name};
use rprof_images::{Elf, Kallsyms, Located, MODULE_BASE};
use rprof_locate::{
    KernelFiles, ModuleDetail, ModuleRequest, Servers, kallsyms_of_kernel, running_kallsyms,
};
use rprof_machine::{ImageKind, RecordedImage};
use rprof_perfdata::FeatureId;
use rprof_symbols::{Detail, KernelCode, KernelSymbols, Reason, Request};
use std::path::PathBuf;

/// The recorded kernel's symbols, read once for the kernel and all of its modules.
#[derive(Debug)]
pub struct Kernel<'c> {
    /// Its list of symbols, or why there is none.
    pub symbols: Result<Kallsyms, Reason>,
    /// Whether the recording is of the boot that the symbols are of: modules move between boots,
    /// each on its own.
    is_same_boot: bool,
    id: Option<BuildId>,
    files: KernelFiles<'c>,
    /// Whether the user says which vmlinux it is: then names are taken from there.
    has_own_vmlinux: bool,
    /// The list that the user names.
    own_list: Option<PathBuf>,
}

impl<'c> Kernel<'c> {
    /// Finds the list and the files of a recording's kernel.
    pub fn of(recording: &Recording<'c>) -> Self {
        let images = recording.index.history.images();
        let reference = images
            .iter()
            .find_map(|(_, image)| image.reference_symbol());
        let found = kallsyms_of(recording);
        let place = |list: &Kallsyms| {
            let name = reference?.name;
            let mut symbols = list.symbols();
            symbols.find_map(|symbol| (symbol.name == name).then_some(symbol.address))
        };
        let place = found.as_ref().ok().and_then(place);
        let is_same_boot = reference.is_some_and(|reference| place == Some(reference.avma.0));
        let id = kernel_id(recording);
        let release = recording.reader.feature_text(FeatureId::OSRELEASE);
        // Without a recorded build id, release and address together must do; where a recording
        // was never finished and has no release either, all that it says of places; of a list that
        // the user names, that it has the reference symbol at all.
        let has_places = |list| release.is_some() || has_recorded_places(recording, list);
        let is_another = match recording.locator.kallsyms {
            Some(_) => reference.is_some() && place.is_none(),
            None => id.is_none() && !(is_same_boot && found.as_ref().is_ok_and(has_places)),
        };
        let symbols = match found {
            Ok(_) if is_another => Err(no_symbols("recorded with another kernel or boot")),
            found => found,
        };
        Self {
            symbols,
            is_same_boot,
            id,
            files: KernelFiles::new(recording.locator, release.as_deref()),
            has_own_vmlinux: recording.locator.vmlinux.is_some(),
            own_list: recording.locator.kallsyms.clone(),
        }
    }

    /// What [`Self::name`] takes names, inlined functions and lines from, in words and as files.
    pub(crate) fn sources(&self, image: &RecordedImage) -> (Vec<&'static str>, Vec<PathBuf>) {
        let (mut sources, mut files) = (Vec::new(), Vec::new());
        let has_list = match image.kind {
            ImageKind::Module { .. } => self.symbols.is_ok() && self.is_same_boot,
            _ => self.kernel_list(image.reference_symbol()).is_ok(),
        };
        if has_list {
            sources.push("kallsyms");
            files.extend(self.own_list.clone());
        }
        let servers = servers(has_list, Detail::Inlines);
        let (binary, debug) = match image.kind {
            ImageKind::Module { .. } => {
                let found = self.files.module(ModuleRequest {
                    path: &image.path,
                    build_id: image.build_id.as_ref(),
                    detail: ModuleDetail::Dwarf,
                    servers,
                });
                found.map_or((None, None), |found| (Some(found.binary), found.debug))
            }
            _ => {
                let vmlinux = self.files.vmlinux(self.id.as_ref(), servers).ok();
                let reference = image.reference_symbol();
                let is_placed = |elf: &Elf| {
                    reference.is_some_and(|reference| KernelCode::at(elf, reference).is_some())
                };
                (vmlinux.filter(is_placed), None)
            }
        };
        let sections = [
            ("symtab", ".symtab"),
            ("inlines", ".debug_info"),
            ("lines", ".debug_line"),
        ];
        for elf in [binary, debug].into_iter().flatten() {
            let has = |&&(what, section): &&(&str, &str)| {
                elf.has_section(section) && !(has_list && what == "symtab")
            };
            let own: Vec<_> = sections.iter().filter(has).map(|&(what, _)| what).collect();
            if !own.is_empty() {
                files.push(elf.path().to_owned());
            }
            for what in own {
                if !sources.contains(&what) {
                    sources.push(what);
                }
            }
        }
        (sources, files)
    }

    /// The list of its symbols, if it is of the recorded boot: then addresses are those of the recording.
    pub(super) fn list_of_boot(&self) -> Option<&Kallsyms> {
        self.symbols.as_ref().ok().filter(|_| self.is_same_boot)
    }

    /// The list that names the kernel itself, or why none does.
    fn kernel_list(&self, reference: Option<ReferenceSymbol<'_>>) -> Result<&Kallsyms, Reason> {
        match &self.symbols {
            _ if self.has_own_vmlinux => Err(no_symbols("the given vmlinux has no symbols")),
            Ok(_) if reference.is_none() && !self.is_same_boot => {
                Err(no_symbols("the kernel's load address is not recorded"))
            }
            list => list.as_ref().map_err(Clone::clone),
        }
    }

    /// Names addresses of the kernel or a module.
    pub(crate) fn name(
        &self,
        image: &RecordedImage,
        addresses: &[Avma],
        request: Request,
    ) -> SymbolizeResult {
        match image.kind {
            ImageKind::Module { start_avma } => {
                self.name_module(image, Avma(start_avma), addresses, request)
            }
            _ => self.name_kernel(image, addresses, request),
        }
    }

    /// The files that the code of the kernel or a module is in, and what is added to their addresses.
    pub(crate) fn code_files(&self, image: &RecordedImage) -> Result<(Located, u64), Reason> {
        if let ImageKind::Module { start_avma } = image.kind {
            let files = self.files.module(ModuleRequest {
                path: &image.path,
                build_id: image.build_id.as_ref(),
                detail: ModuleDetail::Dwarf,
                servers: Servers::NotAsked,
            });
            let shift = start_avma.wrapping_sub(MODULE_BASE.0);
            return Ok((files.map_err(Reason::NoFile)?, shift));
        }
        let vmlinux = self.files.vmlinux(self.id.as_ref(), Servers::NotAsked);
        let elf = vmlinux.map_err(Reason::NoFile)?;
        let reference = image.reference_symbol();
        let code = reference.and_then(|reference| KernelCode::at(&elf, reference));
        let Some(shift) = code.map(|code| code.shift) else {
            return Err(no_symbols("the kernel's load address is not known"));
        };
        Ok((Located::from(elf), shift))
    }

    fn name_kernel(
        &self,
        image: &RecordedImage,
        addresses: &[Avma],
        Request {
            detail,
            n_threads,
            index,
            ..
        }: Request,
    ) -> SymbolizeResult {
        let reference = image.reference_symbol();
        let list = self.kernel_list(reference);
        if list.is_ok() && detail == Detail::Functions {
            let symbols = KernelSymbols::new(list?, reference);
            let mut symbolized = symbols.symbolize(addresses, None, n_threads);
            if index {
                symbolized.set_index(symbols.index());
            }
            return Ok(symbolized);
        }
        let vmlinux = self
            .files
            .vmlinux(self.id.as_ref(), servers(list.is_ok(), detail));
        let code = match (&vmlinux, reference) {
            (Ok(elf), Some(reference)) => KernelCode::at(elf, reference),
            _ => None,
        };
        match (list, code, vmlinux.as_ref()) {
            (Ok(list), code, _) => {
                Ok(KernelSymbols::new(list, reference).symbolize(addresses, code, n_threads))
            }
            (Err(_), Some(code), _) => {
                let names = KernelSymbols::of_code(code);
                Ok(names.symbolize(addresses, wanted(code, detail), n_threads))
            }
            (Err(_), None, Ok(elf)) => Err(Reason::NoKernelSymbols(format!(
                "its load address cannot be determined with {}",
                elf.path().display()
            ))),
            (Err(_), None, Err(reason)) if self.has_own_vmlinux => {
                Err(Reason::NoKernelSymbols(format!("--vmlinux: {reason}")))
            }
            (Err(reason), None, Err(_)) => Err(reason),
        }
    }

    fn name_module(
        &self,
        image: &RecordedImage,
        start: Avma,
        addresses: &[Avma],
        Request {
            detail,
            n_threads,
            index,
            ..
        }: Request,
    ) -> SymbolizeResult {
        // Modules are elsewhere after every boot.
        let list = self.symbols.as_ref().ok().filter(|_| self.is_same_boot);
        // Where one was, another may be by now: only a module's own symbols count.
        let own = module_name(&image.path);
        let list = list.map(|list| KernelSymbols::of_module(list, &own));
        if let (Some(list), Detail::Functions) = (&list, detail) {
            let mut symbolized = list.symbolize(addresses, None, n_threads);
            if index {
                symbolized.set_index(list.index());
            }
            return Ok(symbolized);
        }
        let id = image.build_id.as_ref();
        let files = self.files.module(ModuleRequest {
            path: &image.path,
            build_id: id,
            detail: match detail {
                Detail::Functions => ModuleDetail::Names,
                Detail::Inlines | Detail::Lines => ModuleDetail::Dwarf,
            },
            servers: servers(list.is_some(), detail),
        });
        let shift = start.0.wrapping_sub(MODULE_BASE.0);
        let code = |elf| KernelCode { elf, shift };
        let dwarf = files
            .as_ref()
            .ok()
            .and_then(|files| files.dwarf())
            .map(code);
        let dwarf = dwarf.and_then(|code| wanted(code, detail));
        match (&list, &files) {
            (Some(list), _) => Ok(list.symbolize(addresses, dwarf, n_threads)),
            (None, Ok(files)) => {
                let debug = files.debug.as_ref().filter(|debug| debug.has_symtab());
                let debug = debug.filter(|_| !files.binary.has_symtab());
                let names = KernelSymbols::of_code(code(debug.unwrap_or(&files.binary)));
                Ok(names.symbolize(addresses, dwarf, n_threads))
            }
            (None, Err(_)) if id.is_none() => Err(no_symbols(
                "a module from another boot or kernel, and its build id is not recorded",
            )),
            (None, Err(reason)) => Err(Reason::NoKernelSymbols(format!(
                "a module from another boot or kernel: {reason}"
            ))),
        }
    }
}

fn no_symbols(why: &str) -> Reason {
    Reason::NoKernelSymbols(why.to_owned())
}

/// Files of the kernel are large: servers are asked for names and for lines, not for inlined
/// functions alone.
fn servers(has_names: bool, detail: Detail) -> Servers {
    if has_names && detail != Detail::Lines {
        Servers::NotAsked
    } else {
        Servers::Asked
    }
}

/// A file to read DWARF of, if that is asked for.
fn wanted<'e>(code: KernelCode<'e>, detail: Detail) -> Option<KernelCode<'e>> {
    (detail != Detail::Functions).then_some(code)
}

/// Whether a list has the end of the kernel where it was recorded, and every module that it has:
/// kernels are loaded at one of few addresses, or always at the same, but are not of one length.
fn has_recorded_places(recording: &Recording<'_>, list: &Kallsyms) -> bool {
    /// Before the first function of a module there is little.
    const NEAR: u64 = 1 << 16;
    let index = &recording.index;
    let mut modules: HashMap<Vec<u8>, u64> = HashMap::default();
    let mut has_end = false;
    for symbol in list.symbols() {
        let is_end = matches!(symbol.name, b"_etext" | b"_edata");
        has_end |= is_end && index.kernel_end == Some(Avma(symbol.address));
        if let (Some(module), b'T' | b't') = (symbol.module, symbol.kind) {
            let first = modules.entry(module_name(module)).or_insert(u64::MAX);
            *first = (*first).min(symbol.address);
        }
    }
    let mut images = index.history.images().iter();
    has_end
        && images.all(|(_, image)| match image.kind {
            // One that has been unloaded since says nothing.
            ImageKind::Module { start_avma } => match modules.get(&module_name(&image.path)) {
                Some(&first) => (start_avma..start_avma.saturating_add(NEAR)).contains(&first),
                None => true,
            },
            _ => true,
        })
}

/// The symbol list of the kernel with the recorded build id, or for recordings without one the
/// running kernel's if it is not of another release.
fn kallsyms_of(recording: &Recording<'_>) -> Result<Kallsyms, Reason> {
    if let Some(path) = &recording.locator.kallsyms {
        let list = Kallsyms::read(path);
        let why = |error| Reason::NoKernelSymbols(format!("--kallsyms: {error}"));
        return list.map_err(why);
    }
    if let Some(id) = kernel_id(recording) {
        return kallsyms_of_kernel(&id).map_err(|error| {
            Reason::NoKernelSymbols(match error.kind() {
                std::io::ErrorKind::PermissionDenied => {
                    "the kernel hides its symbols: sudo sysctl kernel.kptr_restrict=0 \
                     kernel.perf_event_paranoid=1, or run with sudo"
                        .to_owned()
                }
                _ => format!("recorded with another kernel (build id {id})"),
            })
        });
    }
    let running = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let release = recording.reader.feature_text(FeatureId::OSRELEASE);
    if release.is_some_and(|release| release != running.trim()) {
        return Err(no_symbols("recorded with another kernel or boot"));
    }
    running_kallsyms().map_err(|error| Reason::NoKernelSymbols(error.to_string()))
}
