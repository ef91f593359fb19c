//! Messages are decoded again: every number leads to an entry, and sums are those of the counts.

use super::messages::{Dictionary, ProfilesData, Value};
use super::{Otlp, ValueKind};
use crate::Format;
use prost::Message;
use rprof_profile::{
    CodeFrame, CodeImage, CodeKind, CodeLocation, CountedStacks, CountedThread, FrameId,
    SampleCount, StackCount, testing,
};

#[derive(Clone, PartialEq, prost::Message)]
struct DecodedProfile {
    #[prost(message, optional, tag = "1")]
    sample_type: Option<super::ValueType>,
    #[prost(message, repeated, tag = "2")]
    samples: Vec<super::Sample>,
    #[prost(bytes = "vec", tag = "7")]
    profile_id: Vec<u8>,
    #[prost(int32, repeated, tag = "11")]
    attribute_indices: Vec<i32>,
}

/// Two functions of a program, the inner one inlined; two events, the first with losses.
fn stacks() -> CountedStacks {
    let mut stacks = CountedStacks::default();
    let profile = &mut stacks.profile;
    profile.about.host = Some("vm".to_owned());
    profile.about.arch = Some("x86_64".to_owned());
    profile.events = vec![testing::event("cycles"), testing::event("faults")];
    profile.events[0].loss.samples = 3;
    let [path, id, comm] = ["/bin/prog", "ab12", "prog"].map(|text| profile.strings.intern(text));
    let file = profile.strings.intern("main.c");
    let [main, inlined] = ["main", "+hot"].map(|name| testing::frame(profile, name));
    let code = |address, frames: &[FrameId]| CodeLocation {
        image: 0,
        address,
        svma: None,
        function: None,
        frames: frames
            .iter()
            .map(|&frame| CodeFrame {
                frame,
                line: Some((file, 7)),
            })
            .collect(),
    };
    stacks.code.locations = vec![code(0x1010, &[main]), code(0x2020, &[inlined, main])];
    stacks.code.images.push(CodeImage {
        name: comm,
        path,
        build_id: Some(id),
        kind: CodeKind::Program,
        base: None,
    });
    stacks.threads.push(CountedThread {
        pid: 7,
        tid: 7,
        comm,
    });
    let outer = stacks.stacks.child(None, 0, FrameId::from_number(0));
    let inner = stacks.stacks.child(Some(outer), 0, FrameId::from_number(1));
    for (stack, event, samples, weight) in [
        (None, 0, 1, 10),
        (Some(inner), 0, 2, 20),
        (Some(outer), 1, 4, 4),
    ] {
        stacks.counts.push(StackCount {
            stack,
            thread: 0,
            cpu: Some(3),
            event,
            count: SampleCount { samples, weight },
        });
    }
    stacks
}

fn decoded(otlp: &Otlp, stacks: &CountedStacks) -> (ProfilesData, Vec<DecodedProfile>) {
    let mut bytes = Vec::new();
    otlp.write(stacks, &mut bytes).unwrap();
    let data = ProfilesData::decode(&*bytes).unwrap();
    let scopes = &data.resource_profiles[0].scope_profiles;
    let profiles = scopes[0].profiles.iter();
    let profiles = profiles.map(|profile| DecodedProfile::decode(&**profile).unwrap());
    let profiles = profiles.collect();
    (data, profiles)
}

#[test]
fn every_event_has_a_profile_of_samples_and_one_of_weight() {
    let (data, profiles) = decoded(&Otlp::default(), &stacks());
    let dictionary = data.dictionary.unwrap();
    let sums = profiles.iter().map(|profile| {
        let kind = profile.sample_type.unwrap().type_strindex;
        let values = profile.samples.iter().flat_map(|sample| &sample.values);
        let name = &*dictionary.string_table[usize::try_from(kind).unwrap()];
        (name, values.sum::<i64>())
    });
    let sums: Vec<_> = sums.collect();
    let expected = [
        ("cycles-samples", 3),
        ("cycles", 30),
        ("faults-samples", 4),
        ("faults", 4),
    ];
    assert_eq!(sums, expected);
    assert_eq!(ValueKind::Weight.of(SampleCount::default()), 0);
}

#[test]
fn tables_begin_with_an_empty_entry_and_hold_all_that_is_named() {
    let (data, profiles) = decoded(&Otlp::default(), &stacks());
    let Dictionary {
        mapping_table: mappings,
        location_table: locations,
        function_table: functions,
        link_table: links,
        string_table: strings,
        attribute_table: attributes,
        stack_table: stacks,
    } = data.dictionary.unwrap();
    assert_eq!(strings[0], "");
    assert_eq!(mappings[0], Default::default());
    assert_eq!(locations[0], Default::default());
    assert_eq!(functions[0], Default::default());
    assert_eq!(attributes[0], Default::default());
    assert_eq!(stacks[0], Default::default());
    assert_eq!(links, [Default::default()]);
    let text = |number: i32| &*strings[usize::try_from(number).unwrap()];
    let sample = &profiles[0].samples[1];
    let stack = &stacks[usize::try_from(sample.stack_index).unwrap()];
    // The innermost location comes first, and in it the function that was inlined.
    let names = stack.location_indices.iter().flat_map(|&number| {
        let location = &locations[usize::try_from(number).unwrap()];
        let mapping = &mappings[usize::try_from(location.mapping_index).unwrap()];
        assert!((mapping.memory_start..mapping.memory_limit).contains(&location.address));
        location.lines.iter().map(|line| {
            assert_eq!(line.line, 7);
            let function = &functions[usize::try_from(line.function_index).unwrap()];
            assert_eq!(text(function.filename_strindex), "main.c");
            text(function.name_strindex)
        })
    });
    assert_eq!(names.collect::<Vec<_>>(), ["hot", "main", "main"]);
    assert_eq!(profiles[0].samples[0].stack_index, 0);
    let attribute = |number: &i32| {
        let attribute = &attributes[usize::try_from(*number).unwrap()];
        let value = attribute.value.clone().unwrap().value.unwrap();
        (text(attribute.key_strindex), value)
    };
    let of_sample: Vec<_> = sample.attribute_indices.iter().map(attribute).collect();
    let expected = [
        ("process.pid", Value::Int(7)),
        ("thread.id", Value::Int(7)),
        ("thread.name", Value::Text("prog".to_owned())),
        ("cpu.logical_number", Value::Int(3)),
    ];
    assert_eq!(of_sample, expected);
    let lost: Vec<_> = profiles[0]
        .attribute_indices
        .iter()
        .map(attribute)
        .collect();
    assert_eq!(lost, [("rprof.lost_samples", Value::Int(3))]);
    let id = mappings[1].attribute_indices.iter().map(attribute);
    let name = "process.executable.build_id.gnu";
    assert_eq!(
        id.collect::<Vec<_>>(),
        [(name, Value::Text("ab12".to_owned()))]
    );
}

#[test]
fn resources_say_what_the_recording_says_unless_told_otherwise() {
    let mut otlp = Otlp::default();
    let attributes = |otlp: &Otlp, stacks: &CountedStacks| {
        let (data, _) = decoded(otlp, stacks);
        let resource = data.resource_profiles[0].resource.clone().unwrap();
        let attributes = resource.attributes.into_iter();
        let attributes = attributes.map(|one| match one.value.unwrap().value.unwrap() {
            Value::Text(text) => format!("{}={text}", one.key),
            Value::Int(number) => format!("{}={number}", one.key),
        });
        attributes.collect::<Vec<_>>()
    };
    let mut stacks = stacks();
    let expected = [
        "host.arch=amd64",
        "host.name=vm",
        "os.type=linux",
        "process.pid=7",
        "service.name=prog",
    ];
    assert_eq!(attributes(&otlp, &stacks), expected);
    let shop = ("service.name".to_owned(), "shop".to_owned());
    otlp.resource.extend([shop]);
    assert!(attributes(&otlp, &stacks).contains(&"service.name=shop".to_owned()));
    // Of several processes, none is the service.
    let other = CountedThread {
        pid: 8,
        ..stacks.threads[0]
    };
    stacks.threads.push(other);
    let unnamed = attributes(&Otlp::default(), &stacks);
    assert!(unnamed.contains(&"service.name=unknown_service".to_owned()));
    assert!(!unnamed.iter().any(|one| one.starts_with("process.pid")));
}

#[test]
fn ids_follow_from_what_is_said() {
    let ids = |stacks: &CountedStacks| {
        let (_, profiles) = decoded(&Otlp::default(), stacks);
        let ids = profiles.into_iter().map(|profile| profile.profile_id);
        ids.collect::<Vec<_>>()
    };
    let mut stacks = stacks();
    let first = ids(&stacks);
    assert!(first.iter().all(|id| id.len() == 16));
    assert_ne!(first[0], first[1]);
    assert_eq!(first, ids(&stacks));
    stacks.counts[0].count.samples += 1;
    assert_ne!(first[0], ids(&stacks)[0]);
}
