//! A real TLS server on loopback whose certificate can be replaced while it runs; it says nothing beyond the handshake.

use std::io::Read;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use chrono::{Datelike as _, TimeDelta};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, Stream};
use tempfile::NamedTempFile;
use watchkeeper::clock::Clock;

/// A TLS server, and the authority that vouches for it.
pub(crate) struct TlsTarget {
    address: SocketAddr,
    authority: CertifiedIssuer<'static, KeyPair>,
    file: NamedTempFile,
    shown: Arc<Mutex<Arc<ServerConfig>>>,
    stopping: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl TlsTarget {
    /// Serves a certificate that expires in this number of days.
    pub(crate) fn ending_in_days(days: i64) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let file = NamedTempFile::new().unwrap();
        std::fs::write(file.path(), authority.pem()).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shown = Arc::new(Mutex::new(config(&authority, days)));
        let stopping = Arc::new(AtomicBool::new(false));
        let (present, ends) = (Arc::clone(&shown), Arc::clone(&stopping));
        let thread = std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                if ends.load(Ordering::SeqCst) {
                    return;
                }
                let config = Arc::clone(&present.lock().unwrap());
                greet(stream, config);
            }
        });
        Self { address, authority, file, shown, stopping, thread: Some(thread) }
    }

    /// Serves another certificate for later connections.
    pub(crate) fn renew(&self, days: i64) {
        *self.shown.lock().unwrap() = config(&self.authority, days);
    }

    /// `host:port`.
    pub(crate) fn address(&self) -> String {
        self.address.to_string()
    }

    /// The certificate of the authority, as an operator's file holds it.
    pub(crate) fn authority(&self) -> &Path {
        self.file.path()
    }
}

impl Drop for TlsTarget {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

fn config(authority: &CertifiedIssuer<'static, KeyPair>, days: i64) -> Arc<ServerConfig> {
    let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let now = chrono::DateTime::from_timestamp_millis(Clock::System.now().ms()).unwrap();
    let end = (now + TimeDelta::days(days + 1)).date_naive();
    let (month, day) = (u8::try_from(end.month()).unwrap(), u8::try_from(end.day()).unwrap());
    params.not_after = date_time_ymd(end.year(), month, day);
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, authority).unwrap();
    let chain = vec![certificate.der().clone(), authority.der().clone()];
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder =
        ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    Arc::new(builder.with_no_client_auth().with_single_cert(chain, key).unwrap())
}

/// A handshake, and whatever the visitor says until it leaves.
fn greet(mut stream: TcpStream, config: Arc<ServerConfig>) {
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let mut connection = ServerConnection::new(config).unwrap();
    let _ = Stream::new(&mut connection, &mut stream).read(&mut [0; 64]);
}
