"""One short script a question; each writes a small summary to results/<name>/."""
