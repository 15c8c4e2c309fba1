"""``python -m ginsim``: the command, where no script folder is on the path."""

from ginsim.cli import main

main()
