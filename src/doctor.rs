//! Checks an installation and its machine, and reports what works, what does not, and what to do next. It
//! changes nothing, and may run while a server runs.
//!
//! All checks run concurrently, each with a time limit; a check that could not be made is reported as unknown, never as
//! fine.

mod address;
mod databases;
mod finding;
mod folder;
mod machine;
mod outbound;
mod server;

use std::future::ready;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use nix::errno::Errno;
use nix::unistd::{AccessFlags, access};
use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio::time::timeout;

pub use finding::{DoctorFinding, FindingVerdict, counted};

use crate::app::require_installation;
use crate::config::Config;
use crate::config::sources::ConfigError;

/// Advice when this user may not read a file or folder.
const OTHER_USER: &str = "run it as the user of the server: sudo -u watchkeeper watchkeeper doctor";

/// Runs all checks; `patience` limits each of them.
pub async fn examine(config: &Config, patience: Duration) -> Vec<DoctorFinding> {
    let config = Arc::new(config.clone());
    let limit = DoctorContext { patience, config: &config };
    let absence = limit.on("installation", |config| ready(find_installation(&config))).await;
    let is_there = absence.is_empty();
    let installation = async {
        if !is_there {
            return Vec::new();
        }
        let (folder, main, history, key) = tokio::join!(
            limit.on("data folder", |config| ready(folder::examine(&config))),
            limit.on("main database", databases::examine_main),
            limit.on("history database", databases::examine_history),
            limit.on("secret key", databases::examine_key),
        );
        [folder, main, history, key].concat()
    };
    let rest = async {
        if !is_there {
            return Vec::new();
        }
        let (egress, descriptors, backups, mail) = tokio::join!(
            limit.on("egress", databases::check_egress),
            limit.on("descriptors", machine::descriptors),
            limit.on("backups", |config| ready(folder::find_backups(&config))),
            limit.on("mail server", outbound::check_mail_servers),
        );
        [egress, descriptors, backups, mail].concat()
    };
    let (installation, server, names, nats, api, clock, pages, rest) = tokio::join!(
        installation,
        limit.on("server", server::examine),
        limit.on("name servers", machine::name_servers),
        limit.on("nats", server::find_nats),
        limit.on("api address", address::check_api_address),
        limit.on("clock", outbound::check_clock),
        limit.on("page names", address::check_page_names),
        rest,
    );
    let ping = vec![machine::ping_sockets()];
    [absence, installation, server, names, nats, api, clock, pages, ping, rest].concat()
}

/// Returns a finding if there is no installation to check, or it cannot be seen; otherwise nothing.
fn find_installation(config: &Config) -> Vec<DoctorFinding> {
    let check = "installation";
    if config.database_url.is_none() && is_closed(&config.data_dir) {
        let observation = format!("this user may not look into {}", config.data_dir.display());
        return vec![DoctorFinding::unknown(check, observation, OTHER_USER)];
    }
    let missing = |error: ConfigError| {
        DoctorFinding::problem(check, error.to_string(), "start one with: watchkeeper serve")
    };
    require_installation(config).err().into_iter().map(missing).collect()
}

/// Returns true if this user may not read a folder or file.
fn is_closed(path: &Path) -> bool {
    // Access is tested without opening: opening a pipe might block.
    let wanted = if path.is_dir() { AccessFlags::R_OK | AccessFlags::X_OK } else { AccessFlags::R_OK };
    access(path, wanted) == Err(Errno::EACCES)
}

/// Returns true if this user may not write a file.
fn is_read_only(path: &Path) -> bool {
    matches!(access(path, AccessFlags::W_OK), Err(Errno::EACCES | Errno::EROFS))
}

/// Time limit of a check, with its subject.
struct DoctorContext<'a> {
    patience: Duration,
    config: &'a Arc<Config>,
}

impl DoctorContext<'_> {
    /// Runs a check; reports "no answer" when the limit is reached. A check of an unavailable file system blocks its
    /// thread, so each check has its own thread, which does not delay the end of the process.
    async fn on<F: Future<Output = Vec<DoctorFinding>>>(
        &self,
        check: &'static str,
        examination: impl FnOnce(Arc<Config>) -> F + Send + 'static,
    ) -> Vec<DoctorFinding> {
        let (sender, receiver) = oneshot::channel();
        let config = Arc::clone(self.config);
        std::thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().build();
            // The receiver may be gone.
            drop(sender.send(runtime.map(|runtime| runtime.block_on(examination(config)))));
        });
        match timeout(self.patience, receiver).await {
            Ok(Ok(Ok(found))) => found,
            Ok(_) => vec![DoctorFinding::unknown(check, "the check has failed", "report it")],
            Err(_) => vec![DoctorFinding::unknown(
                check,
                format!("not known: it does not answer within {} s", self.patience.as_secs()),
                "check its disk or server, or wait longer: watchkeeper doctor --patience 120",
            )],
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::Ready;
    use std::sync::mpsc;

    use super::*;

    /// An unavailable file system blocks the thread that reads it.
    #[tokio::test]
    async fn a_hanging_check_is_reported_and_delays_no_other() {
        let config = Arc::new(Config::default());
        let limit = DoctorContext { patience: Duration::from_secs(1), config: &config };
        let (holder, held) = mpsc::channel::<()>();
        let blocked = limit.on("data folder", move |_| {
            let _ = held.recv();
            ready(Vec::new())
        });
        let fine = limit.on("server", |_| async { vec![DoctorFinding::fine("server", "it runs")] });
        let (blocked, fine) = tokio::join!(blocked, fine);
        assert_eq!((blocked[0].check, blocked[0].verdict), ("data folder", FindingVerdict::Unknown));
        assert!(blocked[0].observation.contains("does not answer within 1 s"), "{blocked:?}");
        assert_eq!(fine[0].verdict, FindingVerdict::Fine);
        drop(holder);
    }

    #[tokio::test]
    async fn a_check_that_fails_is_not_fine() {
        let config = Arc::new(Config::default());
        let limit = DoctorContext { patience: Duration::from_secs(60), config: &config };
        let failed = limit.on("server", |_| -> Ready<Vec<DoctorFinding>> { panic!("it is broken") }).await;
        assert_eq!(failed, [DoctorFinding::unknown("server", "the check has failed", "report it")]);
    }
}
