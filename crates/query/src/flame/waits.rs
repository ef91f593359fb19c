//! What threads wait for, as the innermost boxes of pictures.

use super::label::FlameLabel;
use foldhash::HashMap;
use rprof_profile::{EventProfile, FrameId, Profile, StrId, Tree};

/// Causes of waits as frames: their numbers follow those of a profile's frames.
#[derive(Debug, Default)]
pub(super) struct WaitFrames {
    first: u32,
    causes: Vec<StrId>,
}

impl WaitFrames {
    /// The event with a frame for what threads wait for, innermost in each of their stacks; `None` if none wait.
    pub(super) fn of(profile: &Profile, event: &EventProfile) -> (Self, Option<EventProfile>) {
        let causes = profile.causes_of(event);
        let mut waits = Self {
            first: u32::try_from(profile.frames.ids().count()).unwrap_or(u32::MAX),
            causes: Vec::new(),
        };
        if causes.iter().all(Option::is_none) {
            return (waits, None);
        }
        let mut numbers: HashMap<StrId, FrameId> = HashMap::default();
        let frames = causes.into_iter().map(|cause| {
            let cause = cause?;
            let frame = numbers.entry(cause).or_insert_with(|| {
                waits.causes.push(cause);
                let number = u32::try_from(waits.causes.len() - 1).unwrap_or(u32::MAX);
                FrameId::from_number(waits.first.saturating_add(number))
            });
            Some(*frame)
        });
        let frames: Vec<Option<FrameId>> = frames.collect();
        let mut tree = Tree::default();
        let mut moved: Vec<u32> = Vec::with_capacity(event.tree.nodes().len());
        for node in event.tree.nodes() {
            let parent = node.parent.map(|parent| moved[parent as usize]);
            let here = tree.child(parent, node.group, node.frame);
            moved.push(here);
            if node.self_samples > 0 {
                let wait = frames.get(node.group as usize).copied().flatten();
                let end = wait.map_or(here, |wait| tree.child(Some(here), node.group, wait));
                tree.count(end, node.own());
            }
        }
        tree.freeze();
        let with_waits = EventProfile {
            name: event.name.clone(),
            groups: event.groups.clone(),
            tree,
            ..*event
        };
        (waits, Some(with_waits))
    }

    /// What a frame's box stands for.
    pub(super) fn label(&self, frame: FrameId) -> FlameLabel {
        let nth = frame.number().checked_sub(self.first);
        let cause = nth.and_then(|nth| self.causes.get(nth as usize));
        cause.map_or(FlameLabel::Frame(frame), |&cause| FlameLabel::Wait(cause))
    }
}
