"""OpenSpiel's gin bot, for `ginsim tournament experiments/bots/openspiel.py:bot simple`."""

from ginsim.openspiel import simple_bot

bot = simple_bot()
