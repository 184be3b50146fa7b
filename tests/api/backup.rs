//! `watchkeeper backup`, `verify`, `restore` and `notifications release`, as an operator types them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use rstest::rstest;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::incidents::open_incident;
use crate::notification_channels::{create_channel, webhook};
use crate::support::client::Client;
use crate::support::server::Server;
use crate::support::sink::{Conduct, Sink};
use crate::support::{create, eventually, until_checks};

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn output_text(output: &Output) -> &str {
    text(&output.stderr)
}

/// A command that must succeed; returns what it prints.
fn done(server: &Server, arguments: &[&str]) -> String {
    let output = server.command(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", output_text(&output));
    text(&output.stdout).to_owned()
}

/// A command that must fail with exit code 1 and one line.
fn refused(server: &Server, arguments: &[&str]) -> String {
    let output = server.command(arguments);
    let said = output_text(&output).to_owned();
    assert_eq!((output.status.code(), said.lines().count()), (Some(1), 1), "{arguments:?}: {said}");
    said
}

/// A place for backups, and a path in it.
fn backup_path(name: &str) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name).to_str().unwrap().to_owned();
    (folder, path)
}

fn warnings(client: &Client) -> Value {
    client.without_token().get("/readyz").expect(200).json()["warnings"].clone()
}

/// Takes the data folder away, as a lost disk would, and puts a backup in its place.
fn restore_in_place(server: &Server, backup: &str) -> String {
    let lost = server.data().with_extension("lost");
    let _ = std::fs::remove_dir_all(&lost);
    std::fs::rename(server.data(), &lost).unwrap();
    done(server, &["restore", backup])
}

fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().unwrap().permissions().mode() & 0o777
}

/// Columns: name of the backup, whether the server runs while it is made.
#[rstest]
#[case::folder_beside_a_server("monday", true)]
#[case::folder_of_a_stopped_one("monday", false)]
#[case::file("monday.tar", true)]
#[case::compressed_file("monday.tar.zst", false)]
#[tokio::test]
async fn a_backup_can_be_restored(#[case] name: &str, #[case] runs: bool) {
    let (_folder, backup) = backup_path(name);
    let mut server = Server::embedded("", &[]);
    let client = server.client();
    let service = create(
        &client,
        &json!({"name": "Shop", "check_type": "tcp", "target": "127.0.0.1:9", "settings": {"retries": 0, "interval_seconds": 604_800}}),
    );
    let checks = until_checks(&client, &service, 1).await;
    if !runs {
        server.kill();
    }
    let made = done(&server, &["backup", "--to", &backup, "--with-key"]);
    assert!(made.contains("1 organisation, 1 service") && made.contains("The secret key is in it"), "{made}");
    assert_eq!(mode(Path::new(&backup)) & 0o077, 0, "others may read it");
    let whole = done(&server, &["verify", &backup]);
    assert!(
        whole.starts_with("The backup is whole: ") && whole.contains("the secret key is in it"),
        "{whole}"
    );
    if runs {
        create(&client, &json!({"name": "Later", "check_type": "manual"}));
        server.kill();
    }

    let restored = restore_in_place(&server, &backup);
    assert!(restored.contains("watchkeeper notifications release"), "{restored}");
    assert!(!restored.contains("Put the secret key"), "{restored}");
    server.restart();
    let services = server.client().get("/v1/services").expect(200).data();
    let names: Vec<_> = services.as_array().unwrap().iter().map(|service| &service["name"]).collect();
    assert_eq!(names, ["Shop"]);
    assert_eq!(until_checks(&server.client(), &service, 1).await, checks);
    for file in server.files() {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

/// The token of the first start is not in a backup, but its hash is in the database: the client of before is still let in.
#[tokio::test]
async fn notifications_are_held_after_a_restore_until_released() {
    let (_folder, backup) = backup_path("backup");
    let (sink, pinged) = (Sink::start(), Sink::start());
    let variables = [
        ("WATCHKEEPER_WATCHDOG__PING_URL", &*pinged.url()),
        ("WATCHKEEPER_WATCHDOG__PING_INTERVAL_SECONDS", "1"),
    ];
    let mut server = Server::embedded("", &variables);
    let client = server.client();
    sink.behave(Conduct::Answer(500, ""));
    create_channel(&client, &webhook(&sink.url(), &json!({})));
    open_incident(&client, &json!({"title": "Before"}));
    eventually("it is tried", || (!sink.received().is_empty()).then_some(())).await;
    assert_eq!(warnings(&client), Value::Null);
    server.kill();
    done(&server, &["backup", "--to", &backup, "--with-key"]);

    restore_in_place(&server, &backup);
    sink.behave(Conduct::Answer(204, ""));
    let (told, pings) = (sink.received().len(), pinged.received().len());
    server.restart();
    let client = server.client();
    open_incident(&client, &json!({"title": "After"}));
    // Messages about earlier events would have been sent by now.
    eventually("the watchdog withholds", || {
        let page = client.without_token().get("/metrics").expect(200).body;
        let withheld = "watchkeeper_watchdog_pings_total{result=\"withheld\"} ";
        let count = page.lines().find_map(|line| line.strip_prefix(withheld)).unwrap();
        (count.parse::<u64>().unwrap() >= 3).then_some(())
    })
    .await;
    assert_eq!((sink.received().len(), pinged.received().len()), (told, pings));
    assert!(warnings(&client)[0].as_str().unwrap().contains("notifications release"));

    assert_eq!(done(&server, &["notifications", "release"]), "Messages are sent again.\n");
    eventually("both are told", || (sink.received().len() >= told + 2).then_some(())).await;
    eventually("a ping leaves", || (pinged.received().len() > pings).then_some(())).await;
    assert_eq!(warnings(&client), Value::Null);
    assert_eq!(done(&server, &["notifications", "release"]), "No messages were held.\n");
}

#[test]
fn without_the_secret_key_its_path_is_named() {
    let (_folder, backup) = backup_path("backup");
    let mut server = Server::embedded("", &[]);
    let made = done(&server, &["backup", "--to", &backup]);
    assert!(made.contains("is not in it: keep data/secret.key elsewhere"), "{made}");
    assert!(!Path::new(&backup).join("secret.key").exists());
    server.kill();
    let restored = restore_in_place(&server, &backup);
    assert!(restored.contains("Put the secret key into data/secret.key before the start"), "{restored}");
    let start = server.command(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(start.status.code(), Some(1));
    assert!(
        output_text(&start).contains("secret.key is missing; put the key back"),
        "{}",
        output_text(&start)
    );
    let key = server.data().with_extension("lost").join("secret.key");
    std::fs::copy(key, server.data().join("secret.key")).unwrap();
    server.restart();
}

/// Something that is done to a backup.
type Change = fn(&Path);

fn replaced(path: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{text}");
    std::fs::write(path, text.replacen(from, to, 1)).unwrap();
}

/// A copy of `backup` in which something was done.
fn changed(backup: &str, change: Change) -> PathBuf {
    let copy = PathBuf::from(format!("{backup}-changed"));
    let _ = std::fs::remove_dir_all(&copy);
    std::fs::create_dir(&copy).unwrap();
    for entry in std::fs::read_dir(backup).unwrap() {
        let entry = entry.unwrap();
        if entry.path().is_file() {
            std::fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
        }
    }
    change(&copy);
    copy
}

#[test]
fn an_incomplete_backup_is_refused_and_leaves_no_files() {
    let (_folder, backup) = backup_path("backup");
    let server = Server::embedded("", &[]);
    done(&server, &["backup", "--to", &backup, "--with-key"]);
    // Columns: the change, and the expected message.
    let rows: [(Change, &str); 6] = [
        (|copy| std::fs::remove_file(copy.join("manifest.json")).unwrap(), "it has no manifest.json"),
        (|copy| std::fs::remove_file(copy.join("history.db")).unwrap(), "history.db is missing"),
        (|copy| std::fs::write(copy.join("main.db"), "x").unwrap(), "main.db: it has 1 bytes"),
        (|copy| replaced(&copy.join("manifest.json"), "\"format\": 1", "\"format\": 9"), "has format 9"),
        (|copy| replaced(&copy.join("manifest.json"), "\"main.db\",", "\"../main.db\","), "outside itself"),
        (|copy| std::fs::write(copy.join("manifest.json"), "{").unwrap(), "manifest.json: EOF"),
    ];
    for (change, expected) in rows {
        let copy = changed(&backup, change);
        let copy = copy.to_str().unwrap();
        let told = refused(&server, &["verify", copy]);
        assert!(told.contains(expected), "{told}");
        let told = refused(&server, &["restore", copy, "--data-dir", "new"]);
        assert!(told.contains(expected), "{told}");
        assert!(!server.data().with_file_name("new").exists(), "{expected}");
    }
    let cut = format!("{backup}.tar");
    std::fs::write(&cut, [7; 700]).unwrap();
    assert!(refused(&server, &["verify", &cut]).contains("damaged"));
}

/// A folder with the name of an archive would be taken for one.
#[rstest]
fn an_archive_of_another_kind_is_not_written(#[values("x.tar.gz", "x.tgz", "x.zip", "x.TAR.XZ")] name: &str) {
    let (_folder, backup) = backup_path(name);
    let output = Server::shared().command(&["backup", "--to", &backup]);
    let said = output_text(&output);
    assert!(output.status.code() == Some(2) && said.contains(".tar or .tar.zst"), "{said}");
    assert!(!Path::new(&backup).exists());
    std::fs::write(&backup, "").unwrap();
    let verified = refused(&Server::shared(), &["verify", &backup]);
    assert!(verified.contains("is not a backup: a backup is a folder, or a file"), "{verified}");
}

/// A backup may be on a medium that cannot be written: it is unpacked elsewhere, and nothing is left there. Errors name the
/// file in the backup, not the unpacked one.
#[test]
fn a_file_is_verified_in_a_temporary_folder() {
    let (folder, backup) = backup_path("backup");
    let temporary = tempfile::tempdir().unwrap();
    let server = Server::embedded("", &[("TMPDIR", temporary.path().to_str().unwrap())]);
    done(&server, &["backup", "--to", &backup]);
    let pack = |name: &str, change: Change| {
        let copy = changed(&backup, change);
        let file = folder.path().join(name);
        let packed = Command::new("tar").arg("-cf").arg(&file).arg("-C").arg(copy).arg(".").status().unwrap();
        assert!(packed.success());
        file.to_str().unwrap().to_owned()
    };
    let rows: [(&str, Change, &str); 4] = [
        ("cut.tar", |copy| std::fs::remove_file(copy.join("history.db")).unwrap(), "history.db is missing"),
        ("odd.tar", |copy| std::fs::write(copy.join("main.db"), "x").unwrap(), "main.db: it has 1 bytes"),
        ("bad.tar", |copy| std::fs::write(copy.join("manifest.json"), "{").unwrap(), "manifest.json: EOF"),
        (
            "none.tar",
            |copy| std::fs::remove_file(copy.join("manifest.json")).unwrap(),
            "has no manifest.json",
        ),
    ];
    for (name, change, flaw) in rows {
        let file = pack(name, change);
        for told in
            [refused(&server, &["verify", &file]), refused(&server, &["restore", &file, "--data-dir", "new"])]
        {
            assert!(told.contains(&file) && told.contains(flaw), "{told}");
            let is_outside =
                !told.contains(temporary.path().to_str().unwrap()) && !told.contains("new.backup");
            assert!(is_outside, "{told}");
        }
        assert_eq!(scheduled(temporary.path()), [""; 0], "{name}");
    }
    let whole = pack("whole.tar", |_| ());
    let before = scheduled(folder.path());
    done(&server, &["verify", &whole]);
    assert_eq!(scheduled(temporary.path()), [""; 0]);
    assert_eq!(scheduled(folder.path()), before, "nothing is written beside the backup");
    drop(temporary);
    assert!(refused(&server, &["verify", &whole]).contains("TMPDIR"));
}

#[test]
fn existing_files_are_not_overwritten() {
    let (folder, backup) = backup_path("backup");
    let server = Server::embedded("", &[]);
    done(&server, &["backup", "--to", &backup]);
    assert!(refused(&server, &["backup", "--to", &backup]).contains("is not empty"));
    assert!(refused(&server, &["restore", &backup]).contains("data is not empty"));
    let file = folder.path().join("taken.tar");
    std::fs::write(&file, "mine").unwrap();
    let taken = file.to_str().unwrap();
    assert!(refused(&server, &["backup", "--to", taken]).contains("exists already"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    let nowhere = server.command(&["backup", "--to", &backup, "--data-dir", "elsewhere"]);
    assert_eq!(nowhere.status.code(), Some(2), "{}", output_text(&nowhere));
    let external = server.command(&["backup", "--to", &backup, "--database-url", "postgres://127.0.0.1/x"]);
    assert!(output_text(&external).contains("pg_dump"), "{}", output_text(&external));
    assert!(refused(&server, &["verify", "nothing"]).contains("there is no backup nothing"));
}

/// The folders of a schedule, by name.
fn scheduled(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<String> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

fn metric(client: &Client, name: &str) -> f64 {
    let page = client.without_token().get("/metrics").expect(200).body;
    let line =
        page.lines().find_map(|line| line.strip_prefix(&format!("watchkeeper_{name} ")).map(str::to_owned));
    line.unwrap_or_else(|| panic!("no {name}: {page}")).parse().unwrap()
}

/// Three older backups, one incomplete, one foreign file: the oldest makes room, and the foreign file stays.
#[tokio::test]
async fn a_server_backs_itself_up_and_keeps_the_newest() {
    let folder = tempfile::tempdir().unwrap();
    let old = [
        "watchkeeper-2020-01-01T000000Z",
        "watchkeeper-2020-01-02T000000Z",
        "watchkeeper-2020-01-03T000000Z",
    ];
    for name in old {
        std::fs::create_dir(folder.path().join(name)).unwrap();
        std::fs::write(folder.path().join(name).join("manifest.json"), "{}").unwrap();
    }
    for name in ["watchkeeper-2020-01-04T000000Z.unfinished", "watchkeeper-2020-01-05T000000Z", "mine"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
    }
    let backup_folder = folder.path().to_str().unwrap();
    let variables = [("WATCHKEEPER_BACKUP__FOLDER", backup_folder), ("WATCHKEEPER_BACKUP__KEEP", "2")];
    let server = Server::embedded("", &variables);
    let client = server.client();
    eventually("one is made", || (metric(&client, "backups_total{result=\"made\"}") >= 1.0).then_some(()))
        .await;
    let there = eventually("old ones are removed", || {
        let there = scheduled(folder.path());
        (there.len() == 4).then_some(there)
    })
    .await;
    assert_eq!(there[0], "mine");
    assert_eq!(there[1], old[2]);
    assert_eq!(there[2], "watchkeeper-2020-01-05T000000Z");
    let made = folder.path().join(&there[3]);
    done(&server, &["verify", made.to_str().unwrap()]);
    assert!(!made.join("secret.key").exists());
    assert!(metric(&client, "backup_last_success_timestamp_seconds") > 1_700_000_000.0);
    assert_eq!(warnings(&client), Value::Null);
}

#[tokio::test]
async fn a_failed_scheduled_backup_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let backup_folder = file.join("backups");
    let variables = [
        ("WATCHKEEPER_BACKUP__FOLDER", backup_folder.to_str().unwrap()),
        ("WATCHKEEPER_WATCHDOG__NOTICE_AFTER_SECONDS", "1"),
    ];
    let server = Server::embedded("", &variables);
    let client = server.client();
    let warned = eventually("it is warned of", || warnings(&client)[0].as_str().map(str::to_owned)).await;
    assert!(warned.contains("the last attempt failed") && warned.contains("Not a directory"), "{warned}");
    let told = eventually("it is told", || {
        let notices = client.get("/v1/notices").expect(200).data();
        let titles = notices.as_array().unwrap().iter().map(|notice| notice["title"].to_string());
        titles.into_iter().find(|title| title.contains("backup"))
    })
    .await;
    assert!(told.contains("has no fresh backup"), "{told}");
}

/// An operator on another machine requests a backup from a server, which is made in the server's own folder.
#[tokio::test]
async fn a_backup_is_made_over_the_network() {
    let (_folder, backups) = backup_path("backups");
    let variables = [("WATCHKEEPER_BACKUP__FOLDER", backups.as_str()), ("WATCHKEEPER_BACKUP__KEEP", "2")];
    let mut server = Server::embedded("", &variables);
    let client = server.client();
    create(&client, &json!({"name": "Shop", "check_type": "manual"}));
    let operator = server.member(&server.organisation("business"), "engine.backup");
    let url = server.base();
    let arguments = ["backup", "--url", &url, "--token", operator.token.as_deref().unwrap()];
    // The first of the schedule is made at the start; both are of different seconds.
    eventually("the scheduled backup is complete", || {
        let listed = operator.get("/v1/engine/backups").expect(200).data();
        (listed[0]["state"] == "complete").then_some(())
    })
    .await;
    let said = eventually("a backup is made on request", || {
        let output = server.command(&arguments);
        output.status.success().then(|| text(&output.stdout).to_owned())
    })
    .await;
    assert!(said.contains("has created the backup watchkeeper-"), "{said}");
    let listed = operator.get("/v1/engine/backups").expect(200).data();
    let listed = listed.as_array().unwrap();
    assert!(listed.len() == 2 && listed.iter().all(|one| one["state"] == "complete"), "{listed:?}");
    assert!(listed[0]["created_at"].as_str() > listed[1]["created_at"].as_str(), "{listed:?}");
    let newest = format!("{backups}/{}", listed[0]["name"].as_str().unwrap());
    assert!(done(&server, &["verify", &newest]).contains("1 service"));

    let refused_by = |client: &Client, text: &str| {
        let arguments = ["backup", "--url", &url, "--token", client.token.as_deref().unwrap()];
        let said = refused(&server, &arguments);
        assert!(said.contains(text), "{said}");
    };
    refused_by(&client, "missing the permission 'engine.backup'");
    server.kill();
    server.unset("WATCHKEEPER_BACKUP__FOLDER");
    server.restart();
    let operator = server.member(&server.organisation("business"), "engine.backup");
    let without_folder = operator.post("/v1/engine/backups", &json!({}));
    assert_eq!(without_folder.status, 409);
    assert!(without_folder.message().contains("set backup.folder"), "{}", without_folder.message());
}

/// A failed backup shows its reason to the caller.
#[tokio::test]
async fn a_failed_backup_shows_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a-file");
    std::fs::write(&file, "").unwrap();
    let server = Server::embedded("", &[("WATCHKEEPER_BACKUP__FOLDER", file.to_str().unwrap())]);
    let operator = server.member(&server.organisation("business"), "engine.backup");
    let url = server.base();
    let arguments = ["backup", "--url", &url, "--token", operator.token.as_deref().unwrap()];
    let output = server.command(&arguments);
    assert_eq!(output.status.code(), Some(1), "{}", output_text(&output));
    assert!(output_text(&output).contains("a-file"), "{}", output_text(&output));
}
