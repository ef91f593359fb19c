//! When samples are taken.

use rprof_record::{ControlPipes, Delay};
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Timing")]
pub(crate) struct TimingArgs {
    /// Start sampling after MS milliseconds (-1: when --control enables it), or sample only in these ranges of
    /// milliseconds and end with the last
    #[arg(
        short = 'D',
        long,
        value_name = "MS",
        value_parser = parse_delay,
        allow_hyphen_values = true
    )]
    pub(crate) delay: Option<Delay>,

    /// Take commands (enable, disable, snapshot, stop, ...) from a FIFO or file descriptor, and acknowledge each with
    /// "ack" on another: fifo:PATH[,PATH] or fd:N[,N]
    #[arg(
        long,
        value_name = "HOW",
        value_parser = parse_control,
        long_help = "Take commands from a FIFO or file descriptor, one per line, and acknowledge each with \"ack\" \
            on another: fifo:PATH[,PATH] or fd:N[,N]\n  \
            enable [EVENT], disable [EVENT]  start or stop sampling\n  \
            evlist [-v]                      print the events\n  \
            ping                             only acknowledge\n  \
            snapshot                         rotate the output file (--switch-output)\n  \
            stop                             end the recording"
    )]
    pub(crate) control: Option<ControlPipes>,
}

fn parse_delay(text: &str) -> Result<Delay, String> {
    if text == "-1" {
        return Ok(Delay::UntilTold);
    }
    let millis = |text: &str| {
        let number: u32 = text.trim().parse().ok()?;
        Some(Duration::from_millis(number.into()))
    };
    if let Some(time) = millis(text) {
        return Ok(match time {
            Duration::ZERO => Delay::None,
            _ => Delay::Time(time),
        });
    }
    let range = |text: &str| {
        let (start, end) = text.split_once('-')?;
        Some(millis(start)?..millis(end)?)
    };
    let spans: Option<Vec<Range<Duration>>> = text.split(',').map(range).collect();
    let spans = spans.ok_or("expected milliseconds, -1, or ranges such as 10-20,30-40")?;
    if let Some(span) = spans.iter().find(|span| span.is_empty()) {
        let (start, end) = (span.start.as_millis(), span.end.as_millis());
        return Err(format!("the range {start}-{end} is empty"));
    }
    match spans.windows(2).find(|two| two[1].start <= two[0].end) {
        None => Ok(Delay::Spans(spans)),
        Some(two) => Err(format!(
            "a range starts at {} ms, but the previous one ends at {} ms",
            two[1].start.as_millis(),
            two[0].end.as_millis()
        )),
    }
}

pub(in crate::args) fn parse_control(text: &str) -> Result<ControlPipes, String> {
    let usage = "expected fifo:PATH[,PATH] or fd:N[,N]";
    let (form, pipes) = text.split_once(':').ok_or(usage)?;
    let pipe = |text: &str| match form {
        "fifo" if !text.is_empty() => Ok(PathBuf::from(text)),
        "fd" => {
            let number: u32 = text.parse().map_err(|_| usage)?;
            Ok(PathBuf::from(format!("/proc/self/fd/{number}")))
        }
        _ => Err(usage),
    };
    let (words, acks) = match pipes.split_once(',') {
        Some((words, acks)) => (words, Some(acks)),
        None => (pipes, None),
    };
    Ok(ControlPipes {
        words: pipe(words)?,
        acks: acks.map(pipe).transpose()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_perfs() {
        let ms = Duration::from_millis;
        for (text, delay) in [
            ("-1", Delay::UntilTold),
            ("0", Delay::None),
            ("100", Delay::Time(ms(100))),
            ("10-20", Delay::Spans(vec![ms(10)..ms(20)])),
            (
                "10-20, 30 - 40",
                Delay::Spans(vec![ms(10)..ms(20), ms(30)..ms(40)]),
            ),
        ] {
            assert_eq!(parse_delay(text).unwrap(), delay, "{text}");
        }
        for (text, why) in [
            ("", "milliseconds"),
            ("-2", "milliseconds"),
            ("x", "milliseconds"),
            ("99999999999", "milliseconds"),
            ("1-2,", "milliseconds"),
            ("20-10", "the range 20-10 is empty"),
            (
                "10-20,20-30",
                "starts at 20 ms, but the previous one ends at 20 ms",
            ),
        ] {
            let error = parse_delay(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn the_help_has_every_word() {
        use clap::CommandFactory;
        let command = crate::args::Args::command();
        let record = command.find_subcommand("record").unwrap();
        let control = record.get_arguments().find(|arg| arg.get_id() == "control");
        let help = control.unwrap().get_long_help().unwrap().to_string();
        for word in ["enable", "disable", "evlist", "ping", "snapshot", "stop"] {
            assert!(help.contains(&format!(" {word} ")), "{word}: {help}");
        }
    }

    #[test]
    fn control_is_by_paths_or_descriptors() {
        let both = parse_control("fifo:c,a").unwrap();
        assert_eq!(
            (both.words.to_str(), both.acks),
            (Some("c"), Some("a".into()))
        );
        let one = parse_control("fd:7").unwrap();
        assert_eq!(
            (one.words.to_str(), one.acks),
            (Some("/proc/self/fd/7"), None)
        );
        for bad in [
            "", "c", "fifo:", "fifo:c,", "fd:x", "fd:-1", "pipe:c", "fd:1,2,3",
        ] {
            assert!(parse_control(bad).is_err(), "{bad}");
        }
    }
}
