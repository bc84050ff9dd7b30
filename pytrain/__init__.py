"""Training: one family of encoders per cutoff year, from dated tables to model folders."""

import os

# An idle thread of the math library sleeps after some 50 microseconds instead of 15 ms: on two
# cores that others use too, the spinning cost a training four fifths of its speed. It is read
# when torch loads, so it stands here.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")
