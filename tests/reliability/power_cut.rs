//! Reliability 2: what was acknowledged outlives a power cut, and the files are sound.
//!
//! The data folder is on an ext4 of its own, in an image file. A copy of the image holds what has reached the disk:
//! what only the kernel knew is missing, as after a power cut. The copy replaces the disk, and the server starts on
//! it. The power is cut twice, with `WATCHKEEPER_ENDURE=1` fifty times.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use sea_orm::{ConnectionTrait as _, Database, DbBackend, Statement};
use serde_json::json;
use watchkeeper::store::database::sqlite_url;

use crate::crowd::{Crowd, ROOM, number};
use crate::endures;
use crate::stored::Stored;
use crate::support::eventually;
use crate::support::server::Server;

const REQUIRED: &str = "WATCHKEEPER_TESTS_REQUIRE_LOOP";
const SERVICES: usize = 200;
/// Results become blocks after a second, so that segments are cut off as well.
const COMPACTING: [(&str, &str); 3] = [
    ("WATCHKEEPER_COMPACTION__PASS_MS", "200"),
    ("WATCHKEEPER_COMPACTION__ROWS_PER_BUCKET", "1"),
    ("WATCHKEEPER_COMPACTION__RESULT_SETTLE_MS", "1000"),
];

fn cuts() -> u64 {
    if endures() { 50 } else { 2 }
}

/// A disk whose power can be cut.
struct Disk {
    folder: tempfile::TempDir,
}

impl Disk {
    /// `None` where this process may not mount an image.
    fn mount() -> Option<Self> {
        let disk = Self { folder: tempfile::tempdir().unwrap() };
        fs::File::create(disk.image()).unwrap().set_len(192 << 20).unwrap();
        fs::create_dir(disk.folder.path().join("disk")).unwrap();
        if run("mkfs.ext4", &["-q", "-F", &text(&disk.image())]) && disk.attach() {
            return Some(disk);
        }
        let is_required = std::env::var_os(REQUIRED).is_some_and(|value| value == "1");
        assert!(!is_required, "{REQUIRED}=1, but an image with ext4 cannot be mounted");
        // Past the test harness, which shows what a passing test prints to nobody.
        let _ = writeln!(std::io::stderr(), "!!! no image can be mounted: a power cut is NOT TESTED");
        None
    }

    fn image(&self) -> PathBuf {
        self.folder.path().join("image")
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("disk/data")
    }

    /// The file system commits by itself as late as it can: unsynced data stays off the disk.
    fn attach(&self) -> bool {
        let mount_point = text(&self.folder.path().join("disk"));
        run("mount", &["-o", "loop,commit=600", &text(&self.image()), &mount_point])
    }

    fn detach(&self) {
        assert!(run("umount", &[&text(&self.folder.path().join("disk"))]));
    }

    /// Copy of the present content of the disk.
    fn copy(&self) -> PathBuf {
        let copy = self.folder.path().join("copy");
        fs::copy(self.image(), &copy).unwrap();
        copy
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // The server may just be ending; a lazy unmount waits for it.
        let _ = Command::new("umount")
            .arg("-l")
            .arg(self.folder.path().join("disk"))
            .stderr(Stdio::null())
            .status();
    }
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn run(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// `PRAGMA integrity_check` of every database file of this server, which does not run; how many there are.
async fn assert_sound(server: &Server) -> usize {
    let files = server.files().into_iter().filter(|file| file.extension().is_some_and(|found| found == "db"));
    let mut checked = 0;
    for file in files {
        let database = Database::connect(sqlite_url(&file)).await.unwrap();
        let question = Statement::from_string(DbBackend::Sqlite, "PRAGMA integrity_check");
        let answer = database.query_one_raw(question).await.unwrap().unwrap();
        assert_eq!(answer.try_get_by_index::<String>(0).unwrap(), "ok", "{}", file.display());
        database.close().await.unwrap();
        checked += 1;
    }
    checked
}

#[tokio::test]
async fn acknowledged_data_survives_a_power_cut() {
    let Some(disk) = Disk::mount() else { return };
    let data = text(&disk.data());
    let mut variables = COMPACTING.to_vec();
    variables.push(("WATCHKEEPER_DATA_DIR", &*data));
    let mut server = Server::with(ROOM, &variables);
    let crowd = Crowd::gather(&server.client(), SERVICES);
    let path = format!("/v1/services/{}", crowd.ids[0]);
    let mut accepted = 0;
    for round in 0..cuts() {
        let client = server.client();
        eventually("results become blocks", || (number(&client, "results_sealed_total") > 0).then_some(()))
            .await;
        tokio::time::sleep(Duration::from_millis(200 + round.wrapping_mul(2_654_435_761) % 1_500)).await;
        let name = format!("round {round}");
        client.patch(&path, &json!({"name": name})).expect(200);
        let acknowledged = number(&client, "results_acked_total");
        server.signal("STOP");
        // A call under way ends; none starts after it, and the copy is one moment of the disk.
        tokio::time::sleep(Duration::from_millis(300)).await;
        let copy = disk.copy();
        server.kill();
        disk.detach();
        fs::rename(copy, disk.image()).unwrap();
        assert!(disk.attach(), "round {round}: the copy cannot be mounted");
        let files = assert_sound(&server).await;
        let stored = Stored::open(&server, None).await;
        let found = stored.holdings().await;
        stored.close().await;
        accepted += acknowledged;
        println!(
            "round {round}: {acknowledged} acknowledged, {} there of {accepted}, {} in blocks, {files} sound files",
            found.checks, found.sealed
        );
        assert!(found.checks >= accepted, "round {round}: {} of {accepted}", found.checks);
        assert_eq!(found.doubled, 0, "round {round}: a check is there twice");
        accepted = found.checks;
        server.restart();
        assert_eq!(server.client().get(&path).expect(200).data()["name"], *name, "a write was lost");
    }
    crowd.assert_nobody_down(&server.client());
}
