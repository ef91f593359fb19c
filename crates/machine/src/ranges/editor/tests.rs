//! Sets of ranges: each change as a fact, and any order of changes against an array.

use super::*;
use crate::ImageId;
use crate::ranges::Backing;
use proptest::prelude::*;

fn range(start: u64, end: u64, image: u32) -> Range {
    Range {
        start,
        end,
        pgoff: start * 10,
        image: ImageId(image),
        is_code: true,
        backing: Backing::File,
    }
}

fn remove(editor: &mut Editor, root: Root, start: u64, end: u64) -> Root {
    editor.restore(root, start..end, Root::default())
}

#[test]
fn a_mapping_cuts_the_ones_it_covers_and_old_roots_stay() {
    let mut editor = Editor::new(0);
    let before = editor.insert(Root(0), range(10, 100, 1));
    let after = editor.insert(before, range(40, 50, 2));
    let image = |root, at| editor.find(root, at).map(|found| found.image.0);
    assert_eq!(
        [9, 10, 39, 40, 49, 50, 99, 100].map(|at| image(after, at)),
        [
            None,
            Some(1),
            Some(1),
            Some(2),
            Some(2),
            Some(1),
            Some(1),
            None
        ]
    );
    assert_eq!(image(before, 45), Some(1));
    // The remainder keeps the file's offsets: 50 is 40 into a range that starts at 100.
    assert_eq!(editor.find(after, 50).unwrap().pgoff, 140);
}

#[test]
fn the_same_mapping_again_is_no_change() {
    let mut editor = Editor::new(0);
    let root = editor.insert(Root(0), range(10, 20, 1));
    assert_eq!(editor.insert(root, range(10, 20, 1)), root);
    assert_eq!(editor.insert(root, range(20, 20, 1)), root);
    // Nor is a part of it, as mprotect announces.
    let part = range(10, 20, 1).from(14).until(16);
    assert_eq!(editor.insert(root, part), root);
    assert_ne!(editor.insert(root, range(14, 16, 1)), root);
}

#[test]
fn what_goes_on_with_its_neighbours_is_one_range() {
    let mut editor = Editor::new(0);
    let whole = range(10, 40, 1);
    let root = editor.insert(Root(0), whole);
    let hole = remove(&mut editor, root, 20, 30);
    assert_eq!(editor.find(hole, 25), None);
    assert_eq!(editor.insert(hole, whole.from(20).until(30)), root);
    assert_eq!(editor.restore(hole, 15..35, root), root);
}

#[test]
fn a_change_leaves_no_garbage() {
    let mut editor = Editor::new(0);
    let mut root = Root(0);
    for n in 0..100 {
        root = editor.insert(root, range(n * 10, n * 10 + 5, 1));
    }
    let n_nodes = editor.ranges.nodes.len();
    let with = editor.insert(root, range(503, 509, 2));
    // A path from the root, twice the logarithm long or so.
    assert!(editor.ranges.nodes.len() - n_nodes < 50);
    let n_nodes = editor.ranges.nodes.len();
    for _ in 0..100 {
        let without = editor.restore(with, 503..509, root);
        assert_eq!(without, root);
        assert_eq!(editor.insert(without, range(503, 509, 2)), with);
    }
    assert_eq!(editor.ranges.nodes.len(), n_nodes);
    assert!(editor.scratch.is_empty());
}

/// What an array of addresses says after the same changes: image and file offset.
type Model = [Option<(u32, u64)>; 100];

fn root_of(editor: &mut Editor, model: &Model, order: impl Iterator<Item = usize>) -> Root {
    order.fold(Root(0), |root, at| match model[at] {
        Some((image, pgoff)) => {
            let start = at as u64;
            let one = Range {
                start,
                end: start + 1,
                pgoff,
                image: ImageId(image),
                is_code: true,
                backing: Backing::File,
            };
            editor.insert(root, one)
        }
        None => root,
    })
}

proptest! {
    #[test]
    fn it_agrees_with_an_array_and_equal_sets_are_one_root(
        ops in proptest::collection::vec((0u64..60, 0u64..30, 0u32..5), 1..60),
        step in prop::sample::select(vec![1usize, 3, 7, 9, 11, 13, 37, 99]),
    ) {
        let mut editor = Editor::new(0);
        let mut root = Root(0);
        let mut model: Model = [None; 100];
        for (start, len, image) in ops {
            let end = start + len;
            let span = usize::try_from(start).unwrap()..usize::try_from(end).unwrap();
            if image == 0 {
                root = remove(&mut editor, root, start, end);
                model[span].fill(None);
            } else {
                let range = Range { pgoff: start * u64::from(image % 2 + 1), ..range(start, end, image / 2) };
                root = editor.insert(root, range);
                for at in span {
                    model[at] = Some((range.image.0, range.pgoff + at as u64 - start));
                }
            }
            for at in 0..100u64 {
                let found = editor.find(root, at).map(|f| (f.image.0, f.from(at).pgoff));
                prop_assert_eq!(found, model[usize::try_from(at).unwrap()]);
            }
        }
        // Any other order of other changes to the same set.
        let forth = root_of(&mut editor, &model, (0..100).map(|at| at * step % 100));
        let back = root_of(&mut editor, &model, (0..100).rev());
        let middle = editor.insert(root, range(20, 70, 9));
        let again = editor.restore(middle, 5..80, root);
        prop_assert_eq!((forth, back, again), (root, root, root));
    }
}
