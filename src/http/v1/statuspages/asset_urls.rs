//! URLs of the files of a status page (contract 4.16): `{base_url}/assets/{hash}`.
//!
//! The hash is the SHA-256 of the content: new content has a new URL, and equal content has the same URL.

/// The URLs of files in the JSON of a status page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::http) struct AssetUrls {
    pub(in crate::http) logo: Option<String>,
    pub(in crate::http) logo_dark: Option<String>,
    pub(in crate::http) favicon: Option<String>,
}

impl AssetUrls {
    /// Returns the URLs of these files, which are given as kind and hash.
    pub(in crate::http) fn of(base_url: &str, files: &[(String, String)]) -> Self {
        let url = |kind: &str| {
            let file = files.iter().find(|(known, _)| known == kind);
            file.map(|(_, hash)| format!("{base_url}/assets/{hash}"))
        };
        Self { logo: url("logo"), logo_dark: url("logo-dark"), favicon: url("favicon") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_has_the_address_of_its_content() {
        let files = [("logo-dark".to_owned(), "ab".repeat(32)), ("favicon".to_owned(), "cd".repeat(32))];
        let urls = AssetUrls::of("https://api.example.com", &files);
        assert_eq!(urls.logo, None);
        assert_eq!(urls.logo_dark.unwrap(), format!("https://api.example.com/assets/{}", "ab".repeat(32)));
        assert_eq!(urls.favicon.unwrap(), format!("https://api.example.com/assets/{}", "cd".repeat(32)));
    }
}
