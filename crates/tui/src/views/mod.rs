//! The views, each in a file of its own that owns its state, behind one [trait](view::View).

pub(crate) mod box_names;
pub(crate) mod boxes;
pub(crate) mod calls;
pub(crate) mod context;
pub(crate) mod flame;
pub(crate) mod lanes;
pub(crate) mod opened;
pub(crate) mod table;
pub(crate) mod view;
pub(crate) mod waits;

use view::View;

/// All views, in the order of their tabs and number keys: to add one, write its file and name it here.
pub(crate) const VIEWS: &[fn() -> Box<dyn View>] = &[
    new::<table::TableView>,
    new::<calls::CallsView>,
    new::<flame::FlameView>,
    new::<lanes::LanesView>,
];

fn new<V: View + Default>() -> Box<dyn View> {
    Box::<V>::default()
}
