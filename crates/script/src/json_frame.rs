//! A frame of a call chain as an object of JSON.

use rprof_untrusted::{JsonLayout, JsonWriter};
use std::borrow::Cow;
use std::mem;

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

/// Appends a frame, with a comma behind it.
pub(crate) fn append_frame(frame: &Frame<'_>, out: &mut Vec<u8>) {
    let mut json = JsonWriter::after(mem::take(out), JsonLayout::Compact);
    json.object(|json| {
        json.key("address").hex(frame.address);
        json.field_if("name", frame.name);
        if let Some(offset) = frame.offset {
            json.key("offset").hex(offset);
        }
        if let Some(image) = &frame.image {
            json.key("image").text_of_bytes(image);
        }
        if frame.is_inlined {
            json.field("inlined", true);
        }
        if let Some((file, line)) = frame.source {
            json.field("file", file);
            json.field("line", line);
        }
    });
    *out = json.into_text();
    out.push(b',');
}
