"""The paper's theorems and algorithms made visible: an experiment, a page and a figure for each."""
