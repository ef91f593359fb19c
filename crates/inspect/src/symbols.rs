//! Where names come from, by image: as text, and as named fields.

use rprof_abi::{Fields, Value};
use rprof_analysis::{ImageSymbols, RecordingSymbols};
use rprof_base::Share;
use rprof_untrusted::printable;
use std::io::{self, Write};

/// Version of the form with named fields: raised when a field changes its name or meaning.
const VERSION: u64 = 2;

/// Writes one line for each image that samples hit, and more below it where there is more to say;
/// with `all`, also images that no sample hit.
///
/// # Errors
/// The writer's.
pub fn write_symbols(
    symbols: &RecordingSymbols,
    all: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    let shown = symbols.images.iter().filter(|one| all || one.addresses > 0);
    let rows: Vec<(String, &ImageSymbols)> = shown
        .map(|image| (format!("{}/{}", image.named, image.addresses), image))
        .collect();
    writeln!(out, "# Named: {}", named_shares(symbols))?;
    writeln!(out, "#")?;
    let widths = rows.iter().map(|(named, _)| named.len());
    let width = widths.max().unwrap_or(0).max("Named".len());
    writeln!(out, "#    Self  {:>width$}  Image", "Named")?;
    writeln!(out, "# .......  {}  {}", ".".repeat(width), ".".repeat(60))?;
    for (named, image) in rows {
        let share = Share::of(image.weight, symbols.weight);
        let path = printable(&image.path);
        writeln!(out, "  {share:>6.2}%  {named:>width$}  {path}")?;
        for (what, text) in more(image) {
            let text = printable(&text);
            writeln!(out, "{:indent$}{what:<8} {text}", "", indent = width + 13)?;
        }
    }
    Ok(())
}

/// How much has a name, all images together.
fn named_shares(symbols: &RecordingSymbols) -> String {
    let (mut unnamed, mut addresses, mut named) = (0u64, 0, 0);
    for image in &symbols.images {
        unnamed = unnamed.saturating_add(image.unnamed_weight);
        addresses += image.addresses as u64;
        named += image.named as u64;
    }
    format!(
        "{:.2}% of samples, {:.2}% of {addresses} addresses",
        Share::of(symbols.weight.saturating_sub(unnamed), symbols.weight),
        Share::of(named, addresses)
    )
}

/// What is said below an image.
fn more(image: &ImageSymbols) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    if let Some(build_id) = &image.build_id {
        lines.push(("build id", build_id.clone()));
    }
    if !image.sources.is_empty() {
        lines.push(("gives", image.sources.join(", ")));
    }
    let files = image.files.iter().filter(|&file| *file != image.path);
    lines.extend(files.map(|file| ("from", file.clone())));
    if let Some(reason) = &image.reason {
        lines.push(("why not", reason.clone()));
    }
    if let Some(hint) = &image.hint {
        lines.push(("fix", hint.clone()));
    }
    if image.named > 0 && image.unnamed_weight > 0 {
        let share = Share::of(image.unnamed_weight, image.weight);
        let holes = format!("{share:.2} % of its samples are at addresses without a name");
        lines.push(("holes", holes));
    }
    lines
}

/// Says everything by name, all images included.
pub fn visit_symbols(symbols: &RecordingSymbols, fields: &mut dyn Fields) {
    fields.field("schema", Value::Text(b"rprof-symbols"));
    fields.field("version", Value::Unsigned(VERSION));
    fields.field("weight", Value::Unsigned(symbols.weight));
    fields.list("images", &symbols.images, |fields, image| {
        fields.object("", |fields| visit_image(image, fields));
    });
    fields.list("warnings", &symbols.warnings, |fields, warning| {
        fields.field("", Value::Text(warning.as_bytes()));
    });
}

fn visit_image(image: &ImageSymbols, fields: &mut dyn Fields) {
    let text = |fields: &mut dyn Fields, name: &str, text: &Option<String>| {
        if let Some(text) = text {
            fields.field(name, Value::Text(text.as_bytes()));
        }
    };
    fields.field("path", Value::Text(image.path.as_bytes()));
    text(fields, "build_id", &image.build_id);
    fields.field("weight", Value::Unsigned(image.weight));
    fields.field("unnamed_weight", Value::Unsigned(image.unnamed_weight));
    fields.field("addresses", Value::Unsigned(image.addresses as u64));
    fields.field("named", Value::Unsigned(image.named as u64));
    fields.list("gives", &image.sources, |fields, source| {
        fields.field("", Value::Text(source.as_bytes()));
    });
    fields.list("files", &image.files, |fields, file| {
        fields.field("", Value::Text(file.as_bytes()));
    });
    text(fields, "reason", &image.reason);
    text(fields, "fix", &image.hint);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::JsonFields;

    fn example() -> RecordingSymbols {
        let image = |path: &str, weight| ImageSymbols {
            path: path.to_owned(),
            weight,
            addresses: 4,
            ..ImageSymbols::default()
        };
        RecordingSymbols {
            weight: 1000,
            images: vec![
                ImageSymbols {
                    build_id: Some("ab12".to_owned()),
                    unnamed_weight: 75,
                    named: 3,
                    files: vec!["/bin/x".to_owned(), "/debug/x".to_owned()],
                    sources: vec!["symtab", "lines"],
                    ..image("/bin/x", 750)
                },
                ImageSymbols {
                    unnamed_weight: 250,
                    reason: Some("stripped".to_owned()),
                    hint: Some("apt install x".to_owned()),
                    ..image("/lib/\x1b", 250)
                },
                ImageSymbols {
                    addresses: 0,
                    ..image("/idle", 0)
                },
            ],
            warnings: Vec::new(),
        }
    }

    #[test]
    fn each_image_says_where_its_names_come_from_or_why_not() {
        let text = |all| {
            let mut text = Vec::new();
            write_symbols(&example(), all, &mut text).unwrap();
            String::from_utf8(text).unwrap()
        };
        let expected = "\
# Named: 67.50% of samples, 37.50% of 8 addresses
#
#    Self  Named  Image
# .......  .....  ............................................................
   75.00%    3/4  /bin/x
                  build id ab12
                  gives    symtab, lines
                  from     /debug/x
                  holes    10.00 % of its samples are at addresses without a name
   25.00%    0/4  /lib/\\x1b
                  why not  stripped
                  fix      apt install x
";
        assert_eq!(text(false), expected);
        assert!(text(true).ends_with("    0.00%    0/0  /idle\n"));
    }

    #[test]
    fn the_fields_are_json() {
        let mut fields = JsonFields::new();
        visit_symbols(&example(), &mut fields);
        let json: serde_json::Value = serde_json::from_slice(&fields.finish()).unwrap();
        assert_eq!(json["images"][0]["files"][1], "/debug/x");
        assert_eq!(json["images"][1]["reason"], "stripped");
        assert_eq!(json["images"].as_array().unwrap().len(), 3);
    }
}
