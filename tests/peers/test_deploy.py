"""What deploy/ brings: the manifests by their schemas, the units by systemd, the topology by running it."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
MANIFESTS = sorted(path for path in (DEPLOY / "kubernetes").glob("*.yaml") if path.stem != "kustomization")
# The part of the compose specification that is used here; a word beyond it is a mistake or needs a line.
SERVICE = {
    "type": "object",
    "required": ["image", "restart"],
    "additionalProperties": False,
    "properties": {
        "image": {"type": "string"},
        "build": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"context": {"type": "string"}, "dockerfile": {"type": "string"}},
        },
        "restart": {"enum": ["no", "always", "on-failure", "unless-stopped"]},
        "command": {"type": "array", "items": {"type": "string"}},
        "environment": {"type": "object", "additionalProperties": {"type": "string"}},
        "depends_on": {
            "oneOf": [
                {"type": "array", "items": {"type": "string"}},
                {
                    "type": "object",
                    "additionalProperties": {
                        "type": "object",
                        "required": ["condition"],
                        "properties": {"condition": {"enum": ["service_started", "service_healthy"]}},
                    },
                },
            ]
        },
        "healthcheck": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "disable": {"type": "boolean"},
                "test": {"type": "array", "items": {"type": "string"}},
                "interval": {"type": "string"},
                "timeout": {"type": "string"},
                "retries": {"type": "integer"},
            },
        },
        "volumes": {"type": "array", "items": {"type": "string"}},
        "ports": {"type": "array", "items": {"type": "string"}},
        "cap_drop": {"type": "array", "items": {"type": "string"}},
        "security_opt": {"type": "array", "items": {"type": "string"}},
        "shm_size": {"type": "string"},
        "stop_grace_period": {"type": "string"},
    },
}
COMPOSE = {
    "type": "object",
    "required": ["services"],
    "additionalProperties": False,
    "patternProperties": {"^x-": {}},
    "properties": {
        "name": {"type": "string"},
        "services": {"type": "object", "additionalProperties": SERVICE},
        "volumes": {"type": "object", "additionalProperties": {"type": "object"}},
    },
}


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def test_the_compose_file_is_of_its_form(compose: dict[str, Any]) -> None:
    jsonschema_rs.validate(COMPOSE, compose)


def test_the_compose_file_names_only_what_it_has(compose: dict[str, Any]) -> None:
    services = compose["services"]
    needed = {name for service in services.values() for name in service.get("depends_on", ())}
    mounted = {
        volume.partition(":")[0] for service in services.values() for volume in service.get("volumes", ())
    }
    named = {name for name in mounted if not name.startswith(".")}
    files = [DEPLOY / name for name in mounted - named]
    assert needed <= services.keys()
    assert named == compose["volumes"].keys()
    assert all(file.is_file() for file in files)
    assert {"steward-1", "steward-2", "worker-1", "worker-2", "proxy", "database"} <= services.keys()


def test_the_image_runs_as_nobody_special_and_says_whether_it_is_well() -> None:
    words = [
        line.split()[0] for line in (DEPLOY / "Dockerfile").read_text().splitlines() if line[:1].isupper()
    ]
    after_user = words[words.index("USER") :]
    assert "HEALTHCHECK" in words
    assert "RUN" not in after_user


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda path: path.name)
def test_a_manifest_is_of_its_kind(manifest: Path) -> None:
    """Against Kubernetes' own schemas, strictly: a word that is not known fails."""
    validator = ROOT / ".peers" / "kubernetes" / "bin" / "kubernetes-validate"
    checked = subprocess.run([validator, "--strict", manifest], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_no_pod_runs_as_root_except_the_database() -> None:
    pods = {
        document["metadata"]["name"]: document["spec"]["template"]["spec"]
        for manifest in MANIFESTS
        for document in yaml.safe_load_all(manifest.read_text())
        if document["kind"] in ("StatefulSet", "Deployment")
    }
    rooted = [name for name, pod in pods.items() if not pod.get("securityContext", {}).get("runAsNonRoot")]
    assert rooted == ["database"]


def test_the_units_are_as_systemd_wants_them(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    assert analyze, "systemd-analyze is missing: install the package systemd"
    steward = shutil.which("steward", path=str(Path(sys.executable).parent))
    assert steward
    units: list[str] = []
    for unit in (DEPLOY / "systemd").iterdir():
        text = unit.read_text().replace("/opt/steward/bin/steward", steward)
        name = unit.name.replace("@.", "@1.")
        (tmp_path / name).write_text(text.replace("man:steward(1)", "https://example.org"))
        units.append(str(tmp_path / name))
    checked = subprocess.run([analyze, "verify", *units], capture_output=True, text=True, check=False)
    ours = [line for line in checked.stderr.splitlines() if "steward" in line]
    assert (checked.returncode, ours) == (0, []), json.dumps(ours)


@pytest.mark.timeout(900)
def test_the_topology_works_without_a_container_engine() -> None:
    tried = subprocess.run(
        [sys.executable, ROOT / "scripts" / "topology.py"], capture_output=True, text=True, check=False
    )
    assert tried.returncode == 0, tried.stdout + tried.stderr
