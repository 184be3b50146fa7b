//! The current configuration of name resolution: the hosts file, and the operator's or the system's servers.
//!
//! As in glibc since 2.26, a changed file is read again, here at most five seconds later; a program that
//! resolves nothing reads nothing. A file is ignored while it is unusable, so an editor or DHCP client that is
//! writing it does no harm. If no server is configured, the one on this machine is asked, as in resolv.conf(5).

use std::fs::Metadata;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hickory_resolver::config::{ResolverConfig, ResolverOpts};
use hickory_resolver::net::NetError;
use hickory_resolver::{Hosts, Resolver};
use tokio::time::Instant;

use super::name_servers::{address_of, name_servers};
use super::name_transport::NameTransport;

/// Shortest time between two checks of the files for changes.
const CHECK_EVERY: Duration = Duration::from_secs(5);
/// Time limit of one round of questions to the servers; a lost packet is sent again well before.
const ROUND: Duration = Duration::from_secs(3);
/// A new name is noticed within this time, regardless of the negative TTL of its zone.
const ABSENCE_MAX: Duration = Duration::from_secs(10);
/// The server that is asked if the system configures none.
const LOCAL_SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 53);

/// The files by which the system resolves names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameFiles {
    /// The file of name servers.
    pub resolv_conf: PathBuf,
    /// The hosts file, whose names are never looked up at a server.
    pub hosts: PathBuf,
}

impl Default for NameFiles {
    fn default() -> Self {
        Self { resolv_conf: "/etc/resolv.conf".into(), hosts: "/etc/hosts".into() }
    }
}

/// Resolves names by the current files. Each owner has its own cache.
pub(crate) struct SystemNames {
    /// The operator's servers, which replace the system's.
    chosen: Box<[SocketAddr]>,
    files: NameFiles,
    /// Maximum number of cached answers.
    cached: u64,
    state: Mutex<NameState>,
}

/// The configuration of name resolution until a file changes.
pub(crate) struct NameSnapshot {
    pub(crate) resolver: Resolver<NameTransport>,
    pub(crate) hosts: Arc<Hosts>,
    /// The servers, in the order of the configuration.
    pub(crate) servers: Arc<[SocketAddr]>,
}

struct NameState {
    current: Arc<NameSnapshot>,
    checked_at: Instant,
    resolv_conf: Option<FileStamp>,
    hosts: Option<FileStamp>,
}

/// Identifies one version of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileStamp {
    file: (u64, u64),
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileStamp {
    fn of(path: &Path) -> Option<Self> {
        std::fs::metadata(path).ok().map(|found: Metadata| Self {
            file: (found.dev(), found.ino()),
            size: found.size(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        })
    }
}

impl SystemNames {
    /// Reads the hosts file and, if no servers are `chosen`, the file of servers. Caches up to `cached`
    /// answers.
    ///
    /// # Errors
    /// When no resolver can be set up. An unusable file is treated as missing.
    pub(crate) fn new(chosen: &[SocketAddr], files: NameFiles, cached: u64) -> Result<Self, NetError> {
        let (resolv_conf, hosts) = (FileStamp::of(&files.resolv_conf), FileStamp::of(&files.hosts));
        let (config, options) = name_servers(chosen, &files.resolv_conf).or_else(|error| {
            let (file, server) = (files.resolv_conf.display(), LOCAL_SERVER);
            tracing::warn!(
                %file,
                %error,
                servers = %server,
                "no usable name server configured; using the one of this machine"
            );
            name_servers(&[LOCAL_SERVER], &files.resolv_conf)
        })?;
        let known = read_hosts(&files.hosts).unwrap_or_else(|error| {
            tracing::warn!(file = %files.hosts.display(), %error, "cannot read the hosts file; ignoring it");
            Hosts::default()
        });
        let current = Arc::new(NameSnapshot::new(config, options, Arc::new(known), cached)?);
        let state = NameState { current, checked_at: Instant::now(), resolv_conf, hosts };
        Ok(Self { chosen: chosen.into(), files, cached, state: Mutex::new(state) })
    }

    /// Returns the current configuration. Checks the files from time to time.
    pub(crate) fn current(&self) -> Arc<NameSnapshot> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.checked_at.elapsed() >= CHECK_EVERY {
            state.checked_at = Instant::now();
            self.reload_servers(&mut state);
            self.reload_hosts(&mut state);
        }
        Arc::clone(&state.current)
    }

    fn reload_servers(&self, state: &mut NameState) {
        let stamp = FileStamp::of(&self.files.resolv_conf);
        if !self.chosen.is_empty() || stamp == state.resolv_conf {
            return;
        }
        state.resolv_conf = stamp;
        let file = self.files.resolv_conf.display();
        let hosts = &state.current.hosts;
        let found = name_servers(&[], &self.files.resolv_conf)
            .and_then(|(config, options)| NameSnapshot::new(config, options, Arc::clone(hosts), self.cached));
        match found {
            Ok(found) => {
                tracing::info!(%file, servers = found.servers_text(), "name servers reloaded");
                state.current = Arc::new(found);
            }
            Err(error) => {
                let servers = state.current.servers_text();
                tracing::warn!(
                    %file,
                    %error,
                    servers,
                    "cannot reload the name servers; keeping the previous ones"
                );
            }
        }
    }

    fn reload_hosts(&self, state: &mut NameState) {
        let stamp = FileStamp::of(&self.files.hosts);
        if stamp == state.hosts {
            return;
        }
        state.hosts = stamp;
        let file = self.files.hosts.display();
        match read_hosts(&self.files.hosts) {
            Ok(known) => {
                tracing::info!(%file, "hosts file reloaded");
                let NameSnapshot { resolver, servers, .. } = &*state.current;
                let (resolver, servers) = (resolver.clone(), Arc::clone(servers));
                state.current = Arc::new(NameSnapshot { resolver, hosts: Arc::new(known), servers });
            }
            Err(error) => {
                tracing::warn!(%file, %error, "cannot reload the hosts file; keeping the previous entries");
            }
        }
    }
}

impl NameSnapshot {
    fn new(
        config: ResolverConfig,
        mut options: ResolverOpts,
        hosts: Arc<Hosts>,
        cached: u64,
    ) -> Result<Self, NetError> {
        options.timeout = ROUND;
        options.cache_size = cached;
        options.negative_max_ttl = Some(ABSENCE_MAX);
        let servers = config.name_servers().iter().map(address_of).collect();
        let mut builder = Resolver::builder_with_config(config, NameTransport::default());
        *builder.options_mut() = options;
        Ok(Self { resolver: builder.build()?, hosts, servers })
    }

    /// Returns the servers for the log.
    pub(crate) fn servers_text(&self) -> String {
        self.servers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    }
}

fn read_hosts(path: &Path) -> std::io::Result<Hosts> {
    let mut hosts = Hosts::default();
    hosts.read_hosts_conf(std::fs::File::open(path)?)?;
    Ok(hosts)
}

#[cfg(test)]
mod tests {
    use hickory_proto::rr::Name;
    use rstest::rstest;
    use tempfile::TempDir;
    use tokio::time::advance;

    use super::*;
    use crate::egress::find_in_hosts;

    /// The two files in a folder of their own.
    struct Scene {
        folder: TempDir,
        names: SystemNames,
    }

    fn write(path: &Path, text: Option<&str>) {
        match text {
            Some(text) => std::fs::write(path, text).unwrap(),
            None => drop(std::fs::remove_file(path)),
        }
    }

    fn files(folder: &TempDir) -> NameFiles {
        NameFiles { resolv_conf: folder.path().join("resolv.conf"), hosts: folder.path().join("hosts") }
    }

    impl Scene {
        fn with(resolv_conf: Option<&str>, hosts: Option<&str>, chosen: &[SocketAddr]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let files = files(&folder);
            write(&files.resolv_conf, resolv_conf);
            write(&files.hosts, hosts);
            Self { names: SystemNames::new(chosen, files, 16).unwrap(), folder }
        }

        fn servers(&self) -> String {
            self.names.current().servers_text()
        }

        fn knows(&self, name: &str) -> bool {
            find_in_hosts(&self.names.current().hosts, &Name::from_ascii(name).unwrap()).is_some()
        }
    }

    /// Columns: the file of servers at first, the file later, and the servers that are asked then.
    #[rstest]
    #[case::it_names_others(
        Some("nameserver 127.0.0.9\n"),
        Some("nameserver 127.0.0.10\nnameserver ::1\n"),
        "127.0.0.10:53, [::1]:53"
    )]
    #[case::it_stays(Some("nameserver 127.0.0.9\n"), Some("nameserver 127.0.0.9\n"), "127.0.0.9:53")]
    #[case::it_is_empty(Some("nameserver 127.0.0.9\n"), Some(""), "127.0.0.9:53")]
    #[case::it_is_gone(Some("nameserver 127.0.0.9\n"), None, "127.0.0.9:53")]
    #[case::the_file_appears(None, Some("nameserver 127.0.0.9\n"), "127.0.0.9:53")]
    #[case::it_is_filled(Some(""), Some("nameserver 127.0.0.9\n"), "127.0.0.9:53")]
    #[case::there_is_none(None, None, "127.0.0.1:53")]
    #[tokio::test(start_paused = true)]
    async fn a_changed_resolv_conf_applies_within_ten_seconds(
        #[case] at_first: Option<&str>,
        #[case] later: Option<&str>,
        #[case] servers: &str,
    ) {
        let scene = Scene::with(at_first, Some(""), &[]);
        scene.servers();
        write(&files(&scene.folder).resolv_conf, later);
        advance(Duration::from_secs(10)).await;
        assert_eq!(scene.servers(), servers);
    }

    #[tokio::test(start_paused = true)]
    async fn configured_name_servers_are_not_replaced() {
        let scene = Scene::with(Some("nameserver 127.0.0.9\n"), None, &["127.0.0.7:5353".parse().unwrap()]);
        assert_eq!(scene.servers(), "127.0.0.7:5353");
        write(&files(&scene.folder).resolv_conf, Some("nameserver 127.0.0.10\n"));
        advance(Duration::from_secs(10)).await;
        assert_eq!(scene.servers(), "127.0.0.7:5353");
    }

    #[rstest]
    #[case::the_file_appears(None, Some("127.0.0.1 shop.example\n"), true)]
    #[case::the_file_is_rewritten(Some("127.0.0.1 localhost\n"), Some("127.0.0.1 shop.example\n"), true)]
    #[case::the_name_is_removed(Some("127.0.0.1 shop.example\n"), Some("127.0.0.1 localhost\n"), false)]
    #[case::the_file_is_deleted(Some("127.0.0.1 shop.example\n"), None, true)]
    #[case::it_is_no_text(
        Some("127.0.0.1 shop.example\n"),
        Some("127.0.0.1 other.example \u{fffd}\n"),
        false
    )]
    #[tokio::test(start_paused = true)]
    async fn a_changed_hosts_file_applies_within_ten_seconds(
        #[case] at_first: Option<&str>,
        #[case] later: Option<&str>,
        #[case] is_known: bool,
    ) {
        let scene = Scene::with(Some("nameserver 127.0.0.9\n"), at_first, &[]);
        write(&files(&scene.folder).hosts, later);
        advance(Duration::from_secs(10)).await;
        assert_eq!(scene.knows("shop.example."), is_known);
    }
}
