//! What Codex tells of a review that its user has called for: that it was begun, the prompt that it gives its reviewer, in the user's
//! name, and what the review came to.

/// How it says that it was begun, before what is looked through.
pub const ENTERED: &str = "Entered review mode: ";
/// How it says what it came to.
pub const EXITED: &str = "Exited review mode: ";

/// What it says is looked through where its user has named nothing, and has its reviewer look through then.
const CHANGES: (&str, &str) = (
    "current changes",
    "Review the current code changes (staged, unstaged, and untracked files) and provide prioritized findings.",
);
/// How prompts for a reviewer begin that name a branch or a commit, and how these end.
const OF_BRANCH: &str = "Review the code changes against the base branch ";
const OF_COMMIT: &str = "Review the code changes introduced by commit ";
const END: &str = ". Provide prioritized, actionable findings.";

/// Whether Codex gives this to its reviewer, where it says that it looks through `reviewed`: what its user has asked for, or what it says
/// of the changes, the branch or the commit that its user has named.
pub fn is_for_reviewer(reviewed: &str, prompt: &str) -> bool {
    let (reviewed, prompt) = (reviewed.trim(), prompt.trim());
    let names = |begins: &str, name: &str| {
        let rest = prompt.strip_prefix(begins).and_then(|rest| rest.strip_prefix(name));
        rest.is_some_and(|rest| rest.ends_with(END))
    };
    let is_of_changes = (reviewed, prompt) == CHANGES;
    let branch = reviewed.strip_prefix("changes against ").filter(|branch| is_quoted(branch));
    // A commit is named by the beginning of its hash, and its title behind that.
    let commit = reviewed.strip_prefix("commit ").and_then(|commit| commit.split([':', ' ']).next());
    let commit = commit.filter(|commit| !commit.is_empty());
    let is_asked_for = !reviewed.is_empty() && reviewed == prompt;
    is_asked_for
        || is_of_changes
        || branch.is_some_and(|branch| names(OF_BRANCH, branch))
        || commit.is_some_and(|commit| names(OF_COMMIT, commit))
}

fn is_quoted(name: &str) -> bool {
    name.len() > 2 && name.starts_with('\'') && name.ends_with('\'')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_reviewer_is_given_is_known_by_what_is_looked_through() {
        let branch = "Review the code changes against the base branch 'main'. The merge base commit for this comparison is abc. Run \
                      `git diff abc` to inspect the changes relative to main. Provide prioritized, actionable findings.";
        let commit = "Review the code changes introduced by commit abcdef0123 (\"Fix it\"). Provide prioritized, actionable findings.";
        for (hint, prompt, expected) in [
            (CHANGES.0, CHANGES.1, true),
            (CHANGES.0, "current changes?", false),
            (CHANGES.0, "Review the current code changes", false),
            ("changes against 'main'", branch, true),
            ("changes against 'dev'", branch, false),
            ("changes against 'main'", "Review the code changes against the base branch 'main'.", false),
            ("commit abcdef0: Fix it", commit, true),
            ("commit abcdef0", commit, true),
            ("commit fff", commit, false),
            (
                "commit HEAD",
                "Review the code changes introduced by commit HEAD. Provide prioritized, actionable findings.",
                true,
            ),
            ("commit messages are to be looked at", "commit messages are to be looked at", true),
            ("Look at the security", "Look at the security\n", true),
            ("Look at the security", "Look at it", false),
            ("", "", false),
        ] {
            assert_eq!(is_for_reviewer(hint, prompt), expected, "{hint}: {prompt}");
        }
    }
}
