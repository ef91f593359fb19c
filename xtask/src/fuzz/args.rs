//! Arguments of `cargo xtask fuzz`.

use super::Target;
use anyhow::{Context, Result, bail};

/// What to run, and for how long.
#[derive(Debug)]
pub(super) struct Args {
    pub(super) targets: Vec<Target>,
    /// Of each target.
    pub(super) seconds: u32,
    /// Processes at a time.
    pub(super) jobs: u32,
}

impl Args {
    pub(super) fn parse(args: &[String], all: &[Target]) -> Result<Self> {
        let mut parsed = Self {
            targets: Vec::new(),
            seconds: 60,
            jobs: 1,
        };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut number = || {
                let value = args
                    .next()
                    .with_context(|| format!("{arg} needs a number"))?;
                let number = value.parse::<u32>().ok().filter(|&number| number > 0);
                number.with_context(|| format!("{arg} needs a number, not {value}"))
            };
            match arg.as_str() {
                "--seconds" => parsed.seconds = number()?,
                "--jobs" => parsed.jobs = number()?,
                name => match all.iter().find(|target| target.0 == name) {
                    Some(target) => parsed.targets.push(*target),
                    None => {
                        let names: Vec<&str> = all.iter().map(|target| target.0).collect();
                        bail!("no target is called {name}: {}", names.join(", "));
                    }
                },
            }
        }
        if parsed.targets.is_empty() {
            parsed.targets = all.to_vec();
        }
        Ok(parsed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &[Target] = &[("a", 1), ("b", 2)];

    fn parse(line: &str) -> Result<Args> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Args::parse(&args, ALL)
    }

    #[test]
    fn without_a_name_all_targets_run() {
        assert_eq!(parse("--jobs 2").unwrap().targets, ALL);
        let one = parse("b --seconds 5").unwrap();
        assert_eq!((&one.targets[..], one.seconds, one.jobs), (&ALL[1..], 5, 1));
    }

    #[test]
    fn what_is_no_target_and_no_number_is_refused() {
        for bad in ["c", "--seconds", "--jobs 0", "--jobs x"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
