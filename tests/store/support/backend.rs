//! The kinds of databases that every test runs on, each time with new and empty ones.

use std::ops::Deref;
use std::sync::atomic::{AtomicU32, Ordering};

use sea_orm::ConnectionTrait as _;
use tempfile::TempDir;
use tokio::sync::OnceCell;
use watchkeeper::config::limits::StoreLimits;
use watchkeeper::store::database::sqlite_url;
use watchkeeper::store::{Database, Databases};

use crate::support::postgres::Postgres;

/// The files of SQLite: main, history.
const FILES: [&str; 2] = ["main.db", "history.db"];

/// Kinds of databases for main and history.
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
    folder: Option<TempDir>,
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
    /// Empty databases, migrated; `None` where this kind is not installed. They are copies of a pair that is migrated once in
    /// a process: the migrations take longer than most tests.
    pub(crate) async fn open(self) -> Option<Store> {
        let place = match self {
            Self::Sqlite => {
                let place = self.place().await?;
                place.fill(SQLITE_TEMPLATE.get_or_init(migrate_sqlite).await);
                place
            }
            Self::Postgres => {
                let postgres = Postgres::shared()?;
                Place::copying(postgres, POSTGRES_TEMPLATE.get_or_init(|| migrate_postgres(postgres)).await)
                    .await
            }
        };
        Some(Store::open(place, &patient_limits()).await)
    }

    /// Addresses of empty databases; `None` where this kind is not installed.
    pub(crate) async fn place(self) -> Option<Place> {
        match self {
            Self::Sqlite => {
                let folder = tempfile::tempdir().expect("a folder can be made");
                let [main_url, history_url] = FILES.map(|name| sqlite_url(&folder.path().join(name)));
                Some(Place { main_url, history_url, folder: Some(folder) })
            }
            Self::Postgres => Some(Place::on(Postgres::shared()?).await),
        }
    }
}

impl Place {
    /// A new database of this server.
    pub(crate) async fn on(postgres: &Postgres) -> Self {
        Self::copying(postgres, "template1").await
    }

    /// A copy of a database of this server without connections.
    async fn copying(postgres: &Postgres, template: &str) -> Self {
        static DATABASES: AtomicU32 = AtomicU32::new(0);
        let name = format!("wk_{}", DATABASES.fetch_add(1, Ordering::Relaxed));
        let limits = StoreLimits { postgres_connections: 1, ..patient_limits() };
        let door = Database::connect(&postgres.url(), &limits).await.expect("the server answers");
        let order = format!("CREATE DATABASE {name} TEMPLATE {template}");
        door.reader().execute_unprepared(&order).await.expect("a database can be made");
        door.close().await;
        let url = postgres.url_of(&name);
        Self { main_url: url.clone(), history_url: url, folder: None }
    }

    /// Writes the files of SQLite databases.
    fn fill(&self, files: &SqliteFiles) {
        let folder = self.folder.as_ref().expect("SQLite has a folder").path();
        files.iter().for_each(|(name, bytes)| std::fs::write(folder.join(name), bytes).unwrap());
    }
}

/// Names and contents.
type SqliteFiles = [(&'static str, Vec<u8>); 2];

static SQLITE_TEMPLATE: OnceCell<SqliteFiles> = OnceCell::const_new();
/// The name of the database.
static POSTGRES_TEMPLATE: OnceCell<String> = OnceCell::const_new();

/// Limits under which a slow machine is no error; a test of a limit has limits of its own.
fn patient_limits() -> StoreLimits {
    StoreLimits {
        acquire_timeout_seconds: 60,
        lock_timeout_seconds: 60,
        statement_timeout_seconds: 300,
        ..StoreLimits::default()
    }
}

async fn migrate_sqlite() -> SqliteFiles {
    let place = Backend::Sqlite.place().await.expect("SQLite is always there");
    let place = Store::open(place, &patient_limits()).await.close().await;
    let folder = place.folder.expect("SQLite has a folder");
    FILES.map(|name| (name, std::fs::read(folder.path().join(name)).unwrap()))
}

async fn migrate_postgres(postgres: &Postgres) -> String {
    let place = Place::on(postgres).await;
    let place = Store::open(place, &patient_limits()).await.close().await;
    place.main_url.rsplit('/').next().expect("the URL names a database").to_owned()
}

impl Store {
    /// Opens and migrates these databases.
    pub(crate) async fn open(place: Place, limits: &StoreLimits) -> Self {
        let databases = Databases::open(&place.main_url, &place.history_url, limits).await;
        Self { databases: databases.expect("the databases can be opened"), place }
    }

    /// Closes all connections.
    async fn close(self) -> Place {
        self.databases.main.close().await;
        self.databases.history.close().await;
        self.place
    }
}
