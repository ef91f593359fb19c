//! A hint on samples of idle CPUs.

use rprof_base::Share;
use rprof_profile::Profile;

/// The name of the idle tasks.
const IDLE: &str = "swapper";

/// The hint, if most samples are from idle CPUs.
pub(crate) fn hint(profile: &Profile) -> Option<String> {
    let share = idle_share(profile)?.percent();
    if share <= 50.0 {
        return None;
    }
    Some(format!(
        "hint: {share:.0} % of the samples are from idle CPUs ({IDLE}): use --no-idle to drop them"
    ))
}

/// The share of samples from idle CPUs, if there are any.
fn idle_share(profile: &Profile) -> Option<Share> {
    let (mut idle, mut all) = (0u64, 0u64);
    for event in &profile.events {
        all = all.saturating_add(event.samples);
        let is_idle = |group: u32| {
            let group = event.groups.get(group as usize);
            group.is_some_and(|group| profile.strings.of(group.comm).raw() == IDLE)
        };
        let nodes = event.tree.nodes().iter();
        for node in nodes.filter(|node| node.self_samples > 0 && is_idle(node.group)) {
            idle = idle.saturating_add(node.self_samples);
        }
    }
    (idle > 0).then(|| Share::of(idle, all))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_profile::testing;

    #[test]
    fn most_samples_of_idle_cpus_are_worth_a_hint() {
        let mut profile = testing::profile(&[("a", 1), ("b", 1)]);
        assert_eq!(hint(&profile), None);
        let idle = profile.strings.intern(IDLE);
        for group in &mut profile.events[0].groups {
            group.comm = idle;
        }
        let said =
            "hint: 100 % of the samples are from idle CPUs (swapper): use --no-idle to drop them";
        assert_eq!(hint(&profile).as_deref(), Some(said));
        profile.events[0].samples = 4;
        assert_eq!(hint(&profile), None);
        assert_eq!(hint(&Profile::default()), None);
    }
}
