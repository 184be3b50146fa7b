//! The host of a page, by which a request selects the page.

use crate::model::domain_names::{DomainNames, is_hostname};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum PageHost {
    /// A label below the host of the pages; a page with this slug need not exist.
    Slug(String),
    /// A host name that may be a custom domain.
    Custom(String),
}

impl PageHost {
    /// Reads the host of a request; `None` if it cannot be that of a page.
    pub(super) fn read(host: &str, names: &DomainNames) -> Option<Self> {
        if names.is_of_api(host) {
            return None;
        }
        if let Some(slug) = names.slug(host) {
            return Some(Self::Slug(slug.to_owned()));
        }
        is_hostname(host).then(|| Self::Custom(host.to_owned()))
    }
}
