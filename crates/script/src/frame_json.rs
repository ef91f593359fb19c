//! One frame as JSON.

use crate::text;
use rprof_untrusted::Untrusted;
use std::borrow::Cow;

/// What is known of a frame.
#[derive(Debug)]
pub(crate) struct Frame<'a> {
    /// In its image's file.
    pub(crate) address: u64,
    pub(crate) name: Option<&'a str>,
    /// How far into the function it is.
    pub(crate) offset: Option<u64>,
    pub(crate) image: Option<Cow<'a, [u8]>>,
    pub(crate) is_inlined: bool,
    /// File and line.
    pub(crate) source: Option<(&'a str, u32)>,
}

/// Appends it, with a comma behind it.
pub(crate) fn append(frame: &Frame<'_>, out: &mut Vec<u8>) {
    out.push(b'{');
    key(out, "address");
    address(out, frame.address);
    if let Some(name) = frame.name {
        key(out, "name");
        string(out, name);
    }
    if let Some(offset) = frame.offset {
        key(out, "offset");
        address(out, offset);
    }
    if let Some(image) = &frame.image {
        key(out, "image");
        string_of_bytes(out, image);
    }
    if frame.is_inlined {
        key(out, "inlined");
        out.extend_from_slice(b"true");
    }
    if let Some((file, line)) = frame.source {
        key(out, "file");
        string(out, file);
        key(out, "line");
        text::decimal(out, line.into(), 0);
    }
    out.extend_from_slice(b"},");
}

/// Appends the name of a field, after what was before it.
pub(crate) fn key(out: &mut Vec<u8>, name: &str) {
    if !matches!(out.last(), Some(b'{' | b'[')) {
        out.push(b',');
    }
    string(out, name);
    out.push(b':');
}

/// Appends a string. Into memory nothing can fail.
pub(crate) fn string(out: &mut Vec<u8>, value: &str) {
    let _ = serde_json::to_writer(out, value);
}

/// Appends a string of bytes; what is not UTF-8 is U+FFFD.
pub(crate) fn string_of_bytes(out: &mut Vec<u8>, value: &[u8]) {
    string(out, Untrusted::of_bytes(value).raw());
}

/// Appends an address.
pub(crate) fn address(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(b"\"0x");
    text::hex(out, value, 0);
    out.push(b'"');
}
