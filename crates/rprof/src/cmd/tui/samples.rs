//! Samples that are read beside the interface: of another part of the time of threads, or of two times, to be compared.

use super::code::{narrow_tasks, or_why};
use crate::args::{self, TuiArgs};
use crate::cmd::several::OpenedRecordings;
use anyhow::{Context, Result, bail};
use crossbeam_channel::{Receiver, Sender};
use rprof_analysis::{GroupBy, Options, check_filter, load_run};
use rprof_base::Share;
use rprof_diff::{CompareOptions, DiffLayout, NamedRun, Per, Recordings, compare, write_diff};
use rprof_inspect::header_text;
use rprof_perfdata::Reader;
use rprof_profile::{Account, EventChoice, NodeKey, SampledProfile, TimeSlices};
use rprof_query::tell_apart;
use rprof_report::{quality_advice, quality_line};
use rprof_tui::{ComparisonAnswer, SampleScope, ScopeAnswer, TuiData, TuiUpdate, WantedComparison};
use std::io::Write;
use std::ops::RangeInclusive;

/// What the interface asks for.
#[derive(Debug)]
pub(super) enum WantedReading {
    Scope(SampleScope),
    Comparison(Box<WantedComparison>),
}

/// Smaller shares that did not change are left out of comparisons.
const LEAST_SHARE: Share = Share::from_percent(0.1);

/// Reads samples of recordings, as the command line has it.
pub(super) struct SampleReader {
    pub(super) args: &'static TuiArgs,
    pub(super) opened: OpenedRecordings<'static>,
}

impl SampleReader {
    /// Answers requests until the channel closes; of several pending requests, only the last.
    pub(super) fn run(&self, asked: &Receiver<WantedReading>, to: &Sender<TuiUpdate>) {
        while let Ok(wanted) = asked.recv() {
            let wanted = asked.try_iter().last().unwrap_or(wanted);
            let update = match wanted {
                WantedReading::Scope(wanted) => {
                    let data = or_why(|| self.data(&wanted));
                    TuiUpdate::Scope(Box::new(ScopeAnswer { wanted, data }))
                }
                WantedReading::Comparison(wanted) => {
                    let wanted = *wanted;
                    let lines = or_why(|| self.comparison(&wanted));
                    TuiUpdate::Comparison(Box::new(ComparisonAnswer { wanted, lines }))
                }
            };
            if to.send(update).is_err() {
                return;
            }
        }
    }

    /// From now on, nothing is said of reading: the interface is on the terminal.
    pub(super) fn quiet(self) -> Self {
        Self {
            opened: self.opened.quiet(),
            ..self
        }
    }

    /// How samples are read.
    fn options(&self, account: Account) -> Options {
        let reader = &self.opened.first;
        let mut options = Options {
            stacks: reader.has_call_chains(),
            self_time: self.args.self_time.self_time(),
            ..self.args.input.options(reader)
        };
        options.filter.account = account;
        if self.args.event.is_none() {
            options.filter.events = EventChoice::Asked;
        }
        options
    }

    /// The parts of the time of threads that the recording tells of; none if it is one only.
    pub(super) fn accounts(&self) -> Vec<Account> {
        let all = [Account::OnCpu, Account::OffCpu, Account::Wall];
        let is_known = |account: &Account| {
            let filter = self.options(*account).filter;
            check_filter(&self.opened.first, &filter).is_ok()
        };
        let known: Vec<Account> = all.into_iter().filter(is_known).collect();
        if known.len() > 1 { known } else { Vec::new() }
    }

    /// The samples of a part of the time of threads.
    pub(super) fn data(&self, scope: &SampleScope) -> Result<TuiData> {
        let options = Options {
            group_by: GroupBy::of(&scope.by),
            ..self.options(scope.account)
        };
        let mut sampled = self.opened.read(&options)?;
        tell_apart(&mut sampled, &scope.by)?;
        let mut data = data(&self.opened.paths, &self.opened.first, sampled);
        if let Some(filter) = options.filter.title() {
            data.title += &format!(" ({filter})");
        }
        data.scope = scope.clone();
        data.accounts = self.accounts();
        Ok(data)
    }

    /// A time compared with the rest, as `rprof diff --time` does it.
    fn comparison(&self, wanted: &WantedComparison) -> Result<Vec<String>> {
        if self.opened.count() > 1 {
            bail!("D works on a single recording; use rprof diff");
        }
        let (times, all) = (&wanted.times_ns, &wanted.all_ns);
        let before = *all.start()..=times.start().saturating_sub(1);
        let after = times.end().saturating_add(1)..=*all.end();
        let rest = [before, after].into_iter().filter(|rest| !rest.is_empty());
        let rest: Vec<RangeInclusive<u64>> = rest.collect();
        if rest.is_empty() {
            bail!("nothing to compare: all of the time is marked");
        }
        let recordings = Recordings {
            before: vec![self.counted("rest", rest, wanted)?],
            after: vec![self.counted("marked time", vec![times.clone()], wanted)?],
        };
        let options = CompareOptions::by_function(Some(Per::Time));
        let mut comparison = compare(&recordings, &options)?;
        comparison.events.retain(|event| event.name == wanted.event);
        let layout = DiffLayout {
            fit: Some(wanted.fit),
            least: LEAST_SHARE,
            is_interactive: true,
            ..DiffLayout::default()
        };
        let mut out = Vec::new();
        for NamedRun { name, run } in recordings.before.iter().chain(&recordings.after) {
            for warning in &run.warnings {
                writeln!(out, "# warning: {name}: {warning}")?;
            }
        }
        write_diff(&comparison, &layout, &mut out)?;
        let text = String::from_utf8(out).context("writing the differences")?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// What functions counted in some time.
    fn counted(
        &self,
        name: &str,
        times: Vec<RangeInclusive<u64>>,
        wanted: &WantedComparison,
    ) -> Result<NamedRun> {
        let mut options = Options {
            nodes: NodeKey::Function,
            group_by: GroupBy {
                names: false,
                ..GroupBy::default()
            },
            ..self.options(wanted.account)
        };
        let filter = &mut options.filter;
        if filter.times.as_ref().is_some_and(|times| !times.is_one()) {
            bail!("cannot compare: --time has several ranges");
        }
        filter.times = Some(TimeSlices::of(times));
        narrow_tasks(filter, &wanted.selection);
        filter.dsos.narrow(&wanted.selection.dsos);
        let run = load_run(
            &self.opened.first,
            &options,
            Recordings::BLOCKS,
            &mut |_| {},
        )?;
        let name = name.to_owned();
        Ok(NamedRun { name, run })
    }
}

/// The data shown for recordings.
fn data(paths: &args::Recordings, reader: &Reader, sampled: SampledProfile) -> TuiData {
    let profile = &sampled.profile;
    let (about, _) = header_text(reader, false);
    let about = about.lines().map(str::to_owned);
    let title = match (paths.first().path(), paths.others()) {
        (path, []) => path
            .file_name()
            .unwrap_or(path.as_os_str())
            .to_string_lossy()
            .into_owned(),
        _ => paths.name(),
    };
    TuiData {
        title,
        quality: quality_line(profile),
        advice: quality_advice(profile),
        about: about.chain(profile.warnings.iter().cloned()).collect(),
        scope: SampleScope::default(),
        accounts: Vec::new(),
        sampled,
    }
}
