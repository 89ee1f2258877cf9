//! Scripts that come with Dacapo: one to learn from, one to watch.

/// A script that shows every step, for the documentation. It is not meant to be played whole.
pub const EXAMPLE: &str = include_str!("example.yaml");

/// The script of `dacapo demo`: a false "done" that a check catches, a hiccup, then the real fix.
pub const DEMO: &str = include_str!("demo.yaml");

/// The scratch project of `dacapo demo`: a script with bugs and a check that is red.
pub fn demo_files() -> &'static [(&'static str, &'static str)] {
    &[
        ("greet.sh", include_str!("demo/greet.sh")),
        ("test.sh", include_str!("demo/test.sh")),
        ("README.md", include_str!("demo/README.md")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use dacapo_app::rehearsal::Step;
    use dacapo_app::rehearsal::parse;
    use std::path::Path;
    use std::time::Duration;

    #[test]
    fn the_example_is_valid_and_shows_every_step() {
        parse(Path::new("example.yaml"), EXAMPLE.as_bytes()).unwrap();
        let schema = super::super::schema().to_value();
        let steps = schema["$defs"]["Step"]["oneOf"].as_array().unwrap();
        assert!(steps.len() > 30);
        for step in steps {
            let name = step["required"][0].as_str().unwrap();
            assert!(EXAMPLE.contains(&format!("- {name}:")), "{name}");
        }
    }

    #[test]
    fn the_demo_is_short_and_costs_something() {
        let script = parse(Path::new("demo.yaml"), DEMO.as_bytes()).unwrap();
        assert_eq!(script.iterations.len(), 3);
        let steps = || script.iterations.iter().flatten();
        let sleeps: Duration = steps()
            .filter_map(|step| match step {
                Step::Sleep(time) => Some(time.0),
                _ => None,
            })
            .sum();
        assert!(sleeps <= Duration::from_secs(3), "{sleeps:?}");
        assert!(steps().any(|step| matches!(step, Step::Lie(_))));
        for iteration in &script.iterations {
            assert!(iteration.iter().any(|step| matches!(step, Step::Usage(_))));
        }
    }
}
