//! Groups: `{a,b}`, `name{a,b}:modifiers`. Their events are counted together, and are opened so.

use crate::item::split_list;
use crate::modifier::Modifiers;
use crate::{Event, EventError, Grouping};
use rprof_abi::AttrFlags;

/// One text of a list, understood; its modifiers are not applied yet.
#[derive(Clone, Debug)]
pub(crate) struct Parsed {
    text: String,
    events: Vec<Event>,
    modifiers: Modifiers,
}

impl Parsed {
    pub(crate) fn new(text: &str, events: Vec<Event>, modifiers: Modifiers) -> Self {
        Self {
            text: text.to_owned(),
            events,
            modifiers,
        }
    }

    /// Its events, which belong to no group.
    pub(crate) fn with_own_modifiers(mut self) -> Vec<Event> {
        for event in &mut self.events {
            self.modifiers.apply(event);
        }
        self.events
    }
}

/// A group, cut into its parts.
#[derive(Clone, Debug)]
pub(crate) struct Group<'a> {
    text: &'a str,
    name: Option<&'a str>,
    pub(crate) members: Vec<&'a str>,
    modifiers: Modifiers,
}

impl<'a> Group<'a> {
    /// Cuts `name{a,b}:modifiers`; `None` if the text is no group.
    ///
    /// # Errors
    /// Braces within braces, something else after them, and empty lists.
    pub(crate) fn cut(text: &'a str) -> Result<Option<Self>, EventError> {
        let before_slash = text.split('/').next().unwrap_or_default();
        let Some((name, rest)) = before_slash
            .find('{')
            .map(|at| (&text[..at], &text[at + 1..]))
        else {
            return Ok(None);
        };
        let Some((list, after)) = rest.rsplit_once('}') else {
            return Err(EventError::unbalanced(text, '{'));
        };
        let letters = match after.strip_prefix(':') {
            Some(letters) => letters,
            None if after.is_empty() => "",
            None => {
                return Err(EventError::AfterGroup {
                    after: after.to_owned(),
                    event: text.to_owned(),
                });
            }
        };
        let members = split_list(list).map_err(|error| match error {
            EventError::Empty { what, .. } => EventError::empty(what, text),
            // `{a}{b}`
            EventError::Unbalanced { delimiter: '}', .. } => EventError::AfterGroup {
                after: rest.split_once('}').unwrap_or_default().1.to_owned(),
                event: text.to_owned(),
            },
            other => other,
        })?;
        let is_plain = |member: &&str| matches!(Group::cut(member), Ok(None));
        if !members.iter().all(is_plain) {
            return Err(EventError::NestedGroup {
                event: text.to_owned(),
            });
        }
        Ok(Some(Self {
            text,
            name: Some(name.trim()).filter(|name| !name.is_empty()),
            members,
            modifiers: Modifiers::parse(letters, text)?,
        }))
    }

    /// The events of the group. Events of different kinds of core make a group for each kind: they
    /// are never counted at the same time.
    ///
    /// # Errors
    /// Modifiers that a later event cannot have, or too many `p`.
    pub(crate) fn of(&self, members: Vec<Parsed>) -> Result<Vec<Event>, EventError> {
        let mut groups: Vec<Vec<Event>> = Vec::new();
        for parsed in members {
            for event in parsed.events {
                let at = groups.iter().position(|group| goes_with(&event, group));
                let at = at.unwrap_or(groups.len());
                if at == groups.len() {
                    groups.push(Vec::new());
                }
                let group = &mut groups[at];
                let event = self.place(event, parsed.modifiers, &parsed.text, group.first())?;
                group.push(event);
            }
        }
        Ok(groups.into_iter().flatten().collect())
    }

    /// An event as it is behind a leader, or as the leader.
    fn place(
        &self,
        mut event: Event,
        own: Modifiers,
        text: &str,
        leader: Option<&Event>,
    ) -> Result<Event, EventError> {
        let Some(leader) = leader else {
            let all = own.with(self.modifiers, text)?;
            all.apply(&mut event);
            event.grouping = Grouping::Leader {
                name: self.name.map(str::to_owned),
                is_weak: all.has('W'),
            };
            return Ok(event);
        };
        if let Some(modifier) = own.leading() {
            return Err(EventError::LeadingModifier {
                modifier,
                event: text.to_owned(),
                group: self.text.to_owned(),
            });
        }
        let all = own.with(self.modifiers.of_member(), text)?;
        all.apply(&mut event);
        join(&mut event, leader)?;
        Ok(event)
    }
}

/// Makes an event a member of a leader's group.
fn join(event: &mut Event, leader: &Event) -> Result<(), EventError> {
    if event.is_inherited != leader.is_inherited {
        return Err(EventError::InheritedInPart {
            leader: leader.name.clone(),
            member: event.name.clone(),
        });
    }
    let is_read = leader.sample_read;
    event.sample_read |= is_read;
    event.grouping = Grouping::Member { is_read };
    Ok(())
}

/// Whether an event can be counted on the CPUs of a group.
fn goes_with(event: &Event, group: &[Event]) -> bool {
    let of_group = group.iter().find_map(|other| other.cpus.as_ref());
    event.cpus.is_none() || of_group.is_none() || of_group == event.cpus.as_ref()
}

/// Makes one group of all events, as `perf record --group` does.
///
/// # Errors
/// [`EventError::LeadingModifier`].
pub fn group_all(events: &mut [Event]) -> Result<(), EventError> {
    let Some((leader, members)) = events.split_first_mut() else {
        return Ok(());
    };
    for member in &mut *members {
        let flags = member.attr.flags;
        let leading = [('D', AttrFlags::PINNED), ('e', AttrFlags::EXCLUSIVE)];
        if let Some((modifier, _)) = leading.into_iter().find(|(_, flag)| flags.has(*flag)) {
            return Err(EventError::LeadingModifier {
                modifier,
                event: member.name.clone(),
                group: "--group".to_owned(),
            });
        }
        join(member, leader)?;
    }
    leader.grouping = Grouping::Leader {
        name: None,
        is_weak: false,
    };
    Ok(())
}
