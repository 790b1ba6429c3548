//! The folder that a shared process is started in.

use std::path::Path;

use mcparley_platform::process::ProgramLaunch;

use super::place::PROJECT_FOLDER;

/// Variables that name the folder of a client.
const FOLDER_VARIABLES: [&str; 3] = [PROJECT_FOLDER, "PWD", "OLDPWD"];

/// The folder that a shared process is started in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartFolder {
    /// The folder of the client: all users of the process have the same one.
    Client,
    /// The absolute `cwd` of the entry, without variables that name the folder of one of the users.
    Entry,
    /// An empty private folder, without such variables: a server that uses its folder after all fails visibly
    /// instead of reading the project of another client.
    Empty,
}

impl StartFolder {
    /// Adapts the launch parameters that one client would use to a process for all its users. `empty` is the
    /// path of a folder without content.
    pub fn adapt_launch(self, launch: &mut ProgramLaunch, empty: &Path) {
        match self {
            Self::Client => return,
            Self::Entry => {}
            Self::Empty => launch.cwd = Some(empty.to_owned()),
        }
        launch.env.retain(|(name, _)| !FOLDER_VARIABLES.iter().any(|variable| name == variable));
    }
}

#[cfg(test)]
mod tests {
    //! Launch parameters of shared processes.
    use std::path::PathBuf;

    use super::*;

    fn client_launch() -> ProgramLaunch {
        let env = [("HOME", "/h"), ("PWD", "/p/sub"), ("CLAUDE_PROJECT_DIR", "/p"), ("OLDPWD", "/q")];
        ProgramLaunch {
            program: "server".into(),
            args: vec!["x".into()],
            env: env.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
            cwd: Some(PathBuf::from("/srv")),
        }
    }

    // G8
    #[test]
    fn process_for_clients_in_several_folders_knows_none_of_them() {
        let cases = [
            (StartFolder::Client, "/srv", 4),
            (StartFolder::Entry, "/srv", 1),
            (StartFolder::Empty, "/e", 1),
        ];
        for (folder, cwd, variables) in cases {
            let mut adapted = client_launch();
            folder.adapt_launch(&mut adapted, Path::new("/e"));
            assert_eq!(adapted.cwd.as_deref(), Some(Path::new(cwd)), "{folder:?}");
            assert_eq!(adapted.env.len(), variables, "{folder:?}");
            assert_eq!(adapted.args, client_launch().args);
        }
    }
}
