//! Every way out of the workspace that a path can try.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use super::*;

/// A workspace beside something that is not its business.
struct Ground {
    dir: tempfile::TempDir,
    place: Place,
}

fn ground() -> Ground {
    let dir = tempfile::tempdir().unwrap();
    let at = |path: &str| dir.path().join(path);
    fs::create_dir_all(at("work/src/deep")).unwrap();
    fs::create_dir_all(at("work/.git/hooks")).unwrap();
    fs::create_dir_all(at("work-beside")).unwrap();
    fs::write(at("secret"), "secret").unwrap();
    fs::write(at("work-beside/secret"), "secret").unwrap();
    fs::write(at("work/a.txt"), "a").unwrap();
    fs::write(at("work/src/b.txt"), "b").unwrap();
    fs::write(at("work/.git/config"), "c").unwrap();
    let place = Place::open(&at("work")).unwrap();
    Ground { dir, place }
}

impl Ground {
    fn link(&self, name: &str, target: impl AsRef<Path>) {
        symlink(target, self.dir.path().join("work").join(name)).unwrap();
    }

    fn read(&self, path: &str) -> Result<String, String> {
        use std::io::Read as _;
        let mut text = String::new();
        self.place.read(path)?.read_to_string(&mut text).unwrap();
        Ok(text)
    }

    /// Neither reading nor writing nor editing gets through, and nothing outside is changed or made.
    fn closed(&self, path: &str) -> String {
        let before = self.everything();
        let read = self.read(path).unwrap_err();
        self.place.write(path).unwrap_err();
        self.place.text(path).unwrap_err();
        assert_eq!(self.everything(), before, "{path}");
        read
    }

    /// All names outside of the workspace and in `.git`, with their sizes.
    fn everything(&self) -> Vec<(PathBuf, u64)> {
        let mut all = Vec::new();
        for dir in [".", "work-beside", "work/.git", "work/.git/hooks"] {
            for entry in fs::read_dir(self.dir.path().join(dir)).unwrap() {
                let entry = entry.unwrap();
                all.push((entry.path(), entry.metadata().unwrap().len()));
            }
        }
        all.sort();
        all
    }
}

#[test]
fn a6_files_of_the_workspace_are_reached_by_any_honest_path() {
    let ground = ground();
    let root = ground.dir.path().join("work");
    let absolute = root.join("src/b.txt");
    for path in ["src/b.txt", "./src/./b.txt", "src//b.txt", absolute.to_str().unwrap()] {
        assert_eq!(ground.read(path).as_deref(), Ok("b"), "{path}");
    }
    let real = root.canonicalize().unwrap().join("a.txt");
    assert_eq!(ground.read(real.to_str().unwrap()).as_deref(), Ok("a"));
    ground.link("near", "src/b.txt");
    ground.link("src/up", "../a.txt");
    ground.link("src/deep/far", "../../src");
    ground.link("whole", root.join("src"));
    for (path, text) in [
        ("near", "b"),
        ("src/up", "a"),
        ("src/deep/far/b.txt", "b"),
        ("whole/b.txt", "b"),
        ("whole/deep/far/up", "a"),
    ] {
        assert_eq!(ground.read(path).as_deref(), Ok(text), "{path}");
    }
    let (_, existed) = ground.place.write("new/dir/file").unwrap();
    assert!(!existed && root.join("new/dir/file").is_file());
}

#[test]
fn a6_paths_do_not_lead_out() {
    let ground = ground();
    let dir = ground.dir.path().to_str().unwrap();
    for path in [
        "../secret",
        "src/../../secret",
        "src/deep/../../../secret",
        "/etc/passwd",
        "/",
        "//etc/passwd",
        &format!("{dir}/secret"),
        &format!("{dir}/work/../secret"),
        &format!("{dir}/work-beside/secret"),
        &format!("{dir}/work/src/../../secret"),
    ] {
        let why = ground.closed(path);
        assert!(why.contains("not inside the workspace"), "{path}: {why}");
    }
    for path in ["", "a\0b", ".", "./", "src", "a.txt/x"] {
        ground.closed(path);
    }
    ground.closed(&"x/".repeat(5000));
    ground.closed(&"x".repeat(5000));
}

#[test]
fn a6_links_do_not_lead_out() {
    let ground = ground();
    ground.link("out", "../secret");
    ground.link("out-dir", "..");
    ground.link("absolute", "/etc");
    ground.link("beside", ground.dir.path().join("work-beside"));
    ground.link("src/deep/out", "../../../secret");
    ground.link("chain", "out-dir");
    ground.link("dangling", "../not-there");
    ground.link("dots", ground.dir.path().join("work/../secret"));
    for path in [
        "out",
        "out-dir/secret",
        "absolute/passwd",
        "beside/secret",
        "src/deep/out",
        "chain/secret",
        "chain/work-beside/secret",
        "dangling",
        "dots",
        "out-dir/new/file",
        "out-dir/work/a.txt",
    ] {
        let why = ground.closed(path);
        assert!(why.contains("not inside the workspace"), "{path}: {why}");
    }
    ground.link("round", "round");
    ground.link("ping", "pong");
    ground.link("pong", "ping");
    for path in ["round", "ping", "ping/x"] {
        assert!(ground.closed(path).contains("too many links"), "{path}");
    }
}

#[test]
fn a6_what_belongs_to_git_is_not_touched() {
    let ground = ground();
    ground.link("alias", ".git");
    ground.link("config", ".git/config");
    for path in [
        ".git",
        ".git/config",
        "./.git/hooks/pre-commit",
        ".GIT/config",
        "src/.git/x",
        "alias/config",
        "config",
    ] {
        assert!(ground.closed(path).contains("belongs to git"), "{path}");
    }
    // Beside it are files like any other.
    ground.place.write(".gitignore").unwrap();
    ground.place.write(".github/x").unwrap();
}

#[test]
fn a6_only_regular_files_are_opened() {
    let ground = ground();
    let root = ground.dir.path().join("work");
    rustix::fs::mkfifoat(rustix::fs::CWD, root.join("pipe"), Mode::from_raw_mode(0o600)).unwrap();
    let _socket = UnixListener::bind(root.join("socket")).unwrap();
    for path in ["pipe", "socket"] {
        assert!(ground.closed(path).contains("no regular file"), "{path}");
    }
    assert!(ground.closed("src").contains("is a directory"));
}

#[test]
fn a_link_that_takes_the_place_of_a_directory_is_not_followed() {
    let ground = ground();
    let root = ground.dir.path().join("work");
    let found = ground.place.find("src/b.txt", Missing::Fail).unwrap();
    fs::remove_file(root.join("src/b.txt")).unwrap();
    ground.link("src/b.txt", "../../secret");
    assert!(
        found.open("src/b.txt", OFlags::RDONLY).is_err(),
        "the file became a link after it was looked at"
    );
    let found = ground.place.find("src/deep/new", Missing::Fail).unwrap();
    fs::rename(root.join("src"), root.join("moved")).unwrap();
    ground.link("src", ground.dir.path().join("work-beside"));
    found.open("src/deep/new", OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL).unwrap();
    assert!(root.join("moved/deep/new").exists(), "it is written where it was found");
}
