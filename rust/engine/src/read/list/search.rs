//! How far the next objects of a list are searched for.

use hydrofoil_pace::SCAN;
use hydrofoil_store::Page;

use crate::frame::Frame;

/// The objects that may still be looked at.
#[derive(Debug)]
pub(super) struct Search(usize);

impl Search {
    /// Return a search that ends after some objects if it is `near`, else with the list.
    pub(super) fn new(near: bool) -> Self {
        Self(if near { SCAN } else { usize::MAX })
    }

    /// Find the next object or the end of the page. Return false if that is further away.
    pub(super) fn find(&mut self, page: &mut Page) -> bool {
        page.look(&mut self.0)
    }

    /// Do the same; other requests go on meanwhile if it takes long.
    pub(super) fn find_apart<F: Frame>(&mut self, page: &mut Page) -> bool {
        if self.0 < usize::MAX {
            return self.find(page);
        }
        Self::new(true).find(page) || F::apart(|| self.find(page))
    }
}
