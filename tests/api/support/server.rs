//! The real binary as a process of its own, with a data folder of its own.
//!
//! The process is killed when its `Server` is dropped, also by a panic. Tests that need nothing special share one: it
//! lives as long as one of them runs.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use sea_orm::DatabaseConnection;
use serde_json::Value;
use tempfile::TempDir;
use watchkeeper::store::database::sqlite_url;

use crate::support::client::Client;
use crate::support::conformance;
use crate::support::databases::{Backend, FILES, Pair, URLS, make_data_folder};
use crate::support::eventually;
use crate::support::postgres::Postgres;
use crate::support::tenants;

/// Names another program than the one that was built with the tests, such as an optimised one: for all servers, or as the
/// variable of one.
pub(crate) const OTHER_BINARY: &str = "WATCHKEEPER_TESTS_BINARY";

/// Time limits of the databases under which a slow machine is no error, in seconds.
const PATIENCE: [(&str, &str); 3] = [
    ("WATCHKEEPER_DATABASE__ACQUIRE_TIMEOUT_SECONDS", "60"),
    ("WATCHKEEPER_DATABASE__LOCK_TIMEOUT_SECONDS", "60"),
    ("WATCHKEEPER_DATABASE__STATEMENT_TIMEOUT_SECONDS", "300"),
];

static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());

/// A running server.
pub(crate) struct Server {
    folder: TempDir,
    environment: Vec<(String, String)>,
    child: Child,
    client: Client,
    /// Of the shared server: its clients keep it alive.
    this: Weak<Self>,
    /// On the shared PostgreSQL; gone after the process.
    pub(crate) databases: Option<Pair>,
}

impl Server {
    /// The server of all tests that need nothing special.
    pub(crate) fn shared() -> Arc<Self> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        shared.upgrade().unwrap_or_else(|| {
            let server = Arc::new_cyclic(|this| {
                let mut server = Self::start();
                server.this = Weak::clone(this);
                server
            });
            *shared = Arc::downgrade(&server);
            server
        })
    }

    /// The shared server's client; it keeps the server alive.
    pub(crate) fn shared_client() -> Client {
        let server = Self::shared();
        Client { _server: Some(Arc::clone(&server)), ..server.client() }
    }

    /// A server of one's own.
    pub(crate) fn start() -> Self {
        Self::with("", &[])
    }

    /// A server with this settings file and these variables, on databases of the kind that this run is for, unless the
    /// variables name others.
    pub(crate) fn with(file: &str, variables: &[(&str, &str)]) -> Self {
        Self::on(Backend::chosen(), file, variables)
    }

    /// A server on the embedded databases, whatever this run is for.
    pub(crate) fn embedded(file: &str, variables: &[(&str, &str)]) -> Self {
        Self::on(Backend::Sqlite, file, variables)
    }

    /// A server on PostgreSQL, whatever this run is for; `None` where it is not installed.
    pub(crate) fn on_postgres(variables: &[(&str, &str)]) -> Option<Self> {
        Postgres::shared().map(|_| Self::on(Backend::Postgres, "", variables))
    }

    /// A further server on the databases that the variables name: it makes no token, so its client has this one.
    #[allow(dead_code, reason = "the tests of the cluster ask")]
    pub(crate) fn joining(token: &str, variables: &[(&str, &str)]) -> Self {
        Self::launched(Backend::Sqlite, "", variables, Some(token))
    }

    /// A server on databases of this kind, where the variables name none.
    fn on(backend: Backend, file: &str, variables: &[(&str, &str)]) -> Self {
        Self::launched(backend, file, variables, None)
    }

    fn launched(backend: Backend, file: &str, variables: &[(&str, &str)], token: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("settings.toml"), file).unwrap();
        let defaults =
            [("WATCHKEEPER_RATE_LIMIT_PER_MINUTE", "1000000"), ("WATCHKEEPER_EGRESS", "private-allowed")];
        // A test that brings databases may take them away; all others share theirs with many tests, on whatever machine.
        let brings_databases = variables.iter().any(|(name, _)| URLS.contains(name));
        let patience = PATIENCE.iter().filter(|_| !brings_databases);
        let environment = defaults.iter().chain(patience).chain(variables);
        let mut environment: Vec<_> =
            environment.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let databases = (backend == Backend::Postgres).then(Pair::create);
        for (name, url) in databases.iter().flat_map(|pair| URLS.into_iter().zip(pair.urls())) {
            if environment.iter().all(|(known, _)| known != name) {
                environment.push((name.to_owned(), url));
            }
        }
        if is_embedded(&environment) {
            make_data_folder(&data_folder(&folder, &[]));
        }
        let (child, address) = launch(&folder, &environment);
        let made = || std::fs::read_to_string(data_folder(&folder, &environment).join("token")).unwrap();
        let token = token.map_or_else(|| made().trim().to_owned(), str::to_owned);
        let client = Client { address, token: Some(token), _server: None };
        Self { folder, environment, child, client, this: Weak::new(), databases }
    }

    /// A server that clients reach under another address than it listens on.
    pub(crate) fn behind(public_api_url: &str) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let listen = ("WATCHKEEPER_LISTEN", &*free.to_string());
        Self::with("", &[("WATCHKEEPER_PUBLIC_API_URL", public_api_url), listen])
    }

    /// The holder of the token of the first start.
    pub(crate) fn client(&self) -> Client {
        Client { _server: self.this.upgrade(), ..self.client.clone() }
    }

    /// `{base_url}` of a server without a configured one.
    pub(crate) fn base(&self) -> String {
        format!("http://{}", self.client.address)
    }

    /// Another command on the same data.
    pub(crate) fn command(&self, arguments: &[&str]) -> Output {
        command(&self.folder, &self.environment).args(arguments).output().unwrap()
    }

    /// Another command on the same data, under way.
    pub(crate) fn spawn(&self, arguments: &[&str]) -> Child {
        let mut command = command(&self.folder, &self.environment);
        command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Another server on the same data, which says its address once it has started.
    pub(crate) fn spawn_server(&self, arguments: &[&str]) -> (Child, String) {
        let mut command = command(&self.folder, &self.environment);
        let mut child = command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        (child, line)
    }

    /// Another command, with a variable taken away.
    pub(crate) fn command_without(&self, variable: &str, arguments: &[&str]) -> Output {
        let mut command = command(&self.folder, &self.environment);
        command.env_remove(variable).args(arguments).output().unwrap()
    }

    /// A command that must succeed, with its JSON.
    pub(crate) fn command_json(&self, arguments: &[&str]) -> Value {
        let output = self.command(&[arguments, &["--json"]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// A new organisation on this plan, as its id.
    pub(crate) fn organisation(&self, plan: &str) -> String {
        tenants::create_organisation(&self.main_url(), plan, &["en"])
    }

    /// A holder of these permissions in an organisation.
    pub(crate) fn member(&self, organisation: &str, permissions: &str) -> Client {
        self.holder(tenants::create_token(&self.main_url(), organisation, permissions, None))
    }

    /// The same, confined to the access scope with this name.
    pub(crate) fn confined_member(&self, organisation: &str, permissions: &str, scope: &str) -> Client {
        self.holder(tenants::create_token(&self.main_url(), organisation, permissions, Some(scope)))
    }

    /// A client of a new organisation on this plan, with every permission.
    pub(crate) fn tenant(&self, plan: &str) -> Client {
        self.holder(tenants::create_tenant(&self.main_url(), plan, &["en"]))
    }

    /// A client of a new organisation with texts in these languages, the first of which is the default.
    pub(crate) fn tenant_in(&self, languages: &[&str]) -> Client {
        self.holder(tenants::create_tenant(&self.main_url(), "business", languages))
    }

    /// A client of a new organisation with English and German texts, English first.
    pub(crate) fn bilingual_tenant(&self) -> Client {
        self.holder(tenants::create_tenant(&self.main_url(), "business", &["en", "de"]))
    }

    fn holder(&self, token: String) -> Client {
        Client { token: Some(token), ..self.client() }
    }

    fn main_url(&self) -> String {
        let [main, _] = self.urls();
        main
    }

    /// The data folder.
    pub(crate) fn data(&self) -> PathBuf {
        data_folder(&self.folder, &self.environment)
    }

    /// The addresses of the databases: main, history.
    pub(crate) fn urls(&self) -> [String; 2] {
        let file = |name: &str| sqlite_url(&self.data().join(name));
        let named = |index: usize| {
            let given = self.environment.iter().rev().find(|(name, _)| name == URLS[index]);
            given.map(|(_, url)| url.clone())
        };
        [0, 1].map(|index| named(index).unwrap_or_else(|| file(FILES[index])))
    }

    /// A connection of one's own to the main database.
    pub(crate) async fn main_database(&self) -> DatabaseConnection {
        sea_orm::Database::connect(self.urls()[0].clone()).await.unwrap()
    }

    /// Every file in the data folder, at any depth.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let (mut files, mut folders) = (Vec::new(), vec![self.data()]);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() { folders.push(path) } else { files.push(path) }
            }
        }
        files
    }

    /// Everything that was logged.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    /// Ends the process as a power cut would, and starts it again on the same data.
    pub(crate) fn kill_and_restart(&mut self) {
        self.kill();
        self.restart();
    }

    /// Ends the process as a power cut would.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts a process that has ended again, on the same data.
    pub(crate) fn restart(&mut self) {
        (self.child, self.client.address) = launch(&self.folder, &self.environment);
    }

    /// Sets this variable for later starts.
    #[allow(dead_code, reason = "the tests of reliability ask")]
    pub(crate) fn set(&mut self, variable: &str, value: &str) {
        self.environment.push((variable.to_owned(), value.to_owned()));
    }

    /// Removes this variable for later starts.
    #[allow(dead_code, reason = "the tests of reliability ask")]
    pub(crate) fn unset(&mut self, variable: &str) {
        self.environment.retain(|(name, _)| name != variable);
    }

    /// The number of the process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Sends the process a signal by its name without `SIG`.
    pub(crate) fn signal(&self, name: &str) {
        let order = format!("kill -{name} {}", self.process());
        assert!(Command::new("sh").args(["-c", &order]).status().unwrap().success());
    }

    /// The exit code, if the process has ended by itself.
    #[allow(dead_code, reason = "the tests of reliability ask")]
    pub(crate) fn try_wait(&mut self) -> Option<Option<i32>> {
        self.child.try_wait().unwrap().map(|status| status.code())
    }

    /// Asks the process to stop, and gives its exit code.
    pub(crate) async fn terminate(&mut self) -> Option<i32> {
        self.signal("TERM");
        let status = eventually("the process ends", || self.child.try_wait().unwrap()).await;
        status.code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended before.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A failed start of `serve` with these settings: its exit code and its output.
pub(crate) fn failing_start(file: &str, variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("settings.toml"), file).unwrap();
    let mut command = command(&folder, &[]);
    let output =
        command.env("WATCHKEEPER_LISTEN", "127.0.0.1:0").envs(variables.iter().copied()).arg("serve");
    let output = output.output().unwrap();
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

/// The program that is tested.
pub(crate) fn binary() -> PathBuf {
    std::env::var_os(OTHER_BINARY).map_or_else(|| env!("CARGO_BIN_EXE_watchkeeper").into(), PathBuf::from)
}

fn command(folder: &TempDir, environment: &[(String, String)]) -> Command {
    let other = environment.iter().rev().find(|(name, _)| name == OTHER_BINARY);
    let mut command = Command::new(other.map_or_else(binary, |(_, program)| program.into()));
    command.env_clear().current_dir(folder.path());
    command.env("WATCHKEEPER_CONFIG", "settings.toml").env("WATCHKEEPER_DATA_DIR", "data");
    // Tests address nobody outside of this machine.
    command.env("WATCHKEEPER_PROBE__REFERENCE_TARGETS", "none");
    let settings = environment.iter().filter(|(name, _)| name != OTHER_BINARY);
    command.envs(settings.map(|(name, value)| (name, value)));
    command
}

/// Returns true if the databases are files in the usual folder.
fn is_embedded(environment: &[(String, String)]) -> bool {
    environment.iter().all(|(name, _)| !URLS.contains(&name.as_str()) && name != "WATCHKEEPER_DATA_DIR")
}

/// The data folder: the usual one, or one that the test has chosen.
fn data_folder(folder: &TempDir, environment: &[(String, String)]) -> PathBuf {
    let chosen = environment.iter().find(|(name, _)| name == "WATCHKEEPER_DATA_DIR");
    folder.path().join(chosen.map_or("data", |(_, chosen)| chosen))
}

/// Starts the process and reads its address: the given one, or the printed one.
fn launch(folder: &TempDir, environment: &[(String, String)]) -> (Child, SocketAddr) {
    let log = File::options().create(true).append(true).open(folder.path().join("log")).unwrap();
    let mut command = command(folder, environment);
    let listen = environment.iter().find(|(name, _)| name == "WATCHKEEPER_LISTEN");
    command.env("WATCHKEEPER_LISTEN", listen.map_or("127.0.0.1:0", |(_, address)| address));
    command.arg("serve").stdout(Stdio::piped()).stderr(log);
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    // The pipe stays open, or the process could not say good-bye.
    std::thread::spawn(move || output.lines().for_each(drop));
    match line.trim().strip_prefix("Watchkeeper answers at ") {
        Some(base) => {
            let said = || base.strip_prefix("http://").unwrap().to_owned();
            // A name is no address.
            let listen = listen.and_then(|(_, address)| address.parse().ok());
            let address = listen.unwrap_or_else(|| said().parse().unwrap());
            conformance::forget(address);
            (child, address)
        }
        None => {
            let log = std::fs::read_to_string(folder.path().join("log"));
            panic!("it did not start: {line:?} {log:?} {:?}", child.wait())
        }
    }
}
