//! Looks at an installation and its machine, and says what is fine, what is not, and what to do next. It makes and changes
//! nothing, and may run beside a server.
//!
//! All checks run at the same time, and each ends within a time limit; one that cannot be made says so, and is never fine.

mod address;
mod databases;
mod finding;
mod folder;
mod machine;
mod server;

use std::path::Path;
use std::time::Duration;

use nix::errno::Errno;
use nix::unistd::{AccessFlags, access};
use tokio::sync::oneshot;
use tokio::time::timeout;

pub use finding::{Finding, Verdict};

use crate::app::demand_installation;
use crate::config::Config;

/// What to do where this user may not look.
const OTHER_USER: &str = "run it as the user of the server: sudo -u watchkeeper watchkeeper doctor";

/// Looks at everything; each check may take so long.
pub async fn examine(config: &Config, patience: Duration) -> Vec<Finding> {
    let missing = look_for_installation(config);
    let is_there = missing.is_none();
    let of_folder = config.clone();
    let of_backups = config.clone();
    let installation = async {
        if !is_there {
            return Vec::new();
        }
        let (folder, main, history, key) = tokio::join!(
            limited("data folder", patience, blocking("data folder", move || folder::look(&of_folder))),
            limited("main database", patience, databases::look_at_main(config)),
            limited("history database", patience, databases::look_at_history(config)),
            limited("secret key", patience, databases::look_at_key(config)),
        );
        [folder, main, history, key].concat()
    };
    let rest = async {
        if !is_there {
            return Vec::new();
        }
        let (descriptors, backups) = tokio::join!(
            limited("descriptors", patience, machine::descriptors(config)),
            limited("backups", patience, blocking("backups", move || folder::look_for_backups(&of_backups))),
        );
        [descriptors, backups].concat()
    };
    let (installation, server, names, nats, api, pages, rest) = tokio::join!(
        installation,
        limited("server", patience, server::look(config)),
        limited("name servers", patience, machine::name_servers(config)),
        limited("nats", patience, server::look_for_nats(config)),
        limited("api address", patience, address::check_api_address(config)),
        limited("page names", patience, address::check_page_names(config)),
        rest,
    );
    let ping = vec![machine::ping_sockets()];
    [missing.into_iter().collect(), installation, server, names, nats, api, pages, ping, rest].concat()
}

/// Why there is nothing to look at.
fn look_for_installation(config: &Config) -> Option<Finding> {
    let check = "installation";
    if config.database_url.is_none() && is_closed(&config.data_dir) {
        let said = format!("this user may not look into {}", config.data_dir.display());
        return Some(Finding::unknown(check, said, OTHER_USER));
    }
    let error = demand_installation(config).err()?;
    Some(Finding::problem(check, error.to_string(), "start one with: watchkeeper serve"))
}

/// Returns true if this user may not read a folder or file.
fn is_closed(path: &Path) -> bool {
    // Opening it might wait, as that of a pipe does.
    let wanted = if path.is_dir() { AccessFlags::R_OK | AccessFlags::X_OK } else { AccessFlags::R_OK };
    access(path, wanted) == Err(Errno::EACCES)
}

/// What a check finds; that it did not end when it takes too long.
async fn limited(
    check: &'static str,
    patience: Duration,
    look: impl Future<Output = Vec<Finding>>,
) -> Vec<Finding> {
    timeout(patience, look).await.unwrap_or_else(|_| {
        let said = format!("not known: the check did not end within {} s", patience.as_secs());
        vec![Finding::unknown(check, said, "give it longer: watchkeeper doctor --patience 120")]
    })
}

/// A look that may block, as at a file system that is away: on a thread that does not delay the end of the process.
async fn blocking(check: &'static str, look: impl FnOnce() -> Vec<Finding> + Send + 'static) -> Vec<Finding> {
    let (sender, receiver) = oneshot::channel();
    // Nobody may be waiting any more.
    std::thread::spawn(move || drop(sender.send(look())));
    receiver.await.unwrap_or_else(|_| vec![Finding::unknown(check, "the check has failed", "report it")])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_check_that_does_not_end_is_not_fine() {
        let found = limited("server", Duration::from_secs(3), std::future::pending()).await;
        assert_eq!(found[0].verdict, Verdict::Unknown);
        assert!(found[0].said.contains("within 3 s"), "{found:?}");
    }
}
