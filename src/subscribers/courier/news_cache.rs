//! News and pages as they were read a moment ago, so that ten thousand messages about one fact need one read.
//!
//! An entry is used for a few seconds: what visitors can no longer see is not sent much longer either.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::rc::Rc;
use std::time::Duration;

use tokio::time::Instant;

use crate::store::MainError;
use crate::subscribers::courier::subscriber_courier::SubscriberCourier;
use crate::subscribers::news::{PageIdentity, PageNews};
use crate::subscribers::rendered_news::{RenderedNews, render_news};

/// The time for which an entry is used.
const FRESH_FOR: Duration = Duration::from_secs(3);
/// Maximum number of entries.
const ENTRIES: usize = 256;

/// A fact on a page, by their database keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct NewsKey {
    pub(super) fact: i64,
    pub(super) page: i64,
}

/// News and pages as they were read a moment ago.
#[derive(Debug, Default)]
pub(super) struct NewsCache {
    news: HashMap<NewsKey, CachedNews>,
    pages: HashMap<i64, CachedPage>,
}

#[derive(Debug)]
struct CachedNews {
    read_at: Instant,
    news: Option<PageNews>,
    /// The renderings, by language.
    rendered: HashMap<String, Rc<RenderedNews>>,
}

#[derive(Debug)]
struct CachedPage {
    read_at: Instant,
    page: Option<Rc<PageIdentity>>,
}

impl NewsCache {
    /// Returns the page; `None` if it was deleted.
    pub(super) async fn page(
        &mut self,
        courier: &SubscriberCourier,
        page: i64,
    ) -> Result<Option<Rc<PageIdentity>>, MainError> {
        self.pages.retain(|_, cached| cached.read_at.elapsed() < FRESH_FOR);
        if let Some(cached) = self.pages.get(&page) {
            return Ok(cached.page.clone());
        }
        self.page_now(courier, page).await
    }

    /// Reads the page; `None` if it was deleted.
    pub(super) async fn page_now(
        &mut self,
        courier: &SubscriberCourier,
        page: i64,
    ) -> Result<Option<Rc<PageIdentity>>, MainError> {
        let main = courier.databases.main.reader();
        let found = PageIdentity::read(main, &courier.config, page).await?.map(Rc::new);
        self.pages.insert(page, CachedPage { read_at: Instant::now(), page: found.clone() });
        Ok(found)
    }

    /// Returns the news of a fact on a page in a language; `None` if visitors can no longer see them.
    pub(super) async fn rendered(
        &mut self,
        courier: &SubscriberCourier,
        key: NewsKey,
        locale: &str,
    ) -> Result<Option<Rc<RenderedNews>>, MainError> {
        self.news.retain(|_, cached| cached.read_at.elapsed() < FRESH_FOR);
        if self.news.len() >= ENTRIES {
            self.news.clear();
        }
        let cached = match self.news.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(missing) => {
                let main = courier.databases.main.reader();
                let news = PageNews::read(main, &courier.config, key.fact, key.page).await?;
                missing.insert(CachedNews { read_at: Instant::now(), news, rendered: HashMap::new() })
            }
        };
        let Some(news) = &cached.news else { return Ok(None) };
        if let Some(rendered) = cached.rendered.get(locale) {
            return Ok(Some(Rc::clone(rendered)));
        }
        match render_news(news, locale) {
            Ok(rendered) => {
                let rendered = Rc::new(rendered);
                cached.rendered.insert(locale.to_owned(), Rc::clone(&rendered));
                Ok(Some(rendered))
            }
            Err(error) => {
                tracing::error!(fact = key.fact, %error, "cannot render news for subscribers");
                Ok(None)
            }
        }
    }
}
