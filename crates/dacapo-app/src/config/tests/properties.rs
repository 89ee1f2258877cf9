//! What holds for all inputs: precedence, and that nothing panics.

use proptest::prelude::*;

use super::Case;
use crate::config::*;
use crate::error::Failure;
use crate::messages::Messages;

/// Settings of each type and three values for each, as TOML.
const SAMPLES: [(&str, [&str; 3]); 6] = [
    ("main_branch", ["\"a\"", "\"b\"", "\"c d\""]),
    ("spawn_task.max_concurrent", ["1", "2", "1000"]),
    ("checks", ["[]", "[\"a\"]", "[\"a\", \"b\"]"]),
    ("agents.x.session", ["\"fresh\"", "\"resume\"", "\"fresh\""]),
    ("prices.m.cached", ["0.5", "1.5", "2.0"]),
    ("notify.desktop", ["true", "false", "true"]),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever subset of the layers sets a key, the highest one wins, and its origin says so.
    #[test]
    fn the_highest_layer_wins(choices in prop::collection::vec(prop::collection::vec(prop::option::of(0_usize..3), 4), SAMPLES.len())) {
        let mut layers = [String::new(), String::new()];
        let mut env = Vec::new();
        let mut flags = Vec::new();
        layers[0].push_str("prices.m.input = 1.0\nprices.m.output = 1.0\n");
        for ((path, values), choice) in SAMPLES.iter().zip(&choices) {
            for (layer, text) in layers.iter_mut().enumerate() {
                if let Some(index) = choice[layer] {
                    text.push_str(&format!("{path} = {}\n", values[index]));
                }
            }
            let name = format!("DACAPO_{}", path.to_uppercase().replace('.', "_"));
            env.extend(choice[2].map(|index| (name, values[index].trim_matches('"').to_owned())));
            flags.extend(choice[3].map(|index| (*path, values[index])));
        }
        let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let case = Case::new(&layers[0], &layers[1], &env);
        let mut read = Layers::read(&case.sources).unwrap();
        for (path, value) in flags {
            read.set_flag("--f", path, value.parse::<toml::Value>().unwrap()).unwrap();
        }
        let loaded = read.load().unwrap().as_written().clone();
        let tree = layers::tree(&loaded.config);
        for ((path, values), choice) in SAMPLES.iter().zip(&choices) {
            let winner = (0..4).rev().find(|layer| choice[*layer].is_some());
            let origin = match loaded.origin(path) {
                Origin::Default => None,
                Origin::User { .. } => Some(0),
                Origin::Project { .. } => Some(1),
                Origin::Env { .. } => Some(2),
                Origin::Flag { .. } => Some(3),
            };
            prop_assert_eq!(origin, winner, "{}", path);
            if let Some(index) = winner.and_then(|layer| choice[layer]) {
                let found = layers::lookup(&tree, &path::KeyPath::parse(path).unwrap());
                prop_assert_eq!(found, Some(&values[index].parse::<toml::Value>().unwrap()));
            }
        }
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let case = Case::new(&bytes, b"", &[]);
        let _ = load(&case.sources).map(|loaded| render(&loaded, Messages::ENGLISH)).map_err(|error| Failure::from(error).to_string());
    }

    /// Bytes seldom are TOML; this nearly always is, and says wild things about real keys.
    #[test]
    fn no_toml_panics(
        key in "(agent|checks|agents(\\.x|\\.\"\\PC{0,3}\")?(\\.(env|session|max_iterations|script))?|prices\\.m\\.input|notify|\\PC{0,8})",
        value in "(-?[0-9]{1,40}|0x[0-9a-f]{1,40}|\"\\PC{0,5}\"|\\[1, 'a'\\]|nan|-?inf|1e999|true|\\{a = [0-9]\\}|1979-05-27|\\PC{0,8})",
        name in "DACAPO_[A-Z_]{0,20}",
    ) {
        let case = Case::new(format!("{key} = {value}\n"), format!("[{key}]\n"), &[(&name, &value)]);
        match load(&case.sources) {
            Ok(loaded) => {
                let again = Case::user(&render(&loaded, Messages::ENGLISH)).load();
                prop_assert_eq!(layers::paths(&again.config), layers::paths(&loaded.config));
            }
            Err(error) => prop_assert!(!error.problems.is_empty()),
        }
    }

    #[test]
    fn any_environment_is_read(name in "DACAPO_(AGENTS|PRICES|SPAWN_TASK|[A-Z]{0,5})_[A-Z0-9_]{0,30}", value in "\\PC{0,20}") {
        let _ = load(&Case::env(&[(&name, &value)]).sources);
    }
}
