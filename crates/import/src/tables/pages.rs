//! Pages of a column that hold no more values than the file says: a few bytes of a page can stand for billions.

use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};

/// The pages of a column, which end with an error if they have more values than are left.
pub(super) struct CountedPages {
    pages: Box<dyn PageReader>,
    left: u64,
}

impl CountedPages {
    /// The pages of a column with this many values.
    pub(super) fn new(pages: Box<dyn PageReader>, n_values: u64) -> Self {
        Self {
            pages,
            left: n_values,
        }
    }

    fn count(&mut self, page: &Page) -> Result<()> {
        if page.is_dictionary_page() {
            return Ok(());
        }
        let left = self.left.checked_sub(page.num_values().into());
        let too_many =
            || ParquetError::General("a column with more values than it says".to_owned());
        self.left = left.ok_or_else(too_many)?;
        Ok(())
    }
}

impl PageReader for CountedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        page.iter().try_for_each(|page| self.count(page))?;
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.pages.at_record_boundary()
    }
}

impl Iterator for CountedPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}
