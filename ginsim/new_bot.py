"""A starting file for a bot of one's own."""

import importlib.util
import keyword
from pathlib import Path

from ginsim.bots import built_in
from ginsim.errors import GinsimError
from ginsim.records import write_text

#: The file, of a bot called my_bot.
TEMPLATE = Path(__file__).with_suffix(".txt")
PLACEHOLDER = "my_bot"


def new_bot(name: str, *, overwrite: bool = False) -> Path:
    """Write ``NAME.py`` in this folder and return its path; raises GinsimError if it cannot."""
    if not name.isidentifier() or keyword.iskeyword(name):
        raise GinsimError(f"{name!r}: name the bot in letters, digits and _, like my_bot")
    if name in [bot.name for bot in built_in()]:
        raise GinsimError(f"{name!r}: is a built-in bot; choose another name")
    path = Path(f"{name}.py")
    if not path.exists() and importlib.util.find_spec(name) is not None:
        raise GinsimError(
            f"{name!r}: is a Python module, which the file would hide; choose another"
        )
    if path.exists() and not overwrite:
        raise GinsimError(f"{path}: exists already; add --overwrite to replace it")
    write_text(path, TEMPLATE.read_text(encoding="utf-8").replace(PLACEHOLDER, name))
    return path
