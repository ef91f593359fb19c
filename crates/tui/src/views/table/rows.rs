//! Rows of the samples that are shown.

use crate::shown::{CountedSamples, Shown};
use crate::task::Recipe;
use rprof_profile::view::{
    CallTree, Columns, KeptRows, Order, Pruning, Row, Rows, SortKey, Weighing,
};

/// How rows are grouped, and what they are ordered by.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RowsBy {
    pub(crate) keys: Vec<SortKey>,
    pub(crate) weighing: Weighing,
}

impl Recipe for RowsBy {
    /// Always there: taken only while a tree is made.
    type Product = Option<KeptRows>;

    fn make(&self, counted: &CountedSamples) -> Self::Product {
        let profile = counted.explorer.profile();
        Some(Rows::new(profile, &counted.event, &self.keys, self.weighing).keep())
    }
}

impl RowsBy {
    /// The weight that rows are ordered by.
    pub(crate) fn weight(&self, row: &Row) -> u64 {
        match self.weighing {
            Weighing::Own => row.self_weight,
            Weighing::WithChildren => row.total_weight,
        }
    }
}

impl Shown {
    fn kept_rows(&self) -> Option<&KeptRows> {
        self.part::<RowsBy>()?.product.as_ref()
    }

    /// The rows, once made.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &Row> {
        self.kept_rows().into_iter().flat_map(KeptRows::iter)
    }

    pub(crate) fn row(&self, number: usize) -> Option<&Row> {
        self.kept_rows()?.get(number)
    }

    /// Puts rows in the order of another weighing: the sums of rows have both.
    pub(crate) fn sort_rows(&mut self, by: &RowsBy) {
        let counted = self.counted.clone();
        if let Some(made) = self.part_mut::<RowsBy>()
            && made.recipe.keys == by.keys
            && made.recipe.weighing != by.weighing
            && let Some(kept) = &mut made.product
        {
            let profile = counted.explorer.profile();
            kept.sort(profile, &Columns::of(&by.keys, by.weighing));
            made.recipe.weighing = by.weighing;
        }
    }

    /// The tree below a row.
    pub(crate) fn tree(&mut self, row: usize, order: Order) -> Option<CallTree> {
        let row = *self.row(row)?;
        let counted = self.counted.clone();
        let made = self.part_mut::<RowsBy>()?;
        let profile = counted.explorer.profile();
        let rows = made.product.take()?.again(profile, &counted.event);
        let tree = rows.call_tree(&row, order, Pruning::Below(0));
        made.product = Some(rows.keep());
        Some(tree)
    }
}
