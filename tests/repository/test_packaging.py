"""What is built and declared: a source distribution that tests itself, versions that are true."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_string
from importlib.metadata import version
from pathlib import Path

import pytest

import portpart

ROOT = Path(__file__).resolve().parents[2]
HOME = "https://github.com/portpart/portpart"
RAW = "https://raw.githubusercontent.com/portpart/portpart"
BUILD = "import sys; from setuptools import build_meta; build_meta.build_{kind}(sys.argv[1])"


def declared() -> dict[str, str]:
    """The least version of each package that pyproject.toml asks for."""
    return dict(re.findall(r'^ *"([\w-]+)>=([\w.]+)["; ]', (ROOT / "pyproject.toml").read_text(),
                           re.MULTILINE))


def oldest() -> dict[str, str]:
    """The versions with which ``make test-oldest`` runs."""
    text = (ROOT / "tests" / "oldest.txt").read_text()
    return dict(re.findall(r"^([\w-]+)==([\w.]+)$", text, re.MULTILINE))


def padded(number: str) -> list[int]:
    return [int(part) for part in [*number.split("."), "0", "0"][:3]]


def test_the_declared_versions_are_those_that_are_oldest() -> None:
    needed = {"numpy", "scipy", "numba", "llvmlite", "pymetis", "click", "lazy-loader", "rich"}
    assert needed < set(oldest()) < set(declared())
    assert {name: padded(number) for name, number in oldest().items()} == {
        name: padded(declared()[name]) for name in oldest()}


def tracked() -> set[str]:
    """Files of the repository."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("not a checkout of the repository")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    return {name for name in listed.stdout.decode().split("\0") if (ROOT / name).is_file()}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository's files, in which can be built."""
    if padded(version("setuptools")) < padded(declared()["setuptools"]):
        pytest.skip(f"setuptools {version('setuptools')} is older than what builds portpart")
    folder = tmp_path_factory.mktemp("checkout")
    for name in tracked():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


def build(kind: str, folder: Path, output: Path) -> Path:
    """Build without a network what pip would, and without a warning; returns the one file."""
    environment = {**os.environ, "PYTHONPATH": ""}
    done = subprocess.run([sys.executable, "-W", "default", "-c", BUILD.format(kind=kind), output],
                          cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "SetuptoolsDeprecationWarning" not in done.stdout + done.stderr
    (file,) = output.iterdir()
    return file


def test_the_source_distribution_is_the_repository_and_tests_itself(
    checkout: Path, tmp_path: Path
) -> None:
    with tarfile.open(build("sdist", checkout, tmp_path / "built")) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()
                 if archive.getmember(name).isfile()}
        archive.extractall(tmp_path)
    made = {"PKG-INFO", "setup.cfg"}
    assert {name for name in names - made if "egg-info" not in name} == tracked()
    (folder,) = tmp_path.glob("portpart-*")
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "--assert=plain", "-m", "not gpu",
                           "tests/repository/test_sizes.py", "tests/inputs/test_graph.py",
                           "-k", "not functions_are_short"],
                          cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]


def test_the_wheel_holds_the_package_and_its_licence(checkout: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(build("wheel", checkout, tmp_path / "built")) as archive:
        names = set(archive.namelist())
        (about,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        metadata = archive.read(about).decode()
    package = {name for name in tracked() if name.startswith("portpart/")}
    assert {name for name in names if ".dist-info/" not in name} == package
    assert "\nLicense-Expression: MIT\n" in metadata
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    assert f"\nProject-URL: Source, {HOME}\n" in metadata
    assert "\nDescription-Content-Type: text/markdown\n" in metadata
    assert_the_page_of_the_package_index_shows_the_readme(metadata)


def assert_the_page_of_the_package_index_shows_the_readme(metadata: str) -> None:
    """There are no files beside that page: links are addresses, of the tag of this version."""
    readme = (ROOT / "README.md").read_text()
    page = message_from_string(metadata).get_payload()
    assert isinstance(page, str)
    links = r"(!?)\[[^\]]*\]\(([^)]+)\)"
    shown, written = re.findall(links, page), re.findall(links, readme)
    tag = f"v{portpart.__version__}"
    assert [picture for picture, _ in written].count("!") == 1
    assert len(written) > 20
    assert all((ROOT / path.partition("#")[0]).exists() for _, path in written)
    assert shown == [(picture, f"{RAW}/{tag}/{path}" if picture else f"{HOME}/blob/{tag}/{path}")
                     for picture, path in written]
    assert re.sub(links, "", page).strip() == re.sub(links, "", readme).strip()


def test_the_pythons_that_are_declared_are_those_that_the_workflow_tests() -> None:
    about = (ROOT / "pyproject.toml").read_text()
    declared = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', about)
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    tested = re.findall(r"python: (\[.*\])", workflow)
    assert declared == json.loads(tested[0])
    assert f'requires-python = ">={declared[0]}"' in about
    assert ".ci/run" in workflow


def test_who_cites_names_this_version_and_its_home() -> None:
    citation = dict(re.findall(r"^([\w-]+): (.+)$", (ROOT / "CITATION.cff").read_text(), re.M))
    assert citation["version"] == portpart.__version__
    assert citation["repository-code"] == citation["url"] == HOME
    assert citation["license"] == "MIT"
