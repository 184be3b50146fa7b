//! The paths at which visitors prove that they may read a page.

/// Path to which the password is sent.
pub(super) const PASSWORD_PATH: &str = "/password";
/// Path to which an e-mail address is sent.
pub(super) const ADDRESS_PATH: &str = "/access";
/// Start of the paths of links that were sent by mail.
const LINK_PREFIX: &str = "/access/";

/// A way to prove that a visitor may read a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pages) enum AccessRoute<'a> {
    /// The password.
    Password,
    /// An e-mail address, to which a link is sent.
    Address,
    /// The link with this token.
    Link(&'a str),
}

impl<'a> AccessRoute<'a> {
    /// Returns the way at a path.
    pub(in crate::pages) fn at(path: &'a str) -> Option<Self> {
        match path {
            PASSWORD_PATH => Some(Self::Password),
            ADDRESS_PATH => Some(Self::Address),
            _ => {
                let token = path.strip_prefix(LINK_PREFIX)?;
                (!token.is_empty() && !token.contains('/')).then_some(Self::Link(token))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("/password", Some(AccessRoute::Password))]
    #[case("/access", Some(AccessRoute::Address))]
    #[case("/access/abc", Some(AccessRoute::Link("abc")))]
    #[case("/access/", None)]
    #[case("/access/a/b", None)]
    #[case("/accessories", None)]
    #[case("/", None)]
    fn a_path_names_a_way_in(#[case] path: &str, #[case] expected: Option<AccessRoute<'_>>) {
        assert_eq!(AccessRoute::at(path), expected);
    }
}
