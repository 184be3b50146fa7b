//! The kinds of databases that every test runs on, each time with new and empty ones.

use std::ops::Deref;
use std::sync::atomic::{AtomicU32, Ordering};

use sea_orm::ConnectionTrait as _;
use tempfile::TempDir;
use watchkeeper::config::limits::StoreLimits;
use watchkeeper::store::database::sqlite_url;
use watchkeeper::store::{Database, Databases};

use crate::support::postgres::Postgres;

/// Where main and history live.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Backend {
    /// Two files in a folder of their own.
    Sqlite,
    /// One PostgreSQL database for both.
    Postgres,
}

/// Addresses of two empty databases, and the folder that they may be in.
pub(crate) struct Place {
    pub(crate) main_url: String,
    pub(crate) history_url: String,
    _folder: Option<TempDir>,
}

/// Two migrated databases.
pub(crate) struct Store {
    databases: Databases,
    pub(crate) place: Place,
}

impl Deref for Store {
    type Target = Databases;

    fn deref(&self) -> &Databases {
        &self.databases
    }
}

impl Backend {
    /// Empty databases, migrated; `None` where this kind is not installed.
    pub(crate) async fn open(self) -> Option<Store> {
        Some(Store::open(self.place().await?, &StoreLimits::default()).await)
    }

    /// Addresses of empty databases; `None` where this kind is not installed.
    pub(crate) async fn place(self) -> Option<Place> {
        match self {
            Self::Sqlite => {
                let folder = tempfile::tempdir().expect("a folder can be made");
                let url = |name: &str| sqlite_url(&folder.path().join(name));
                let (main_url, history_url) = (url("main.db"), url("history.db"));
                Some(Place { main_url, history_url, _folder: Some(folder) })
            }
            Self::Postgres => Some(Place::on(Postgres::shared()?).await),
        }
    }
}

impl Place {
    /// A new database of this server.
    pub(crate) async fn on(postgres: &Postgres) -> Self {
        static DATABASES: AtomicU32 = AtomicU32::new(0);
        let name = format!("wk_{}", DATABASES.fetch_add(1, Ordering::Relaxed));
        let limits = StoreLimits { postgres_connections: 1, ..StoreLimits::default() };
        let door = Database::connect(&postgres.url(), &limits).await.expect("the server answers");
        let created = door.reader().execute_unprepared(&format!("CREATE DATABASE {name}")).await;
        created.expect("a database can be made");
        door.close().await;
        let url = postgres.url_of(&name);
        Self { main_url: url.clone(), history_url: url, _folder: None }
    }
}

impl Store {
    /// Opens and migrates these databases.
    pub(crate) async fn open(place: Place, limits: &StoreLimits) -> Self {
        let databases = Databases::open(&place.main_url, &place.history_url, limits).await;
        Self { databases: databases.expect("the databases can be opened"), place }
    }
}
