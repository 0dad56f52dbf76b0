"""Settings: the only reader of the environment and of `.env`.

Owns names, defaults and their validation. Configuration files belong to their rooms.
"""

from collections.abc import Mapping
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

import platformdirs
from dotenv import dotenv_values
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, SecretStr, ValidationError

from steward.contract.errors import ConfigError
from steward.contract.places import Places


def _variable(name: str, default: Any, *, description: str, **limits: Any) -> Any:
    return Field(default=default, validation_alias=AliasChoices(name), description=description, **limits)


DOTENV = ".env"  # in the folder that Steward is started in


class Settings(BaseModel):
    """Values by the names of their variables; `load_settings` reads them."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    home: Path = _variable(
        "STEWARD_HOME",
        Path(platformdirs.user_data_dir("steward", appauthor=False)),
        description="Folder with mcp.json, policy.toml, tools, skills, logs and the embedded database.",
    )
    database_url: SecretStr | None = _variable(
        "DATABASE_URL", None, description="A PostgreSQL 15+ with pgvector. Unset: the embedded one."
    )
    direct_url: SecretStr | None = _variable(
        "STEWARD_DIRECT_URL",
        None,
        description="The same PostgreSQL past a pooler (pgbouncer), for what must be heard at once. Unset: "
        "behind a pooler changes are looked for every second.",
    )
    api_key: SecretStr | None = _variable(
        "STEWARD_API_KEY",
        None,
        description="An admin key for the HTTP API; more are made with `steward keys add`.",
    )
    cors_origins: str = _variable(
        "STEWARD_CORS_ORIGINS",
        "",
        description="Web pages of other sites that may use the HTTP API with a key, such as "
        "https://desk.example.org, separated by commas. Unset: none.",
    )
    rate_limit: int = _variable(
        "STEWARD_RATE_LIMIT",
        6_000,
        description="Requests a minute and caller, to the HTTP API and the gateway each. 0: no limit.",
        ge=0,
    )
    model: str | None = _variable(
        "STEWARD_MODEL",
        None,
        description="planner, azure:NAME, ollama:NAME, openai:NAME or any Pydantic AI model; a comma makes a "
        "fallback chain. Unset: Azure if its variables are set, else the planner.",
    )
    debug: bool = _variable("STEWARD_DEBUG", False, description="Log more, and to the terminal as well.")
    timeout: float = _variable(
        "STEWARD_TIMEOUT",
        30.0,
        description="Seconds a tool call may take unless its tool says otherwise.",
        gt=0,
    )
    allowed_roots: str = _variable(
        "STEWARD_ALLOWED_ROOTS",
        "",
        description="Folders, separated like PATH, that may be read and ingested; STEWARD_HOME never is. "
        "Unset: the current folder, unless that is / or holds your home folder; then none.",
    )
    obsidian_vault: Path | None = _variable(
        "STEWARD_OBSIDIAN_VAULT", None, description="The vault that `log_to_obsidian` writes daily notes to."
    )
    bin_days: int | None = _variable(
        "STEWARD_BIN_DAYS",
        None,
        description="Days for which `steward undo` brings a deleted task back. Unset: deletion is final.",
        ge=1,
        le=3_650,
    )
    notify_webhook: SecretStr | None = _variable(
        "STEWARD_NOTIFY_WEBHOOK",
        None,
        description="Address that is told about each call that waits for approval, and your reminders and "
        "schedules.",
    )
    page_url: str | None = _variable(
        "STEWARD_PAGE_URL",
        None,
        description="Address under which your phone reaches the page, such as https://steward.example.org. "
        "A notification of a waiting call links to it there; the yes needs a signed-in browser.",
    )
    notify_desktop: bool = _variable(
        "STEWARD_NOTIFY_DESKTOP",
        False,
        description="Show a desktop notification for each waiting call, reminder and schedule.",
    )
    notify_ntfy: SecretStr | None = _variable(
        "STEWARD_NOTIFY_NTFY",
        None,
        description="Topic of an ntfy server that gets your reminders and each waiting call, such as "
        "https://ntfy.sh/my-topic; https://:TOKEN@… where it asks for one.",
    )
    notify_email: str | None = _variable(
        "STEWARD_NOTIFY_EMAIL",
        None,
        description="E-mail address that gets your reminders; needs an SMTP server.",
    )
    smtp_url: SecretStr | None = _variable(
        "STEWARD_SMTP_URL",
        None,
        description="The server that takes e-mail: smtp://USER:PASSWORD@HOST:587 or smtps://….",
    )
    smtp_from: str | None = _variable(
        "STEWARD_SMTP_FROM",
        None,
        description="The sender of e-mail. Unset: steward at the receiver's domain.",
    )
    azure_endpoint: str | None = _variable(
        "AZURE_AI_FOUNDRY_ENDPOINT", None, description="Azure AI Foundry endpoint."
    )
    azure_api_key: SecretStr | None = _variable(
        "AZURE_AI_FOUNDRY_API_KEY", None, description="Azure AI Foundry key."
    )
    azure_deployment: str = _variable(
        "AZURE_DEPLOYMENT_NAME", "deepseek-v3", description="Azure AI Foundry deployment."
    )
    openai_api_key: SecretStr | None = _variable(
        "OPENAI_API_KEY", None, description="Key for openai:NAME models."
    )
    openai_base_url: str | None = _variable(
        "OPENAI_BASE_URL", None, description="A server that speaks OpenAI's protocol, for openai:NAME models."
    )
    ollama_base_url: str | None = _variable(
        "OLLAMA_BASE_URL", None, description="Where Ollama listens. Unset: http://localhost:11434/v1."
    )
    embedder: str | None = _variable(
        "STEWARD_EMBEDDER",
        None,
        description="Which model reads documents for search: openai:NAME or ollama:NAME, over their "
        "/embeddings. Unset: the built-in one. A change makes all vectors again.",
    )
    model_timeout: float = _variable(
        "STEWARD_MODEL_TIMEOUT", 60.0, description="Seconds a model may take for one answer.", gt=0
    )
    run_steps: int = _variable(
        "STEWARD_RUN_STEPS", 25, description="Answers of a model that one request may take.", ge=1
    )
    run_seconds: float = _variable(
        "STEWARD_RUN_SECONDS", 300.0, description="Seconds that one request may take.", gt=0
    )
    run_cost: Decimal | None = _variable(
        "STEWARD_RUN_COST",
        None,
        description="US dollars that one request may cost, where a price is known. Unset: no limit.",
        gt=0,
    )
    websearch_engine: str = _variable(
        "WEBSEARCH_ENGINE",
        "duckduckgo",
        description="google, duckduckgo or bing, or the address of a SearXNG search page of your own.",
        pattern=r"^(google|duckduckgo|bing|https?://\S+)$",
    )
    websearch_max_results: int = _variable(
        "WEBSEARCH_MAX_RESULTS", 10, description="Results a search returns at most.", ge=1, le=100
    )
    websearch_timeout: float = _variable(
        "WEBSEARCH_TIMEOUT", 30.0, description="Seconds a web search may take.", gt=0
    )
    fetch_hosts: str = _variable(
        "STEWARD_FETCH_HOSTS",
        "",
        description="Private hosts, separated by commas, that pages may be read from: wiki.home, "
        "127.0.0.1:8080. Unset: the public web only.",
    )
    research_fresh_days: float = _variable(
        "STEWARD_RESEARCH_FRESH_DAYS",
        7.0,
        description="Days for which the researcher answers from what it found before.",
        ge=0,
    )
    otlp_endpoint: str | None = _variable(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "http://localhost:4317",
        description="Where spans go, over OTLP gRPC. 'none' switches export off.",
    )
    service_name: str = _variable(
        "OTEL_SERVICE_NAME", "paias-agent-layer", description="The service name that traces carry."
    )

    trace_viewer: str | None = _variable(
        "STEWARD_TRACE_VIEWER",
        None,
        description="Address of a Jaeger whose pages the web page links to, as http://localhost:16686.",
        pattern=r"^https?://\S+$",
    )
    samples: bool = _variable(
        "STEWARD_SAMPLES",
        True,
        description="Whether `steward up --samples` (as `make run` does) fills a new home with samples.",
    )

    open_page: bool = _variable(
        "STEWARD_OPEN_PAGE",
        True,
        description="Whether `steward up` opens the page, signed in, where terminal and browser are there.",
    )

    daemon: bool = _variable(
        "STEWARD_DAEMON",
        True,
        description="Whether a command starts Steward in the background where none runs, so that the next "
        "one answers at once; it ends after 15 idle minutes, or with `steward down`. 'off': each command "
        "works in its own process.",
    )

    @cached_property
    def roots(self) -> tuple[Path, ...]:
        """Folders that may be read. Nobody means a whole disk or account by starting Steward there."""
        import os  # noqa: PLC0415 - the separator only; the environment is read above

        parts = [part for part in self.allowed_roots.split(os.pathsep) if part.strip()]
        if parts:
            return tuple(Path(part).expanduser() for part in parts)
        here = Path.cwd().resolve()
        return () if Path.home().resolve().is_relative_to(here) else (here,)

    @cached_property
    def places(self) -> Places:
        """The roots without Steward's own home."""
        return Places.of(self.roots, closed=(self.home,))

    @cached_property
    def ingestible(self) -> Places:
        """The same with the files that were uploaded, which lie in the home."""
        return Places.of(self.roots, closed=(self.home,), opened=(self.uploads_folder,))

    @property
    def fetchable_hosts(self) -> frozenset[str]:
        return frozenset(part.strip().lower() for part in self.fetch_hosts.split(",") if part.strip())

    @property
    def origins(self) -> frozenset[str]:
        """Pages that may use the API, as browsers name them."""
        parts = (part.strip().rstrip("/").lower() for part in self.cors_origins.split(","))
        return frozenset(part for part in parts if part)

    @property
    def otlp_address(self) -> str | None:
        """Where telemetry is sent; None when it stays at home."""
        endpoint = (self.otlp_endpoint or "").strip()
        return None if endpoint.lower() in ("", "none") else endpoint

    @property
    def mcp_file(self) -> Path:
        return self.home / "mcp.json"

    @property
    def policy_file(self) -> Path:
        return self.home / "policy.toml"

    @property
    def tools_folder(self) -> Path:
        return self.home / "tools"

    @property
    def tools_file(self) -> Path:
        return self.tools_folder / "tools.json"

    @property
    def skills_folder(self) -> Path:
        return self.home / "skills"

    @property
    def logs_folder(self) -> Path:
        return self.home / "logs"

    @property
    def uploads_folder(self) -> Path:
        return self.home / "uploads"

    @property
    def database_folder(self) -> Path:
        return self.home / "database"

    def revealed(self) -> dict[str, str]:
        """Every value in the open, to tell whether two programs were given the same. Never to be shown."""
        held = {name: getattr(self, name) for name in type(self).model_fields}
        return {
            name: value.get_secret_value() if isinstance(value, SecretStr) else str(value)
            for name, value in held.items()
        }

    def secrets(self) -> tuple[str, ...]:
        """Values that must never be seen in a log or a span."""
        held = (
            self.database_url,
            self.direct_url,
            self.api_key,
            self.azure_api_key,
            self.openai_api_key,
            self.notify_webhook,
            self.notify_ntfy,
            self.smtp_url,
        )
        return tuple(secret.get_secret_value() for secret in held if secret is not None)


def environment() -> dict[str, str]:
    """What programs that Steward starts would inherit."""
    import os  # noqa: PLC0415 - see above

    return dict(os.environ)


def variables() -> Mapping[str, str]:
    """Every variable, those of `.env` included, for `${NAME}` in configuration files."""
    return {**_written(), **environment()}


def _written() -> Mapping[str, str]:
    return {name: value for name, value in dotenv_values(DOTENV).items() if value is not None}


def _names() -> frozenset[str]:
    return frozenset(
        str(field.validation_alias.choices[0])
        for field in Settings.model_fields.values()
        if isinstance(field.validation_alias, AliasChoices)
    )


def blank_environment() -> dict[str, str]:
    """The environment without what Steward reads: a program started in it has the defaults."""
    ours = _names()
    return {name: value for name, value in environment().items() if name.upper() not in ours}


def load_settings(**overrides: Any) -> Settings:
    """Read the environment once. A value that cannot be used is named, with the variable it came from.

    A variable outweighs `.env`; one that is set to nothing counts as not set.
    """
    ours = _names()
    given = {
        name.upper(): value
        for source in (_written(), environment())
        for name, value in source.items()
        if value and name.upper() in ours
    }
    try:
        return Settings.model_validate(given | overrides)
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors())
        raise ConfigError(f"A setting cannot be used. {problems}.", fix="See .env.example.") from None
