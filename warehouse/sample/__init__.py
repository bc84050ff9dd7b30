"""The generated sample: raw files in the publishers' own layouts, with planted structure."""
