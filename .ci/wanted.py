"""Print what to install: `oldest`, the lower bounds of pyproject.toml as exact versions, or what an extra names."""

import re
import sys
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
extras = project["optional-dependencies"]
if sys.argv[1] == "oldest":
    for wanted in (*project["dependencies"], *extras["clustering"], *extras["optimal"], *extras["postgres"]):
        name, version = re.match(r"([A-Za-z0-9_-]+(?:\[\w+\])?)>=([0-9.]+)", wanted).groups()
        print(f"{name}=={version}.0" if version.count(".") == 1 else f"{name}=={version}")
else:
    print(*extras[sys.argv[1]], sep="\n")
