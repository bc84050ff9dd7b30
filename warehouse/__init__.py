"""The lake: raw bulk files to dated tables, and the one reader of them."""
