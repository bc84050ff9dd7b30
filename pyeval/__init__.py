"""Evaluation: any encoder, scored on the tasks of the lake."""

from warehouse.threads import sleep_when_idle

sleep_when_idle()
