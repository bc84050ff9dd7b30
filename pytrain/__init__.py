"""Training: one family of encoders per cutoff year, from dated tables to model folders."""
