//! Arguments of `completions`.

use clap::{Args, ValueEnum};

/// What a shell needs to complete commands, tasks and agents.
#[derive(Debug, Args)]
#[command(after_help = "For bash, in ~/.bashrc:              source <(dacapo completions bash)
For zsh, in ~/.zshrc after compinit: source <(dacapo completions zsh)
For fish, in ~/.config/fish/config.fish: dacapo completions fish | source
For elvish, in rc.elv:               eval (dacapo completions elvish | slurp)
For PowerShell, in $PROFILE:         dacapo completions powershell | Out-String | Invoke-Expression")]
pub struct Completions {
    /// The shell
    pub shell: Shell,
}

/// A shell that can ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// GNU bash, 4.4 or later.
    Bash,
    /// Elvish.
    Elvish,
    /// fish.
    Fish,
    /// PowerShell.
    Powershell,
    /// zsh.
    Zsh,
}

impl Shell {
    /// All of them.
    pub const ALL: &[Self] = &[Self::Bash, Self::Elvish, Self::Fish, Self::Powershell, Self::Zsh];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Elvish => "elvish",
            Self::Fish => "fish",
            Self::Powershell => "powershell",
            Self::Zsh => "zsh",
        }
    }
}
