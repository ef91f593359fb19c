//! Control groups.

use rprof_record::Cgroups;

const OTHERS: [&str; 5] = ["pid", "tid", "uid", "name", "per_thread"];

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Control groups")]
pub(crate) struct CgroupArgs {
    /// Sample only this control group, on all CPUs; in a list, the nth cgroup is for the nth event
    #[arg(
        short = 'G',
        long = "cgroup",
        value_name = "NAME",
        value_delimiter = ',',
        conflicts_with_all = OTHERS
    )]
    of_events: Vec<String>,

    /// Sample each event in each of these control groups, on all CPUs
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        conflicts_with_all = OTHERS,
        conflicts_with = "of_events"
    )]
    for_each_cgroup: Vec<String>,
}

impl CgroupArgs {
    /// As settings. An empty place in the list is an event without a group.
    pub(crate) fn settings(&self) -> Cgroups {
        let name = |name: &String| (!name.is_empty()).then(|| name.clone());
        match (&self.of_events[..], &self.for_each_cgroup[..]) {
            ([], []) => Cgroups::All,
            ([], each) => Cgroups::Each(each.iter().filter_map(name).collect()),
            (of_events, _) => Cgroups::ByEvent(of_events.iter().map(name).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::record;
    use super::*;

    #[test]
    fn a_list_has_places() {
        let cgroups = |words: &[&str]| record(words).unwrap().cgroups.settings();
        assert_eq!(cgroups(&["-a"]), Cgroups::All);
        let places = [Some("a".to_owned()), None, Some("b/c".to_owned())];
        assert_eq!(
            cgroups(&["-G", "a,,b/c"]),
            Cgroups::ByEvent(places.to_vec())
        );
        let each = Cgroups::Each(vec!["a".to_owned(), "b".to_owned()]);
        assert_eq!(cgroups(&["--for-each-cgroup", "a,b"]), each);
        assert!(record(&["-G", "a", "-p", "1"]).is_err());
        assert!(record(&["-G", "a", "--for-each-cgroup", "b"]).is_err());
    }
}
