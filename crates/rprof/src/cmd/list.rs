//! `rprof list`.

use crate::args::ListArgs;
use anyhow::{Context, Result, anyhow};
use rprof_events::{Selection, Sources};
use rprof_inspect::{JsonFields, ListOptions, Listing, visit_list, write_list};
use std::io::Write;
use std::process::ExitCode;

pub(crate) fn run(args: &ListArgs) -> Result<ExitCode> {
    let options = ListOptions {
        selection: Selection::of(&args.words),
        fields: args.fields,
    };
    let listing = match &args.path {
        None => Listing::of(&Sources::default(), &options),
        Some(path) => Listing::of_functions(path, &options)
            .with_context(|| format!("looking for functions in {}", path.display()))?,
    };
    if listing.is_empty() && !args.json {
        let words = args.words.join("', '");
        return Err(anyhow!("no event fits '{words}': rprof list shows all"));
    }
    let mut text = Vec::new();
    if args.json {
        let mut json = JsonFields::new();
        visit_list(&listing, &mut json);
        text = json.finish();
        text.push(b'\n');
    } else {
        write_list(&listing, &mut text)?;
    }
    let mut out = std::io::stdout().lock();
    out.write_all(&text)
        .and_then(|()| out.flush())
        .context("writing the list")?;
    Ok(ExitCode::SUCCESS)
}
