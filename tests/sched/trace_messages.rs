//! The messages of Perfetto's traces (v59.1), as far as tests look into them: written here, not taken from rprof.

use prost::Message;

#[derive(Clone, PartialEq, Message)]
pub(super) struct Trace {
    #[prost(message, repeated, tag = "1")]
    pub(super) packet: Vec<Packet>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Packet {
    #[prost(message, optional, tag = "1")]
    pub(super) ftrace: Option<Bundle>,
    #[prost(message, optional, tag = "2")]
    pub(super) tree: Option<Tree>,
    #[prost(uint64, tag = "8")]
    pub(super) timestamp: u64,
    #[prost(uint32, tag = "10")]
    pub(super) sequence: u32,
    #[prost(message, optional, tag = "12")]
    pub(super) interned: Option<Interned>,
    #[prost(uint32, tag = "13")]
    pub(super) flags: u32,
    #[prost(message, optional, tag = "45")]
    pub(super) system: Option<System>,
    #[prost(message, optional, tag = "59")]
    pub(super) defaults: Option<Defaults>,
    #[prost(message, optional, tag = "66")]
    pub(super) sample: Option<Sample>,
    #[prost(uint32, optional, tag = "98")]
    pub(super) machine: Option<u32>,
    #[prost(message, optional, tag = "117")]
    pub(super) state: Option<State>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Bundle {
    #[prost(uint32, optional, tag = "1")]
    pub(super) cpu: Option<u32>,
    #[prost(message, repeated, tag = "2")]
    pub(super) event: Vec<Event>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Event {
    #[prost(uint64, tag = "1")]
    pub(super) timestamp: u64,
    #[prost(uint32, tag = "2")]
    pub(super) pid: u32,
    #[prost(message, optional, tag = "4")]
    pub(super) switch: Option<Switch>,
    #[prost(uint32, tag = "5")]
    pub(super) flags: u32,
    #[prost(message, optional, tag = "20")]
    pub(super) waking: Option<Named>,
    #[prost(message, optional, tag = "235")]
    pub(super) new: Option<NewTask>,
    #[prost(message, optional, tag = "236")]
    pub(super) rename: Option<Rename>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Switch {
    #[prost(string, tag = "1")]
    pub(super) prev_comm: String,
    #[prost(int32, tag = "2")]
    pub(super) prev: i32,
    #[prost(int64, tag = "4")]
    pub(super) state: i64,
    #[prost(string, tag = "5")]
    pub(super) next_comm: String,
    #[prost(int32, tag = "6")]
    pub(super) next: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Named {
    #[prost(string, tag = "1")]
    pub(super) comm: String,
    #[prost(int32, tag = "2")]
    pub(super) pid: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct NewTask {
    #[prost(int32, tag = "1")]
    pub(super) pid: i32,
    #[prost(string, tag = "2")]
    pub(super) comm: String,
    #[prost(uint64, tag = "3")]
    pub(super) clone_flags: u64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Rename {
    #[prost(int32, tag = "1")]
    pub(super) pid: i32,
    #[prost(string, tag = "3")]
    pub(super) comm: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Tree {
    #[prost(message, repeated, tag = "2")]
    pub(super) threads: Vec<TreeThread>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TreeThread {
    #[prost(int32, tag = "1")]
    pub(super) tid: i32,
    #[prost(string, optional, tag = "2")]
    pub(super) name: Option<String>,
    #[prost(int32, tag = "3")]
    pub(super) tgid: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct State {
    #[prost(int64, tag = "3")]
    pub(super) tid: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct System {
    #[prost(message, optional, tag = "1")]
    pub(super) utsname: Option<Utsname>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Utsname {
    #[prost(string, tag = "3")]
    pub(super) release: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Defaults {
    #[prost(message, optional, tag = "12")]
    pub(super) sample: Option<SampleDefaults>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SampleDefaults {
    #[prost(message, optional, tag = "1")]
    pub(super) timebase: Option<Timebase>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Timebase {
    #[prost(string, tag = "10")]
    pub(super) name: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Sample {
    #[prost(uint32, optional, tag = "1")]
    pub(super) cpu: Option<u32>,
    #[prost(uint32, tag = "2")]
    pub(super) pid: u32,
    #[prost(uint32, tag = "3")]
    pub(super) tid: u32,
    #[prost(uint64, tag = "4")]
    pub(super) callstack: u64,
    #[prost(uint64, tag = "6")]
    pub(super) count: u64,
    #[prost(uint64, tag = "17")]
    pub(super) lost: u64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Interned {
    #[prost(message, repeated, tag = "5")]
    pub(super) functions: Vec<Text>,
    #[prost(message, repeated, tag = "6")]
    pub(super) frames: Vec<Frame>,
    #[prost(message, repeated, tag = "7")]
    pub(super) callstacks: Vec<Callstack>,
    #[prost(message, repeated, tag = "17")]
    pub(super) paths: Vec<Text>,
    #[prost(message, repeated, tag = "19")]
    pub(super) mappings: Vec<Mapping>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Text {
    #[prost(uint64, tag = "1")]
    pub(super) iid: u64,
    #[prost(bytes = "vec", tag = "2")]
    pub(super) text: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Frame {
    #[prost(uint64, tag = "1")]
    pub(super) iid: u64,
    #[prost(uint64, tag = "2")]
    pub(super) function: u64,
    #[prost(uint64, tag = "3")]
    pub(super) mapping: u64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Callstack {
    #[prost(uint64, tag = "1")]
    pub(super) iid: u64,
    #[prost(uint64, repeated, packed = "false", tag = "2")]
    pub(super) frames: Vec<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Mapping {
    #[prost(uint64, tag = "1")]
    pub(super) iid: u64,
    #[prost(uint64, repeated, packed = "false", tag = "7")]
    pub(super) paths: Vec<u64>,
}
