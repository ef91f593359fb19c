//! `rprof list`.

use crate::args::ListArgs;
use crate::say;
use crate::screen::PagerArgs;
use anyhow::{Context, Error, Result, anyhow};
use rprof_events::{Selection, Sources};
use rprof_inspect::{JsonFields, ListOptions, Listing, visit_list, write_list};
use std::process::ExitCode;

pub(crate) fn run(args: &ListArgs, paging: PagerArgs) -> Result<ExitCode> {
    let options = ListOptions {
        selection: match args.path {
            None => Selection::of(&args.words),
            Some(_) => Selection::in_file(&args.words),
        },
        fields: args.fields,
    };
    let listing = match &args.path {
        None => Listing::of(&Sources::default(), &options),
        Some(path) => Listing::of_functions(path, &options)
            .with_context(|| format!("looking for functions in {}", path.display()))?,
    };
    if listing.is_empty() && !args.json {
        return Err(nothing(&listing, args));
    }
    let mut text = Vec::new();
    if args.json {
        text = JsonFields::line(|json| visit_list(&listing, json));
    } else {
        write_list(&listing, &mut text)?;
    }
    let pager = args.paging.or(paging).pager();
    pager.write(|out| out.write_all(&text).context("writing the list"))?;
    if !args.json {
        listing.warnings().iter().for_each(say::warning);
    }
    Ok(ExitCode::SUCCESS)
}

/// Why nothing is listed.
fn nothing(listing: &Listing, args: &ListArgs) -> Error {
    let words = args.words.join("', '");
    match (listing.warnings(), &args.path) {
        ([], Some(path)) => anyhow!(
            "no function or marker of {} matches '{words}'",
            path.display()
        ),
        ([], None) => anyhow!("no event matches '{words}': rprof list shows all events"),
        (why, _) => anyhow!("{}", why.join("; ")),
    }
}
