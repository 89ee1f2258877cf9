//! What a red proof names: files that the workspace has and no commit holds (L4).

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use dacapo_core::proof::{HiddenFiles, HiddenWhy, Lease};

use crate::fixture::Fixture;
use crate::proof::Proofs;

fn hidden(proofs: &Proofs, lease: &Lease) -> Vec<(String, HiddenWhy)> {
    let found = lease.hidden(&proofs.f.repo, 1000, &BTreeSet::new()).expect("compared");
    assert_eq!(found.total as usize, found.files.len());
    found.files.into_iter().map(|hidden| (hidden.path, hidden.why)).collect()
}

fn expect(proofs: &Proofs, lease: &Lease, expected: &[(&str, HiddenWhy)]) {
    let expected: Vec<(String, HiddenWhy)> =
        expected.iter().map(|(path, why)| ((*path).to_owned(), *why)).collect();
    assert_eq!(hidden(proofs, lease), expected);
}

#[test]
fn l4_nothing_is_hidden_in_a_workspace_like_its_commit() {
    let f = Fixture::new();
    f.write(".gitignore", "extra\ntarget/\n");
    f.write(".worktreeinclude", "extra\n");
    f.write("extra", "start\n");
    f.git(&["add", "-A"]);
    f.git(&["commit", "-qm", "work"]);
    let proofs = Proofs::start(f);
    let lease = proofs.prepared();
    for place in [lease.tree(), proofs.f.repo.toplevel()] {
        fs::create_dir(place.join("target")).expect("directory");
        fs::write(place.join("report.xml"), place.as_os_str().as_bytes()).expect("write");
    }
    fs::write(proofs.f.path("target/more"), "x").expect("write");
    // What a check did to the commit's own files in the checkout says nothing about the workspace.
    fs::write(lease.tree().join("a.txt"), "by a check\n").expect("write");
    expect(&proofs, &lease, &[]);
}

#[test]
fn l4_files_that_no_commit_holds_are_named_with_the_reason() {
    let f = Fixture::new();
    f.write(".gitignore", "*.log\nresults/\nnode_modules/\nextra\n");
    f.write(".worktreeinclude", "extra\n");
    f.write("extra", "start\n");
    f.git(&["add", "-A"]);
    f.git(&["commit", "-qm", "work"]);
    let proofs = Proofs::start(f);
    let f = &proofs.f;
    fs::write(f.repo.common_dir().join("info/exclude"), "/excluded\n").expect("write");
    let global = f.dir.path().join("home/excludes");
    fs::write(&global, "*.mine\n").expect("write");
    f.git(&["config", "--global", "core.excludesFile", global.to_str().expect("a name")]);
    for name in [
        "x.log",
        "results/model.bin",
        "results/deep/more.bin",
        "node_modules/m/index.js",
        "excluded",
        "y.mine",
        "conf/.env",
        "conf/new",
        "new\nline",
    ] {
        f.write(name, "x");
    }
    f.write("extra", "agent\n");
    f.write("big", &"x".repeat(1001));
    fs::create_dir(f.path("empty")).expect("directory");
    fs::create_dir(f.path("nested")).expect("directory");
    assert!(crate::fixture::git_in(f.dir.path(), &f.path("nested"), &["init", "-q"]).status.success());
    let lease = proofs.prepared();
    expect(
        &proofs,
        &lease,
        &[
            ("big", HiddenWhy::LeftOutSize),
            ("conf/.env", HiddenWhy::LeftOutSecret),
            ("extra", HiddenWhy::IncludedChanged),
            ("excluded", HiddenWhy::Excluded),
            ("y.mine", HiddenWhy::Excluded),
            ("x.log", HiddenWhy::Ignored),
            ("conf/new", HiddenWhy::Untracked),
            ("new\\nline", HiddenWhy::Untracked),
            ("results/", HiddenWhy::Ignored),
            ("nested/", HiddenWhy::NestedRepository),
            ("empty/", HiddenWhy::EmptyDirectory),
            ("node_modules/", HiddenWhy::Ignored),
        ],
    );
}

#[test]
fn l4_hidden_edits_of_committed_files_are_named_with_the_reason() {
    let f = Fixture::new();
    f.write(".gitattributes", "filtered* filter=x\n");
    for name in ["assumed", "skipped", "filtered", "filtered\n2", "changed", "gone", "mode", "same"] {
        f.write(name, "committed\n");
    }
    f.git(&["add", "-A"]);
    f.git(&["commit", "-qm", "work"]);
    let proofs = Proofs::start(f);
    let f = &proofs.f;
    f.git(&["update-index", "--assume-unchanged", "assumed"]);
    f.git(&["update-index", "--skip-worktree", "skipped"]);
    f.git(&["config", "filter.x.clean", "echo committed"]);
    for name in ["assumed", "skipped", "filtered", "filtered\n2", "changed"] {
        // As long as what it hides: only the bytes tell.
        f.write(name, "different\n");
    }
    fs::remove_file(f.path("gone")).expect("remove");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(f.path("mode"), mode).expect("mode");
    let lease = proofs.prepared();
    expect(
        &proofs,
        &lease,
        &[
            ("assumed", HiddenWhy::AssumeUnchanged),
            ("filtered", HiddenWhy::Filtered),
            ("filtered\\n2", HiddenWhy::Filtered),
            ("skipped", HiddenWhy::SkipWorktree),
            ("changed", HiddenWhy::Changed),
            ("gone", HiddenWhy::Changed),
            ("mode", HiddenWhy::Changed),
        ],
    );
}

#[test]
fn l4_what_was_untracked_before_the_task_is_named_as_such() {
    let proofs = Proofs::start(Fixture::new());
    for name in ["conf/local", "new", ".env"] {
        proofs.f.write(name, "x");
    }
    let lease = proofs.prepared();
    let before = ["conf/local", ".env"].map(std::path::PathBuf::from).into();
    let found = lease.hidden(&proofs.f.repo, 1000, &before).expect("compared").files;
    let found: Vec<_> = found.iter().map(|hidden| (hidden.path.as_str(), hidden.why)).collect();
    let expected = [
        (".env", HiddenWhy::LeftOutSecret),
        ("conf/local", HiddenWhy::UntrackedBefore),
        ("new", HiddenWhy::Untracked),
    ];
    assert_eq!(found, expected);
}

#[test]
fn l4_a_long_list_is_cut_and_counted() {
    let proofs = Proofs::start(Fixture::new());
    for number in 0..150 {
        proofs.f.write(format!("many/{number}"), "x");
    }
    let lease = proofs.prepared();
    let found = lease.hidden(&proofs.f.repo, 1000, &BTreeSet::new()).expect("compared");
    assert_eq!((found.files.len(), found.total), (HiddenFiles::MOST, 150));
}

#[test]
fn l4_hidden_files_are_named_though_the_workspace_has_no_working_git() {
    let proofs = Proofs::start(Fixture::new());
    proofs.f.write("a.txt", "changed\n");
    proofs.f.write("new", "x");
    let lease = proofs.prepared();
    fs::write(proofs.f.repo.git_dir().join("index"), "broken").expect("write");
    expect(&proofs, &lease, &[("a.txt", HiddenWhy::Changed), ("new", HiddenWhy::Untracked)]);
}
