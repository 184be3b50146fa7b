//! Tests of replacing a folder: what is kept, what is refused, and what an interrupted export leaves.

use super::*;

fn write(target: &TargetFolder, files: &[&str]) -> Vec<String> {
    for file in files {
        let path = target.staging().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "new").unwrap();
    }
    files.iter().map(|file| (*file).to_owned()).collect()
}

fn export(folder: &Path, files: &[&str]) -> anyhow::Result<()> {
    let target = TargetFolder::prepare(folder, false)?;
    let files = write(&target, files);
    target.publish(&files)
}

fn files(folder: &Path) -> Vec<String> {
    let all = files_in(folder).unwrap();
    all.iter().map(|file| file.display().to_string()).filter(|file| file != LIST_FILE).collect()
}

#[test]
fn an_export_replaces_the_earlier_one_and_keeps_other_files() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("sites").join("status");
    export(&folder, &["index.html", "a/index.html"]).unwrap();
    fs::create_dir(folder.join("own")).unwrap();
    fs::write(folder.join("own").join("robots.txt"), "mine").unwrap();
    symlink("elsewhere", folder.join("link")).unwrap();
    export(&folder, &["index.html", "b/index.html"]).unwrap();
    assert_eq!(files(&folder), ["b/index.html", "index.html", "link", "own/robots.txt"]);
    assert_eq!(fs::read_to_string(folder.join("own/robots.txt")).unwrap(), "mine");
    assert!(!folder.join("a").exists(), "an empty folder is left");
    let beside: Vec<_> = fs::read_dir(folder.parent().unwrap()).unwrap().collect();
    assert_eq!(beside.len(), 1, "{beside:?}");
}

#[test]
fn a_failed_export_leaves_the_earlier_one() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("status");
    export(&folder, &["index.html"]).unwrap();
    let target = TargetFolder::prepare(&folder, false).unwrap();
    let refused = TargetFolder::prepare(&folder, false).unwrap_err().to_string();
    assert!(refused.contains("under way"), "{refused}");
    write(&target, &["other.html"]);
    drop(target);
    assert_eq!(files(&folder), ["index.html"]);
    // A file of the operator is in the way.
    fs::write(folder.join("new.html"), "mine").unwrap();
    let refused = export(&folder, &["new.html"]).unwrap_err().to_string();
    assert!(refused.contains("new.html is of no export"), "{refused}");
    assert_eq!(files(&folder), ["index.html", "new.html"]);
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
}

#[test]
fn a_folder_of_something_else_is_refused_and_an_empty_one_used() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("thesis.txt"), "mine").unwrap();
    for folder in [place.path().to_owned(), place.path().join("thesis.txt"), "/".into()] {
        let refused = TargetFolder::prepare(&folder, false).unwrap_err();
        assert!(refused.is::<ConfigError>(), "{refused}");
    }
    let empty = place.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let link = place.path().join("link");
    symlink(&empty, &link).unwrap();
    export(&link, &["index.html"]).unwrap();
    assert_eq!(files(&empty), ["index.html"]);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
}

/// The kill may come before the exchange, or after it.
#[test]
fn what_a_killed_export_has_left_is_removed() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("status");
    export(&folder, &["index.html"]).unwrap();
    let killed = TargetFolder::prepare(&folder, false).unwrap();
    write(&killed, &["half.html"]);
    let (left, aside) = (killed.staging().to_owned(), place.path().join("aside"));
    fs::rename(&left, &aside).unwrap();
    drop(killed);
    fs::rename(&aside, &left).unwrap();
    export(&folder, &["index.html"]).unwrap();
    assert!(!left.exists());
    // After the exchange the old export is there.
    fs::create_dir(&left).unwrap();
    fs::write(left.join(LIST_FILE), "# list\nindex.html\n../status/index.html\n").unwrap();
    fs::write(left.join("index.html"), "old").unwrap();
    export(&folder, &["index.html"]).unwrap();
    assert!(!left.exists());
    assert_eq!(files(&folder), ["index.html"]);
}

/// While an export is made, others write into the folder and remove from it.
#[test]
fn files_that_appear_meanwhile_are_kept() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("status");
    export(&folder, &["index.html"]).unwrap();
    fs::write(folder.join("gone.txt"), "mine").unwrap();
    let target = TargetFolder::prepare(&folder, false).unwrap();
    let names = write(&target, &["index.html"]);
    fs::remove_file(folder.join("gone.txt")).unwrap();
    fs::create_dir(folder.join(".well-known")).unwrap();
    fs::write(folder.join(".well-known").join("token"), "mine").unwrap();
    target.publish(&names).unwrap();
    assert_eq!(files(&folder), [".well-known/token", "index.html"]);
    // What is left of an export that was cut off stops no other one.
    let left = parent.path().join(".status.watchkeeper-new");
    fs::create_dir(&left).unwrap();
    fs::write(left.join("other.txt"), "mine").unwrap();
    export(&folder, &["index.html"]).unwrap();
    let aside = parent.path().join(".status.watchkeeper-left-1");
    assert_eq!((left.exists(), files(&aside)), (false, vec!["other.txt".to_owned()]));
}

#[test]
fn the_copy_of_a_protected_page_is_open_to_its_owner_only() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("status");
    let target = TargetFolder::prepare(&folder, true).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(target.staging()), 0o700);
    let names = write(&target, &["index.html"]);
    target.publish(&names).unwrap();
    assert_eq!(mode(&folder), 0o700);
}
