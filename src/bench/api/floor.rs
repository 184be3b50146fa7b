//! `watchkeeper bench api-floor`: the least cost of a response from the database: the web framework, one read by key
//! from SQLite through the same driver, and a small JSON body. Requests are not authenticated. For `bench page` it also
//! answers without a database.

use std::process::ExitCode;
use std::sync::LazyLock;

use actix_web::{App, HttpResponse, HttpServer, web};
use anyhow::Context as _;
use bytes::Bytes;
use clap::Command;
use sea_orm::{ConnectionTrait, DbBackend, Statement};

use crate::bench::folder::TemporaryFolder;
use crate::bench::target::end_of_input;
use crate::config::Config;
use crate::store::database::sqlite_url;
use crate::store::{Database, Reader};

/// Most bytes of an answer without a database.
const LARGEST_ANSWER: usize = 1_024 * 1_024;
/// Largest key; rows have the keys from 1.
pub(super) const ROWS: u64 = 10_000;

/// `watchkeeper bench api-floor`.
#[must_use]
pub fn command() -> Command {
    Command::new("api-floor").about("Something to compare the API with, for bench api").hide(true)
}

/// Answers requests until standard input ends.
///
/// # Errors
/// When the database cannot be opened or no port is free.
pub async fn run(config: &Config) -> anyhow::Result<ExitCode> {
    let folder = TemporaryFolder::new()?;
    let database = Database::connect(&sqlite_url(&folder.path().join("floor.db")), &config.database).await?;
    let transaction = database.begin().await?;
    transaction.execute_unprepared("CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT NOT NULL)").await?;
    for id in 1..=ROWS {
        let values = [id.to_string().into(), format!("thing {id}").into()];
        let sql = "INSERT INTO thing (id, name) VALUES ($1, $2)";
        transaction.execute_raw(Statement::from_sql_and_values(DbBackend::Sqlite, sql, values)).await?;
    }
    transaction.commit().await?;
    let reader = web::Data::new(database.reader().clone());
    let server = HttpServer::new(move || {
        App::new()
            .app_data(reader.clone())
            .route("/things/{id}", web::get().to(show))
            .route("/bytes/{count}", web::get().to(bytes))
            .route("/unchanged", web::get().to(unchanged))
    });
    let workers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let server = server.workers(workers).disable_signals().bind(("127.0.0.1", 0))?;
    let port = server.addrs().first().context("the floor has no address")?.port();
    let running = server.run();
    let handle = running.handle();
    drop(actix_web::rt::spawn(running));
    println!("{port}");
    end_of_input().await;
    handle.stop(false).await;
    Ok(ExitCode::SUCCESS)
}

/// As many bytes as a status page has.
async fn bytes(count: web::Path<usize>) -> HttpResponse {
    static CONTENT: LazyLock<Bytes> = LazyLock::new(|| Bytes::from(vec![b'x'; LARGEST_ANSWER]));
    let content = CONTENT.slice(..count.into_inner().min(LARGEST_ANSWER));
    HttpResponse::Ok().content_type("text/html; charset=utf-8").body(content)
}

async fn unchanged() -> HttpResponse {
    HttpResponse::NotModified().finish()
}

async fn show(reader: web::Data<Reader>, id: web::Path<i64>) -> HttpResponse {
    let sql = "SELECT name FROM thing WHERE id = $1";
    let question = Statement::from_sql_and_values(DbBackend::Sqlite, sql, [id.into_inner().into()]);
    match reader.query_one_raw(question).await {
        Ok(Some(row)) => {
            let name: String = row.try_get("", "name").unwrap_or_default();
            HttpResponse::Ok().json(serde_json::json!({"data": {"name": name}}))
        }
        Ok(None) => HttpResponse::NotFound().finish(),
        Err(_) => HttpResponse::InternalServerError().finish(),
    }
}
