//! Authentication of requests (contract 1.13, 2): a [`Caller`] exists only for a valid token, and carries its
//! permissions.
//!
//! Handlers get the organisation of a request only from the caller. Whether a missing token is answered with 401 or 429 is
//! decided by the gate.

use actix_web::http::header::{self, HeaderMap};

use crate::clock::Timestamp;
use crate::http::kit::error::ApiError;
use crate::model::access::{ApiToken, Organisation, Permission, PlanLimits};
use crate::model::announcement::AnnouncementAuthor;
use crate::model::visibility::Visibility;

/// The token of a request, its organisation, and the limits of the plan.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The token of the request.
    pub token: ApiToken,
    /// The organisation that owns the token.
    pub organisation: Organisation,
    /// The limits of the organisation's plan.
    pub limits: PlanLimits,
}

impl Caller {
    /// Checks that the token has the permission.
    ///
    /// # Errors
    ///
    /// 403 with the name of the missing permission.
    pub fn require(&self, permission: Permission) -> Result<(), ApiError> {
        if self.token.permissions.contains(permission) {
            Ok(())
        } else {
            Err(ApiError::Forbidden(permission))
        }
    }

    /// Returns the caller as the author of announcements.
    #[must_use]
    pub fn author(&self) -> AnnouncementAuthor {
        AnnouncementAuthor { id: self.token.id, name: self.token.name.clone() }
    }

    /// Returns which part of the organisation's data is visible to the caller.
    #[must_use]
    pub const fn visibility(&self) -> Visibility {
        Visibility::of(&self.token)
    }

    /// Returns true if the token is still valid at `now`.
    #[must_use]
    pub fn is_valid(&self, now: Timestamp) -> bool {
        self.token.expires_at.is_none_or(|expires_at| now < expires_at)
    }
}

/// Returns the credentials of `Authorization: Bearer …`, with the scheme in any case. `None` if the header occurs twice.
#[must_use]
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::AUTHORIZATION);
    let (only, None) = (values.next()?, values.next()) else {
        return None;
    };
    let (scheme, credentials) = only.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| credentials.trim())
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;
    use rstest::rstest;

    use super::*;

    /// Contract 1.13: the form of the header.
    #[rstest]
    #[case(&["Bearer wk_1"], Some("wk_1"))]
    #[case(&["bearer wk_1"], Some("wk_1"))]
    #[case(&["BEARER   wk_1 "], Some("wk_1"))]
    #[case(&[], None)]
    #[case(&["wk_1"], None)]
    #[case(&["Bearer"], None)]
    #[case(&["Basic d2tfMTo="], None)]
    #[case(&["Bearerwk_1"], None)]
    #[case(&["Bearer wk_1", "Bearer wk_1"], None)]
    #[case(&["Bearer wk_\u{e4}"], None)]
    fn a_bearer_token_is_read_from_one_header(#[case] lines: &[&str], #[case] token: Option<&str>) {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(header::AUTHORIZATION, HeaderValue::from_bytes(line.as_bytes()).unwrap());
        }
        assert_eq!(bearer(&headers), token);
    }
}
