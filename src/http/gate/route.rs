//! Routes (methods, path, access rule, handler) and the table that finds them.
//!
//! A route cannot be declared without its [`AccessRule`], and a table with an unprotected route is refused at start. The
//! gate decides in which order a request is checked.

use std::future::Future;
use std::sync::Arc;

use futures_util::future::{FutureExt as _, LocalBoxFuture, TryFutureExt as _};

use crate::http::gate::auth::Caller;
use crate::http::gate::call::ApiCall;
pub use crate::http::gate::http_verb::HttpVerb;
use crate::http::gate::write::CommittedReply;
use crate::http::kit::error::ApiError;
use crate::http::kit::path::{PathPattern, PathValues, RequestPath};
use crate::http::kit::query::QueryString;
use crate::http::kit::reply::ApiReply;
use crate::model::access::Permission;

/// Access rule of a route (contract 2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessRule {
    any_token: bool,
    is_one_enough: bool,
    permissions: &'static [Permission],
    when_true: &'static [(&'static str, Permission)],
    is_closed_to_confined: bool,
}

impl AccessRule {
    /// Allows every valid token, on every plan (`GET /v1/me`).
    #[must_use]
    pub const fn any_token() -> Self {
        Self { any_token: true, ..Self::needs(&[]) }
    }

    /// Allows tokens with all of these permissions, on plans with API access.
    #[must_use]
    pub const fn needs(permissions: &'static [Permission]) -> Self {
        let (any_token, is_one_enough, is_closed_to_confined) = (false, false, false);
        Self { any_token, is_one_enough, permissions, when_true: &[], is_closed_to_confined }
    }

    /// Allows tokens with at least one of these permissions, on plans with API access; the response depends on the
    /// permissions.
    #[must_use]
    pub const fn needs_one_of(permissions: &'static [Permission]) -> Self {
        Self { is_one_enough: true, ..Self::needs(permissions) }
    }

    /// Requires further permissions: each query parameter listed here needs its permission if its value is true.
    #[must_use]
    pub const fn when_true(self, when_true: &'static [(&'static str, Permission)]) -> Self {
        Self { when_true, ..self }
    }

    /// Excludes tokens confined to an access scope, because the route concerns the whole organisation.
    #[must_use]
    pub const fn for_whole_organisation(self) -> Self {
        Self { is_closed_to_confined: true, ..self }
    }

    /// Returns true if one of the permissions is enough.
    #[must_use]
    pub const fn is_one_enough(&self) -> bool {
        self.is_one_enough
    }

    /// The permissions of the rule. All are required, or only one of them, see `is_one_enough`.
    #[must_use]
    pub const fn permissions(&self) -> &'static [Permission] {
        self.permissions
    }

    /// Returns the query parameters that require a further permission when true.
    #[must_use]
    pub const fn flag_permissions(&self) -> &'static [(&'static str, Permission)] {
        self.when_true
    }

    /// Returns true if tokens that are confined to an access scope may not use the route.
    #[must_use]
    pub const fn is_closed_to_confined(&self) -> bool {
        self.is_closed_to_confined
    }

    /// Returns true if plans without API access may use the route as well.
    #[must_use]
    pub const fn is_free_of_plan(&self) -> bool {
        self.any_token
    }

    /// Checks that the caller has the required permissions, and may see everything that the route concerns.
    ///
    /// # Errors
    /// 403 with the first missing permission, or because the token is confined to an access scope.
    pub fn check(&self, caller: &Caller, query: &QueryString) -> Result<(), ApiError> {
        let asked = self.when_true.iter().filter(|(parameter, _)| query.is_true(parameter));
        let further = asked.map(|(_, permission)| permission);
        let has_one = self.is_one_enough && self.permissions.iter().any(|one| caller.require(*one).is_ok());
        let always = self.permissions.iter().filter(|_| !has_one);
        always.chain(further).try_for_each(|permission| caller.require(*permission))?;
        let reaches = !self.is_closed_to_confined || !caller.visibility().is_confined();
        if reaches { Ok(()) } else { Err(ApiError::Confined) }
    }
}

/// Returns true if the answers of `POST` at a path pattern may be stored under an `Idempotency-Key`: all but those of uploads,
/// which replace the file anyway (contract 1.10), and of trials, of which nothing is stored.
#[must_use]
pub fn stores_answers(path: &str) -> bool {
    !path.contains("/assets/") && path != "/v1/trials"
}

/// Handler of a route's requests.
pub type Handler<S> =
    Arc<dyn Fn(ApiCall<S>) -> LocalBoxFuture<'static, Result<ApiReply, ApiError>> + Send + Sync>;

/// A route: one row of the table.
pub struct ApiRoute<S> {
    verbs: &'static [HttpVerb],
    pattern: PathPattern,
    access: AccessRule,
    changes_nothing: bool,
    handler: Handler<S>,
}

impl<S> ApiRoute<S> {
    /// Creates a route for `GET` and `HEAD`.
    pub fn get<F, R>(pattern: &'static str, access: AccessRule, handler: F) -> Self
    where
        F: Fn(ApiCall<S>) -> R + Send + Sync + 'static,
        R: Future<Output = Result<ApiReply, ApiError>> + 'static,
    {
        let handler: Handler<S> = Arc::new(move |call| Box::pin(handler(call)));
        let (verbs, pattern) = (&[HttpVerb::Get, HttpVerb::Head], PathPattern::new(pattern));
        Self { verbs, pattern, access, changes_nothing: true, handler }
    }

    /// Creates a route for `POST`.
    pub fn post<F, R>(pattern: &'static str, access: AccessRule, handler: F) -> Self
    where
        F: Fn(ApiCall<S>) -> R + Send + Sync + 'static,
        R: Future<Output = Result<CommittedReply, ApiError>> + 'static,
    {
        Self::writing(&[HttpVerb::Post], pattern, access, handler)
    }

    /// Creates a route for `POST` of a query that is too long for a query string. A request changes nothing.
    pub fn post_query<F, R>(pattern: &'static str, access: AccessRule, handler: F) -> Self
    where
        F: Fn(ApiCall<S>) -> R + Send + Sync + 'static,
        R: Future<Output = Result<CommittedReply, ApiError>> + 'static,
    {
        Self { changes_nothing: true, ..Self::post(pattern, access, handler) }
    }

    /// Creates a route for `PUT` and `PATCH`: both are a partial update (contract 1.1).
    pub fn update<F, R>(pattern: &'static str, access: AccessRule, handler: F) -> Self
    where
        F: Fn(ApiCall<S>) -> R + Send + Sync + 'static,
        R: Future<Output = Result<CommittedReply, ApiError>> + 'static,
    {
        Self::writing(&[HttpVerb::Put, HttpVerb::Patch], pattern, access, handler)
    }

    /// Creates a route for `DELETE`.
    pub fn delete<F, R>(pattern: &'static str, access: AccessRule, handler: F) -> Self
    where
        F: Fn(ApiCall<S>) -> R + Send + Sync + 'static,
        R: Future<Output = Result<CommittedReply, ApiError>> + 'static,
    {
        Self::writing(&[HttpVerb::Delete], pattern, access, handler)
    }

    /// Creates a route whose responses are committed before they are sent.
    fn writing<F, R>(
        verbs: &'static [HttpVerb],
        pattern: &'static str,
        access: AccessRule,
        handler: F,
    ) -> Self
    where
        F: Fn(ApiCall<S>) -> R + Send + Sync + 'static,
        R: Future<Output = Result<CommittedReply, ApiError>> + 'static,
    {
        let boxed = move |call| handler(call).map_ok(CommittedReply::into_reply).boxed_local();
        let (pattern, handler) = (PathPattern::new(pattern), Arc::new(boxed));
        Self { verbs, pattern, access, changes_nothing: false, handler }
    }

    /// Returns the path pattern, with parameter names in braces.
    #[must_use]
    pub const fn path(&self) -> &'static str {
        self.pattern.as_str()
    }

    /// Returns the access rule of the route.
    #[must_use]
    pub const fn access(&self) -> AccessRule {
        self.access
    }

    /// Returns true if a request may run again, because it changes nothing.
    #[must_use]
    pub const fn changes_nothing(&self) -> bool {
        self.changes_nothing
    }

    /// Returns true if the route observes `Idempotency-Key`.
    #[must_use]
    pub fn takes_key(&self) -> bool {
        self.verbs.contains(&HttpVerb::Post) && stores_answers(self.path())
    }

    /// Returns the handler of the route.
    #[must_use]
    pub const fn handler(&self) -> &Handler<S> {
        &self.handler
    }
}

/// A row of the route table, for the API description.
#[derive(Clone, Copy, Debug)]
pub struct RouteSummary {
    /// Methods of the route.
    pub verbs: &'static [HttpVerb],
    /// Path pattern, with parameter names in braces.
    pub path: &'static str,
    /// The access rule of the route.
    pub access: AccessRule,
}

/// All routes with the same path.
pub struct PathRoutes<S> {
    pattern: PathPattern,
    routes: Vec<ApiRoute<S>>,
}

impl<S> PathRoutes<S> {
    /// Returns the route for this method; `None` if the path does not support it.
    #[must_use]
    pub fn route(&self, verb: HttpVerb) -> Option<&ApiRoute<S>> {
        self.routes.iter().find(|route| route.verbs.contains(&verb))
    }

    /// Returns the supported methods, in a fixed order.
    pub fn methods(&self) -> impl Iterator<Item = &'static str> {
        let known = HttpVerb::ALL.into_iter().filter(|verb| self.route(*verb).is_some());
        known.map(HttpVerb::as_str)
    }

    /// Returns the value of the header `Allow`.
    #[must_use]
    pub fn allow(&self) -> String {
        self.methods().collect::<Vec<_>>().join(", ")
    }
}

/// The reason why a route table is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RouteTableError {
    /// A route has no access rule.
    #[error("the route {method} {path} declares no permission")]
    Open {
        /// First method of the route.
        method: &'static str,
        /// Path of the route.
        path: &'static str,
    },
    /// Two routes are for the same requests.
    #[error("the route {method} {path} is there twice")]
    Twice {
        /// The method of both routes.
        method: &'static str,
        /// The path of both routes.
        path: &'static str,
    },
}

/// All routes, found by method and path.
pub struct RouteTable<S> {
    resources: Vec<PathRoutes<S>>,
}

impl<S> RouteTable<S> {
    /// Builds a table of these routes.
    ///
    /// # Errors
    /// When a route has no access rule or occurs twice.
    pub fn new(routes: impl IntoIterator<Item = ApiRoute<S>>) -> Result<Self, RouteTableError> {
        let mut table = Self { resources: Vec::new() };
        for route in routes {
            table.add(route)?;
        }
        // A literal segment takes precedence over a parameter: in `/v1/tags/ensure`, `ensure` is not the id of a tag.
        table.resources.sort_by_key(|resource| resource.pattern.parameters());
        Ok(table)
    }

    fn add(&mut self, route: ApiRoute<S>) -> Result<(), RouteTableError> {
        let path = route.pattern.as_str();
        if route.access.permissions.is_empty() && !route.access.any_token {
            let method = route.verbs.first().map_or("", |verb| verb.as_str());
            return Err(RouteTableError::Open { method, path });
        }
        let known = self.resources.iter().position(|resource| resource.pattern == route.pattern);
        let Some(at) = known else {
            self.resources.push(PathRoutes { pattern: route.pattern, routes: vec![route] });
            return Ok(());
        };
        let resource = &mut self.resources[at];
        if let Some(verb) = route.verbs.iter().find(|verb| resource.route(**verb).is_some()) {
            let method = verb.as_str();
            return Err(RouteTableError::Twice { method, path });
        }
        resource.routes.push(route);
        Ok(())
    }

    /// Returns all rows of the table.
    pub fn lines(&self) -> impl Iterator<Item = RouteSummary> + '_ {
        let routes = self.resources.iter().flat_map(|resource| &resource.routes);
        routes.map(|route| RouteSummary {
            verbs: route.verbs,
            path: route.pattern.as_str(),
            access: route.access,
        })
    }

    /// Returns the routes of this path, with the values of the path parameters.
    #[must_use]
    pub fn find(&self, path: &RequestPath) -> Option<(&PathRoutes<S>, PathValues)> {
        let mut resources = self.resources.iter();
        resources.find_map(|resource| Some((resource, resource.pattern.captures(path)?)))
    }
}

#[cfg(test)]
mod tests;
