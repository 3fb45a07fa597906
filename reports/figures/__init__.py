"""The figures: data in, a matplotlib figure out; ``reports.style.save_figure`` makes files of it."""
