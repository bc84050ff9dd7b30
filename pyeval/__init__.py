"""Evaluation: any encoder, scored on the tasks of the lake."""
