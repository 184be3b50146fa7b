//! The HTTP methods that routes have.

use actix_web::http::Method;

/// The HTTP methods of routes, in the order of `Allow`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HttpVerb {
    /// Reads a resource or list.
    Get,
    /// Reads a resource without its body; every route with `Get` has this method.
    Head,
    /// Creates a resource, or performs an action.
    Post,
    /// Changes members of a resource; every route with `Patch` has this method.
    Put,
    /// Changes members of a resource.
    Patch,
    /// Deletes a resource.
    Delete,
}

impl HttpVerb {
    /// All methods, in the order of `Allow`.
    pub const ALL: [Self; 6] = [Self::Get, Self::Head, Self::Post, Self::Put, Self::Patch, Self::Delete];

    /// Returns the verb of a request; `None` for methods that no route has.
    #[must_use]
    pub fn of(method: &Method) -> Option<Self> {
        Self::ALL.into_iter().find(|verb| verb.as_str() == method.as_str())
    }

    /// Returns the name of the method.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// Returns true if the method changes nothing.
    #[must_use]
    pub const fn is_safe(self) -> bool {
        matches!(self, Self::Get | Self::Head)
    }
}
