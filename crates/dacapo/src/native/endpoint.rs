//! Where model calls go and with what key.

use reqwest::Url;

use super::failure::Problem;
use super::options::Options;
use crate::config::Api;

/// The version of the Messages API that is spoken; the library would send the same, were the address its own.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// An address that calls can be sent to.
#[derive(Debug)]
pub(super) struct Endpoint {
    pub(super) api: Api,
    /// The whole address of a call.
    pub(super) url: Url,
    pub(super) headers: Vec<(String, String)>,
    /// The variable that the key comes from.
    pub(super) key_env: Option<String>,
    /// Never shown.
    key: Option<String>,
}

impl Endpoint {
    /// By the options; `variable` reads the environment.
    pub(super) fn new(
        options: &Options,
        variable: impl FnOnce(&str) -> Option<String>,
    ) -> Result<Self, Problem> {
        let (default_url, default_key) = match options.api {
            Api::Openai => ("https://api.openai.com/v1", "OPENAI_API_KEY"),
            Api::Anthropic => ("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
        };
        let base = options.base_url.as_deref().unwrap_or(default_url);
        let url = address(options.api, base).map_err(Problem::Permanent)?;
        // An address of the user's own does not get the key of another house by itself.
        let usual = options.base_url.is_none().then(|| default_key.to_owned());
        let key_env = options.key_env.clone().or(usual);
        let mut endpoint = Endpoint { api: options.api, url, headers: Vec::new(), key_env, key: None };
        if let Some(name) = &endpoint.key_env {
            let key = variable(name).map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
            let Some(key) = key else {
                return Err(Problem::Permanent(format!(
                    "no key for {}: {name} is not set; {}",
                    endpoint.shown(),
                    endpoint.how_to_log_in()
                )));
            };
            if !key.bytes().all(|b| b.is_ascii_graphic()) {
                return Err(Problem::Permanent(format!("{name} does not hold a key: it has odd characters")));
            }
            endpoint.key = Some(key);
        }
        endpoint.headers = endpoint.headers();
        Ok(endpoint)
    }

    fn headers(&self) -> Vec<(String, String)> {
        let mut headers = Vec::new();
        match (self.api, &self.key) {
            (Api::Openai, Some(key)) => headers.push(("authorization".into(), format!("Bearer {key}"))),
            (Api::Anthropic, Some(key)) => headers.push(("x-api-key".into(), key.clone())),
            (_, None) => {}
        }
        if self.api == Api::Anthropic {
            headers.push(("anthropic-version".into(), ANTHROPIC_VERSION.into()));
        }
        headers
    }

    /// The address without what may be secret in it.
    pub(super) fn shown(&self) -> String {
        let port = self.url.port().map(|port| format!(":{port}")).unwrap_or_default();
        format!(
            "{}://{}{port}{}",
            self.url.scheme(),
            self.url.host_str().unwrap_or_default(),
            self.url.path()
        )
    }

    /// What to do about a key that was not taken, as the end of a sentence.
    pub(super) fn refused(&self) -> String {
        match &self.key_env {
            Some(name) => {
                format!("the key in {name} was refused: see that it is right and may use this model")
            }
            None => self.how_to_log_in(),
        }
    }

    /// As the end of a sentence.
    pub(super) fn how_to_log_in(&self) -> String {
        match &self.key_env {
            Some(name) => format!(
                "put the key into {name} (export {name}=…), or name another variable as key_env in [agents.native]"
            ),
            None => "name the variable that holds its key as key_env in [agents.native]".into(),
        }
    }

    /// `text` without the key, should the endpoint repeat it.
    pub(super) fn masked(&self, text: &str) -> String {
        match &self.key {
            Some(key) => text.replace(key.as_str(), "****"),
            None => text.to_owned(),
        }
    }
}

/// The address of a call from what people write: with or without a slash at the end, the version, the call itself.
fn address(api: Api, base: &str) -> Result<Url, String> {
    let wrong = |why: &str| format!("base_url is no address of a model endpoint: {why}");
    let mut url = Url::parse(base).map_err(|error| wrong(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err(wrong("it begins with http:// or https:// and a host"));
    }
    url.set_fragment(None);
    let path = url.path().trim_end_matches('/').to_owned();
    let path = match api {
        Api::Openai if path.ends_with("/chat/completions") => path,
        Api::Openai if path.is_empty() => "/v1/chat/completions".into(),
        Api::Openai => format!("{path}/chat/completions"),
        Api::Anthropic if path.ends_with("/messages") => path,
        Api::Anthropic if path.ends_with("/v1") => format!("{path}/messages"),
        Api::Anthropic => format!("{path}/v1/messages"),
    };
    url.set_path(&path);
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::super::options::parse;
    use super::*;

    fn endpoint(line: &str, key: Option<&str>) -> Result<Endpoint, Problem> {
        let args: Vec<_> = line.split_whitespace().map(Into::into).collect();
        Endpoint::new(&parse(&args).unwrap(), |_| key.map(str::to_owned))
    }

    #[test]
    fn a6_an_address_is_taken_as_people_write_it() {
        for (api, base, expected) in [
            (Api::Openai, "http://localhost:11434", "http://localhost:11434/v1/chat/completions"),
            (Api::Openai, "http://localhost:11434/v1/", "http://localhost:11434/v1/chat/completions"),
            (Api::Openai, "https://h/api/paas/v4", "https://h/api/paas/v4/chat/completions"),
            (Api::Openai, "https://h/d/x?api-version=1", "https://h/d/x/chat/completions?api-version=1"),
            (Api::Openai, "https://h/v1/chat/completions", "https://h/v1/chat/completions"),
            (Api::Anthropic, "https://api.anthropic.com", "https://api.anthropic.com/v1/messages"),
            (Api::Anthropic, "https://h/anthropic/v1/", "https://h/anthropic/v1/messages"),
            (Api::Anthropic, "https://h/anthropic", "https://h/anthropic/v1/messages"),
        ] {
            assert_eq!(address(api, base).unwrap().as_str(), expected, "{base}");
        }
        for base in ["", "localhost:1", "ftp://h/", "file:///etc/passwd", "http://"] {
            assert!(address(Api::Openai, base).unwrap_err().contains("base_url"), "{base}");
        }
    }

    #[test]
    fn a6_a_key_goes_only_where_it_belongs() {
        let local = endpoint("--api openai --model m --base-url http://localhost:1", Some("secret")).unwrap();
        assert_eq!(local.headers, []);
        let own = endpoint("--api anthropic --model m", Some(" secret\n")).unwrap();
        assert_eq!(own.headers[0], ("x-api-key".into(), "secret".into()));
        assert_eq!(own.masked("bad key secret"), "bad key ****");
        let shown =
            endpoint("--api openai --model m --base-url http://u:p@h:1/v1?k=s", None).unwrap().shown();
        assert_eq!(shown, "http://h:1/v1/chat/completions");
    }

    #[test]
    fn a6_a_missing_key_is_named_by_its_variable() {
        for key in [None, Some(""), Some("  ")] {
            let error = endpoint("--api openai --model m --key-env MY_KEY", key).unwrap_err();
            let Problem::Permanent(message) = error else { panic!("{error:?}") };
            assert!(message.contains("MY_KEY is not set") && message.contains("export MY_KEY"), "{message}");
        }
        let error = endpoint("--api openai --model m --key-env MY_KEY", Some("a\u{7}b")).unwrap_err();
        let Problem::Permanent(message) = error else { panic!("{error:?}") };
        assert!(!message.contains("a\u{7}b"), "{message}");
    }
}
