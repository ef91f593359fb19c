//! Which recordings a reader reads: plain words, or `-i` as perf has it.

use crate::usage::usage;
use clap::error::ErrorKind;
use clap::{ArgMatches, Command, Error, FromArgMatches};
use std::path::{Path, PathBuf};

/// Where `rprof record` and perf write by default.
const DEFAULT: &str = "perf.data";

/// The path of a recording: a file, a directory, or `-` for standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Recording(PathBuf);

/// The forms in which a recording can be given.
#[derive(Debug, clap::Args)]
#[group(id = "all/recording")]
struct Words {
    /// Recording to read: a file, a directory, or - for stdin [default: perf.data]
    #[arg(value_name = "FILE")]
    plain: Option<PathBuf>,

    /// Same as FILE (perf's flag)
    #[arg(short = 'i', long, value_name = "FILE")]
    input: Option<PathBuf>,
}

impl Recording {
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Whether no recording was given, so that the default is read.
    pub(crate) fn is_default(&self) -> bool {
        self.0.as_os_str() == DEFAULT
    }
}

impl FromArgMatches for Recording {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        match Words::from_arg_matches(matches)? {
            Words {
                plain: Some(plain),
                input: Some(input),
            } if plain != input => Err(Error::raw(
                ErrorKind::ArgumentConflict,
                format!(
                    "only one recording can be read: either '{}' or -i '{}'\n",
                    plain.display(),
                    input.display()
                ),
            )),
            words => {
                let path = words.plain.or(words.input);
                Ok(Self(path.unwrap_or_else(|| DEFAULT.into())))
            }
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl clap::Args for Recording {
    fn augment_args(command: Command) -> Command {
        Words::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Words::augment_args_for_update(command)
    }
}

/// Paths of recordings that are read as one profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Recordings {
    first: Recording,
    others: Vec<PathBuf>,
}

/// The forms in which several recordings can be given.
#[derive(Debug, clap::Args)]
#[group(id = "all/recordings")]
struct SeveralWords {
    /// Recordings to read, several as one profile: files, directories, or - for stdin [default: perf.data]
    #[arg(value_name = "FILE")]
    plain: Vec<PathBuf>,

    /// Same as FILE (perf's flag)
    #[arg(short = 'i', long, value_name = "FILE")]
    input: Vec<PathBuf>,
}

impl Recordings {
    /// Those at paths; without any, the default.
    pub(crate) fn new(paths: Vec<PathBuf>) -> Self {
        let mut paths = paths.into_iter();
        Self {
            first: Recording(paths.next().unwrap_or_else(|| DEFAULT.into())),
            others: paths.collect(),
        }
    }

    /// All of them, in order.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        let others = self.others.iter().map(PathBuf::as_path);
        [self.first.path()].into_iter().chain(others)
    }

    /// The first one.
    pub(crate) fn first(&self) -> &Recording {
        &self.first
    }

    /// Those after the first.
    pub(crate) fn others(&self) -> &[PathBuf] {
        &self.others
    }

    /// The only one, for what shows a single recording.
    ///
    /// # Errors
    /// A usage error if there are several: `what`, such as `--tasks`, reads one.
    pub(crate) fn only(&self, what: &str) -> anyhow::Result<&Path> {
        match self.others.len() {
            0 => Ok(self.first.path()),
            n_others => Err(usage(format_args!(
                "{what} reads one recording, but {} were given",
                n_others + 1
            ))),
        }
    }

    /// What they are called in messages.
    pub(crate) fn name(&self) -> String {
        let first = self.first.path().display();
        match self.others.len() {
            0 => first.to_string(),
            1 => format!("{first} and {}", self.others[0].display()),
            n_others => format!("{first} and {n_others} others"),
        }
    }
}

impl FromArgMatches for Recordings {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let SeveralWords { plain, input } = SeveralWords::from_arg_matches(matches)?;
        match (plain.is_empty(), input.is_empty()) {
            (false, false) if plain != input => Err(Error::raw(
                ErrorKind::ArgumentConflict,
                format!(
                    "recordings are given as words or with -i, not both: '{}' and -i '{}'\n",
                    plain[0].display(),
                    input[0].display()
                ),
            )),
            (true, _) => Ok(Self::new(input)),
            (false, _) => Ok(Self::new(plain)),
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl clap::Args for Recordings {
    fn augment_args(command: Command) -> Command {
        SeveralWords::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        SeveralWords::augment_args_for_update(command)
    }
}

#[cfg(test)]
mod tests {
    use crate::args::{Args, Command};
    use clap::Parser;

    /// What each reader reads with these words after it.
    fn paths(words: &[&str]) -> Result<Vec<String>, clap::Error> {
        // What follows -- is a command for those that record it first.
        let recorders = ["flame"].into_iter().filter(|_| !words.contains(&"--"));
        let readers = ["report", "export", "script", "dump", "info", "symbols"];
        let tui = cfg!(feature = "tui").then_some("tui");
        let readers: Vec<&str> = readers.into_iter().chain(recorders).chain(tui).collect();
        let path = |reader: &&str| {
            let args = Args::try_parse_from([&["rprof", *reader], words].concat())?;
            let recording = match args.command {
                Command::Report(args) => args.input.recordings.first().clone(),
                Command::Flame(args) => args.input.recordings.first().clone(),
                Command::Export(args) => args.input.recordings.first().clone(),
                #[cfg(feature = "tui")]
                Command::Tui(args) => args.input.recordings.first().clone(),
                Command::Script(args) => args.recordings.first().clone(),
                Command::Dump(args) | Command::Info(args) => args.recording,
                Command::Symbols(args) => args.recording,
                _ => panic!("{reader} reads no recording"),
            };
            Ok(recording.path().display().to_string())
        };
        readers.iter().map(path).collect()
    }

    #[test]
    fn every_reader_takes_the_recording_as_a_word_or_as_perf_does() {
        for (words, path) in [
            (&[][..], "perf.data"),
            (&["a"], "a"),
            (&["-"], "-"),
            (&["-i", "a"], "a"),
            (&["-ia"], "a"),
            (&["--input=a", "a"], "a"),
            (&["--", "-a"], "-a"),
        ] {
            assert!(paths(words).unwrap().iter().all(|one| one == path));
        }
        for reader in [
            "report", "flame", "export", "script", "dump", "info", "symbols",
        ] {
            let parsed = Args::try_parse_from(["rprof", reader, "a", "-i", "b"]);
            let error = parsed.unwrap_err();
            assert_eq!(error.exit_code(), 2);
            let said = error.to_string();
            assert!(said.contains("'a'") && said.contains("-i 'b'"), "{said}");
        }
        for reader in ["dump", "info", "symbols"] {
            assert!(Args::try_parse_from(["rprof", reader, "a", "b"]).is_err());
        }
    }

    #[test]
    fn several_recordings_stay_in_the_order_in_which_they_were_given() {
        for words in [&["a", "b", "c"][..], &["-i", "a", "-i", "b", "-i", "c"]] {
            let args = Args::try_parse_from([&["rprof", "report"], words].concat());
            let Command::Report(args) = args.unwrap().command else {
                panic!("report is another command")
            };
            let paths: Vec<_> = args.input.recordings.paths().collect();
            assert_eq!(paths, ["a", "b", "c"].map(std::path::Path::new));
        }
    }
}
