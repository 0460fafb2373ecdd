"""The manifest says what the declarations say, so that nothing has to be imported to list it."""

import json
import os
from typing import Any

import pytest

from sqlmicro import api
from sqlmicro.attacks.registry import ATTACKS
from sqlmicro.audits.registry import AUDITS
from sqlmicro.options import manifest
from sqlmicro.options.limits import LIMITS
from sqlmicro.registry import METHODS
from sqlmicro.system.packages import any_plug_in


def declared() -> dict[str, Any]:
    """Return the manifest as the declarations make it."""
    kinds: dict[str, Any] = {found.kind: found.declared().values() for found in (LIMITS, METHODS, AUDITS, ATTACKS)}
    kinds["verb"] = [api.verbs()[name].declared for name in api.verbs() if name not in METHODS.all()]
    return {kind: [manifest.written(one) for one in listed] for kind, listed in kinds.items()}


@pytest.mark.skipif(any_plug_in(), reason="plug-ins are installed, and add to what the commands take")
def test_the_manifest_is_what_is_declared() -> None:
    made = json.dumps(declared(), indent=1, ensure_ascii=False) + "\n"
    if os.environ.get("SQLMICRO_GOLDEN") == "write":
        manifest.FILE.write_text(made, encoding="utf-8")
    elif manifest.FILE.read_text(encoding="utf-8") != made:
        pytest.fail("the manifest is old: SQLMICRO_GOLDEN=write pytest tests/test_manifest.py")
