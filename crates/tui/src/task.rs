//! Work that takes long: it is done beside the loop, so that keys are read meanwhile.

use crate::shown::{CountedSamples, Shown};
use rprof_query::{Explorer, SampleSelection};
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// How to compute what a view shows from counted samples. Views with the same recipe share what it makes.
pub(crate) trait Recipe: Clone + PartialEq + Debug + Send + Sync + 'static {
    type Product: Debug + Send;

    fn make(&self, counted: &CountedSamples) -> Self::Product;
}

/// What a recipe made.
#[derive(Debug)]
pub(crate) struct MadePart<R: Recipe> {
    pub(crate) recipe: R,
    pub(crate) product: R::Product,
}

/// A [`Recipe`] of any type.
pub(crate) trait AnyRecipe: Any + Debug + Send + Sync {
    /// Makes a [`MadePart`].
    fn make_part(&self, counted: &CountedSamples) -> Box<dyn Any + Send>;

    /// Whether a part was made by a recipe of this type, perhaps with other settings.
    fn is_kind_of(&self, part: &dyn Any) -> bool;

    fn is_made(&self, shown: &Shown) -> bool;

    fn is_same(&self, other: &dyn AnyRecipe) -> bool;
}

impl<R: Recipe> AnyRecipe for R {
    fn make_part(&self, counted: &CountedSamples) -> Box<dyn Any + Send> {
        Box::new(MadePart {
            recipe: self.clone(),
            product: self.make(counted),
        })
    }

    fn is_kind_of(&self, part: &dyn Any) -> bool {
        part.is::<MadePart<R>>()
    }

    fn is_made(&self, shown: &Shown) -> bool {
        shown.part::<R>().is_some_and(|made| made.recipe == *self)
    }

    fn is_same(&self, other: &dyn AnyRecipe) -> bool {
        (other as &dyn Any).downcast_ref::<R>() == Some(self)
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Task {
    Count(Arc<Explorer>, Box<SampleSelection>),
    Part(Arc<CountedSamples>, Arc<dyn AnyRecipe>),
}

/// The result of a task, and what it is of.
#[derive(Debug)]
pub(crate) enum Made {
    /// `None` if there is no such event.
    Counted(Box<SampleSelection>, Option<Arc<CountedSamples>>),
    Part(Arc<CountedSamples>, Box<dyn Any + Send>),
}

impl Task {
    pub(crate) fn run(self) -> Made {
        match self {
            Self::Count(explorer, selection) => {
                let counted = CountedSamples::new(explorer, (*selection).clone());
                Made::Counted(selection, counted.map(Arc::new))
            }
            Self::Part(counted, recipe) => {
                let part = recipe.make_part(&counted);
                Made::Part(counted, part)
            }
        }
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Count(explorer, one), Self::Count(of, other)) => {
                Arc::ptr_eq(explorer, of) && one == other
            }
            (Self::Part(of, one), Self::Part(other_of, other)) => {
                Arc::ptr_eq(of, other_of) && one.is_same(&**other)
            }
            _ => false,
        }
    }
}
