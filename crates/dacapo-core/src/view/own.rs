//! The part of a view that is its kind's own.

use std::fmt;

use crate::engine::KindView;

/// A task's own view, if its kind has one, under the name of that kind.
pub(super) struct Own {
    kind: String,
    view: Option<Box<dyn KindView>>,
}

impl Own {
    pub(super) fn new(kind: &str, view: Option<Box<dyn KindView>>) -> Self {
        Self { kind: kind.to_owned(), view }
    }

    pub(super) fn get(&self) -> Option<&dyn KindView> {
        self.view.as_deref()
    }

    pub(super) fn get_mut(&mut self) -> Option<&mut Box<dyn KindView>> {
        self.view.as_mut()
    }
}

impl Clone for Own {
    fn clone(&self) -> Self {
        Self { kind: self.kind.clone(), view: self.view.as_ref().map(|view| view.boxed()) }
    }
}

impl fmt::Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.view.fmt(f)
    }
}

/// Two that say the same are the same.
impl PartialEq for Own {
    fn eq(&self, other: &Self) -> bool {
        let said = |own: &Self| own.get().map(KindView::to_json_in_full);
        self.kind == other.kind && said(self) == said(other)
    }
}
