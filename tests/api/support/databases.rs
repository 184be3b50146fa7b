//! The databases of a test's server: files in its folder, or two databases of its own on a private PostgreSQL.
//!
//! `WATCHKEEPER_TESTS_DATABASE=postgres` chooses PostgreSQL for every server whose test says nothing about it. All of them
//! share one PostgreSQL. Databases of either kind are copied from a pair that is migrated once: the migrations are half of what a
//! first start costs. Whoever chooses another data folder starts where there is nothing (`reliability disk_full`, `power_cut`).

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use watchkeeper::config::limits::StoreLimits;
use watchkeeper::store::Databases;
use watchkeeper::store::database::sqlite_url;

use crate::support::postgres::{Hold, Postgres};
use crate::support::tenants::apart;

/// The files of the embedded databases, main first.
pub(crate) const FILES: [&str; 2] = ["main.db", "history.db"];

/// Names the kind of databases that the tests run on.
const CHOICE: &str = "WATCHKEEPER_TESTS_DATABASE";

/// The variables of the program, main first.
pub(crate) const URLS: [&str; 2] = ["WATCHKEEPER_DATABASE_URL", "WATCHKEEPER_HISTORY_URL"];

/// Databases of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backend {
    /// Two files in its data folder, which no other process writes: the default of the program.
    Sqlite,
    /// Two databases of a PostgreSQL, which others may write as well.
    Postgres,
}

impl Backend {
    /// The kind that this run is for.
    pub(crate) fn chosen() -> Self {
        match std::env::var(CHOICE).as_deref() {
            Err(_) | Ok("sqlite") => Self::Sqlite,
            Ok("postgres") => Self::Postgres,
            Ok(other) => panic!("{CHOICE} is {other:?}: sqlite and postgres are known"),
        }
    }
}

/// Makes a data folder with migrated databases without any rows.
pub(crate) fn make_data_folder(folder: &Path) {
    static CONTENTS: OnceLock<[Vec<u8>; 2]> = OnceLock::new();
    DirBuilder::new().mode(0o700).create(folder).unwrap();
    for (name, bytes) in FILES.iter().zip(CONTENTS.get_or_init(migrate_files)) {
        std::fs::write(folder.join(name), bytes).unwrap();
    }
}

fn migrate_files() -> [Vec<u8>; 2] {
    let folder = tempfile::tempdir().unwrap();
    let files = FILES.map(|name| folder.path().join(name));
    let [main, history] = files.each_ref().map(|file| sqlite_url(file));
    apart(async || {
        let databases = Databases::open(&main, &history, &StoreLimits::default()).await.unwrap();
        databases.main.close().await;
        databases.history.close().await;
    });
    files.map(|file| std::fs::read(file).unwrap())
}

/// Two migrated databases without any rows, dropped when this is.
pub(crate) struct Pair {
    number: u32,
}

impl Pair {
    /// A new pair; a run that requires PostgreSQL fails where there is none.
    pub(crate) fn create() -> Self {
        static PAIRS: AtomicU32 = AtomicU32::new(0);
        static TEMPLATE: OnceLock<()> = OnceLock::new();
        TEMPLATE.get_or_init(migrate_template);
        let pair = Self { number: PAIRS.fetch_add(1, Ordering::Relaxed) };
        let copies = pair.names().map(|name| format!("CREATE DATABASE {name} TEMPLATE {}", template(&name)));
        postgres().answer("postgres", &[&copies[0], &copies[1]]);
        pair
    }

    /// Holds the locks of this statement in one of the two, `main` or `history`, until they are released.
    pub(crate) fn hold(&self, kind: &str, statement: &str) -> Hold {
        postgres().hold_in(&format!("{kind}_{}", self.number), statement)
    }

    /// The addresses: main, history.
    pub(crate) fn urls(&self) -> [String; 2] {
        self.names().map(|name| postgres().url_of(&name))
    }

    fn names(&self) -> [String; 2] {
        ["main", "history"].map(|kind| format!("{kind}_{}", self.number))
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        let orders = self.names().map(|name| format!("DROP DATABASE {name} WITH (FORCE)"));
        // A panic has been reported; the folder is removed with the process in any case.
        if !std::thread::panicking() {
            postgres().answer("postgres", &[&orders[0], &orders[1]]);
        }
    }
}

fn postgres() -> &'static Postgres {
    Postgres::shared().unwrap_or_else(|| panic!("{CHOICE}=postgres, but PostgreSQL is not installed"))
}

/// The database that one of this name is copied from.
fn template(name: &str) -> String {
    format!("{}_template", name.split('_').next().unwrap_or_default())
}

fn migrate_template() {
    let names = ["main", "history"].map(template);
    let orders = names.each_ref().map(|name| format!("CREATE DATABASE {name}"));
    postgres().answer("postgres", &[&orders[0], &orders[1]]);
    let folder = tempfile::tempdir().unwrap();
    let urls = names.each_ref().map(|name| postgres().url_of(name));
    let mut migrate = Command::new(env!("CARGO_BIN_EXE_watchkeeper"));
    migrate.env_clear().current_dir(folder.path()).arg("migrate").envs(URLS.iter().zip(urls));
    let output = migrate.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // Every server makes a secret key of its own.
    postgres().answer(&names[0], &["DELETE FROM installation"]);
}
