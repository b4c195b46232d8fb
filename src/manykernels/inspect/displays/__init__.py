"""Pictures in scikit-learn's style: `…Display.from_estimator(...)` draws and returns the display, with `ax_`."""
