use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

/// A folder that is for its owner alone, below one that is shared as `/tmp` is.
fn cache() -> (tempfile::TempDir, Cache, PathBuf) {
    let above = tempfile::tempdir().expect("a temporary folder");
    let folder = above.path().join("made/engines");
    (above, Cache::in_folder(&folder), folder)
}

fn key(of: &[u8]) -> Key {
    Key::named(&Sha256::digest(of))
}

fn kept(cache: &Cache, key: &Key) -> Option<Vec<u8>> {
    cache.get(key).map(|code| code.bytes().to_vec())
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").mode() & 0o777
}

#[test]
fn what_was_put_is_there_for_its_owner_alone() {
    let (_above, cache, folder) = cache();
    let key = key(b"a component");
    assert_eq!(kept(&cache, &key), None, "nothing yet");
    cache.put(&key, b"code");
    assert_eq!(kept(&cache, &key).as_deref(), Some(&b"code"[..]));
    assert_eq!((mode(&folder), mode(&folder.join(&key.0))), (0o700, 0o600));
    assert_eq!(mode(folder.parent().expect("a folder")), 0o700);
    assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 1, "no draft is left");
    cache.put(&key, b"other code");
    assert_eq!(kept(&cache, &key).as_deref(), Some(&b"other code"[..]));
}

#[test]
fn what_others_could_have_written_is_not_taken() {
    for rights in [0o620, 0o602, 0o666, 0o640, 0o604] {
        let (_above, cache, folder) = cache();
        let key = key(b"a component");
        cache.put(&key, b"code");
        let file = folder.join(&key.0);
        set_mode(&file, rights);
        assert_eq!(kept(&cache, &key), None, "a file with {rights:o}");
        cache.put(&key, b"code");
        assert_eq!((mode(&file), kept(&cache, &key).is_some()), (0o600, true), "it is written anew");
    }
    for rights in [0o720, 0o702, 0o777, 0o1777, 0o755] {
        let (_above, cache, folder) = cache();
        let key = key(b"a component");
        cache.put(&key, b"code");
        set_mode(&folder, rights);
        assert_eq!(kept(&cache, &key), None, "in a folder with {rights:o}");
        fs::remove_file(folder.join(&key.0)).expect("it is ours");
        cache.put(&key, b"code");
        assert!(!folder.join(&key.0).exists(), "nothing is put in a folder with {rights:o}");
    }
}

#[test]
fn a_folder_above_that_others_can_write_to_is_as_bad() {
    let (_above, cache, folder) = cache();
    let key = key(b"a component");
    cache.put(&key, b"code");
    let above = folder.parent().expect("a folder");
    for (rights, is_taken) in [(0o777, false), (0o770, false), (0o1777, true), (0o755, true)] {
        set_mode(above, rights);
        assert_eq!(kept(&cache, &key).is_some(), is_taken, "{rights:o}");
    }
}

#[test]
fn what_belongs_to_somebody_else_is_not_taken() {
    let (_above, cache, folder) = cache();
    let key = key(b"a component");
    cache.put(&key, b"code");
    let file = folder.join(&key.0);
    // Only root can give things away.
    if rustix::process::geteuid().is_root() {
        for path in [file.as_path(), &folder, folder.parent().expect("a folder")] {
            std::os::unix::fs::chown(path, Some(65534), None).expect("root may do that");
            assert_eq!(kept(&cache, &key), None, "{}", path.display());
            std::os::unix::fs::chown(path, Some(0), None).expect("root may do that");
            assert!(kept(&cache, &key).is_some(), "{}", path.display());
        }
    }
}

#[test]
fn links_are_not_followed_and_second_names_not_trusted() {
    let (above, cache, folder) = cache();
    let key = key(b"a component");
    cache.put(&key, b"code");
    let (file, elsewhere) = (folder.join(&key.0), above.path().join("elsewhere"));
    fs::hard_link(&file, &elsewhere).expect("a second name");
    assert_eq!(kept(&cache, &key), None, "it can be written by another name");
    fs::remove_file(&file).expect("it is ours");
    symlink(&elsewhere, &file).expect("a link");
    assert_eq!(kept(&cache, &key), None, "it lies elsewhere");
    cache.put(&key, b"code");
    assert!(kept(&cache, &key).is_some(), "the link has given way");
    assert!(fs::symlink_metadata(&file).expect("it is there").is_file());
}

#[test]
fn what_is_damaged_or_under_another_name_is_not_taken() {
    let (_above, cache, folder) = cache();
    let (key, other) = (key(b"a component"), key(b"another"));
    cache.put(&key, b"code");
    let file = folder.join(&key.0);
    let whole = fs::read(&file).expect("it is there");
    for length in 0..whole.len() {
        fs::write(&file, &whole[..length]).expect("it is ours");
        assert_eq!(kept(&cache, &key), None, "{length} bytes of it");
    }
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        fs::write(&file, &damaged).expect("it is ours");
        assert_eq!(kept(&cache, &key), None, "byte {at}");
    }
    fs::write(&file, &whole).expect("it is ours");
    assert!(kept(&cache, &key).is_some());
    fs::rename(&file, folder.join(&other.0)).expect("it is ours");
    assert_eq!(kept(&cache, &other), None);
}

#[test]
fn no_more_are_kept_than_a_few_and_those_used_last_stay() {
    let (_above, cache, folder) = cache();
    let keys: Vec<_> = (0..u8::try_from(MOST).expect("a few") + 3).map(|nth| key(&[nth])).collect();
    for (nth, key) in keys.iter().enumerate() {
        cache.put(key, b"code");
        // The first is used again and again; the others are older the earlier they came.
        let file = File::options().write(true).open(folder.join(&key.0)).expect("it is ours");
        let age = std::time::Duration::from_secs(1000 - nth as u64);
        file.set_modified(SystemTime::now() - age).expect("it is ours");
        assert!(kept(&cache, &keys[0]).is_some(), "{nth}");
    }
    assert_eq!(fs::read_dir(&folder).expect("a folder").count(), MOST);
    assert!(kept(&cache, keys.last().expect("some")).is_some());
    assert_eq!(kept(&cache, &keys[1]), None);
}

#[test]
fn without_a_folder_nothing_is_kept() {
    let key = key(b"a component");
    Cache::none().put(&key, b"code");
    assert_eq!(kept(&Cache::none(), &key), None);
}
