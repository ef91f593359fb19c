//! Facts about known names: what is asked once, and what is forgotten.

use super::*;
use rprof_base::BuildId;
use std::cell::Cell;

fn image(build_id: Option<&[u8]>) -> RecordedImage {
    RecordedImage {
        path: b"/usr/lib/libx.so".to_vec(),
        build_id: build_id.and_then(BuildId::new),
        inode: None,
        device: None,
        kind: ImageKind::User,
    }
}

fn at(addresses: &[u64]) -> Vec<Location> {
    let location = |&address| Location { image: 0, address };
    addresses.iter().map(location).collect()
}

/// Addresses from 10 on are in `one`; those before have no name.
fn ask(locations: &[Location], _: bool) -> Option<SymbolizeResult> {
    let mut collector = Collector::default();
    for location in locations {
        if let Some(offset) = location.address.checked_sub(10) {
            let name = collector.name(b"one", |_| "one".to_owned());
            collector.frame(Frame {
                name,
                start: 10,
                offset,
                size: None,
                is_inlined: false,
                line: None,
            });
        } else {
            collector.function_start(Svma(3));
        }
        collector.end_address();
    }
    collector.explain(Reason::OnlyExported);
    Some(Ok(collector.finish()))
}

fn words(symbolized: &Symbolized, n_locations: usize) -> Vec<String> {
    let word = |idx| match symbolized.frames(idx) {
        [] => format!("{:?}", symbolized.function_start(idx).map(|start| start.0)),
        [frame, ..] => format!("{}+{}", symbolized.name(frame.name), frame.offset),
    };
    (0..n_locations).map(word).collect()
}

#[test]
fn what_is_known_is_not_asked_again_and_is_the_same() {
    let known = KnownNames::default();
    let n_asked = Cell::new(0);
    let asking = |locations: &[Location], index: bool| {
        n_asked.set(n_asked.get() + locations.len());
        ask(locations, index)
    };
    let image = image(Some(&[7; 20]));
    for (addresses, n_all) in [(&[2, 12, 15][..], 3), (&[2, 12], 3), (&[12, 14, 15], 4)] {
        let locations = at(addresses);
        let named = known.name(&image, &locations, asking).unwrap().unwrap();
        let asked = ask(&locations, false).unwrap().unwrap();
        let n = addresses.len();
        assert_eq!(words(&named, n), words(&asked, n));
        assert_eq!(named.missing_reason(), asked.missing_reason());
        assert_eq!(n_asked.get(), n_all);
    }
}

#[test]
fn what_no_reading_asks_for_any_more_is_forgotten_and_all_else_stays() {
    let known = KnownNames::default();
    let stays = image(Some(&[7; 20]));
    let counts = || {
        let images = known.images.lock().unwrap();
        (images.all.len(), images.n_places, images.n_bytes)
    };
    let n_hints = || known.hints.lock().unwrap().len();
    let reason = Reason::OnlyExported;
    let hint = |of: &[(&RecordedImage, &Reason)]| vec![Some("x".to_owned()); of.len()];
    let n_asked = Cell::new(0);
    let mut held = None;
    for reading in 0..200u8 {
        known.begin_reading();
        known.name(&stays, &at(&[2, 12]), |locations, index| {
            n_asked.set(n_asked.get() + locations.len());
            ask(locations, index)
        });
        known.hints(&[(&stays, &reason)], hint);
        if held.is_none() {
            held = Some((counts(), n_hints()));
        }
        if reading < 100 {
            // Programs that run once.
            let mut ends = image(Some(&[reading; 19]));
            ends.path = format!("/tmp/prog{reading}").into_bytes();
            known.name(&ends, &at(&[2, 12, 15]), ask);
            known.hints(&[(&ends, &reason)], hint);
        }
        assert!(counts().0 <= 2 + usize::try_from(MOST_UNASKED).unwrap());
    }
    assert_eq!(Some((counts(), n_hints())), held);
    assert_eq!(n_asked.get(), 2, "what was asked for again and again stays");
}

#[test]
fn images_without_an_identity_are_asked_each_time() {
    let known = KnownNames::default();
    let n_asked = Cell::new(0);
    let asking = |locations: &[Location], index: bool| {
        n_asked.set(n_asked.get() + 1);
        ask(locations, index)
    };
    for _ in 0..3 {
        known.name(&image(None), &at(&[12]), asking);
    }
    assert_eq!(n_asked.get(), 3);
}
