"""`make quick` has a test of every package."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.each import looped
from tests.repository.quick import FILES
from tests.test_layers import MODULES, PACKAGE, ROOT, file_of, imports, own_imports


def test_every_package_is_there_and_no_other() -> None:
    packages = {path.parent.relative_to(PACKAGE).as_posix().removeprefix(".")
                for path in MODULES if path.stem != "__init__"}
    assert set(FILES) == packages
    assert len(set(FILES.values())) == len(FILES)


def test_a_folder_of_tests_is_one_of_the_package_or_in_the_table() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text()
    for path in (ROOT / "tests").rglob("__init__.py"):
        folder = path.parent.relative_to(ROOT / "tests").as_posix()
        assert (PACKAGE / folder).is_dir() or f"| `{folder}/` |" in page, folder


@looped("package", FILES)
def test_the_file_of_a_package_is_about_it(package: str) -> None:
    """It imports a module of the package, or one that does."""
    own = {file_of(module) for module, _ in imports(ROOT / FILES[package])} - {None}
    further = {file for path in own for file, _ in own_imports(Path(str(path)))}
    assert PACKAGE / package in {path.parent for path in own | further}
