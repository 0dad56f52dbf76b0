"""docker-compose.yml: what the documentation says of it."""

from pathlib import Path

import yaml

from steward.settings import Settings

ROOT = Path(__file__).parents[2]


def test_jaeger_listens_where_traces_go_by_default_and_on_this_machine_only() -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
    assert set(services) == {"jaeger"}
    assert services["jaeger"]["ports"] == ["127.0.0.1:4317:4317", "127.0.0.1:16686:16686"]
    assert Settings.model_fields["otlp_endpoint"].default == "http://localhost:4317"
    assert "http://localhost:16686" in (ROOT / "README.md").read_text(encoding="utf-8")
