"""Training: one family of encoders per cutoff year, from dated tables to model folders."""

from warehouse.threads import sleep_when_idle

sleep_when_idle()
