"""Steps of a journey that fit many times: relevance, resamples, paths, scikit-learn's tools, a report."""

from .judge import Wrong, finite


class Longer:
    """Steps for `Journey`, which has the world, the plan, the model and its decisions."""

    def tools(self):
        """scikit-learn's searches, pipelines and calibration take the model."""
        from sklearn.calibration import CalibratedClassifierCV
        from sklearn.model_selection import GridSearchCV
        from sklearn.pipeline import make_pipeline

        if self.plan.y is None or self.plan.search or isinstance(self.world.X, dict):
            return
        model = GridSearchCV(self.clone(), {"C": [0.1, 1.0]}, cv=2, error_score="raise")
        if self.plan.task == "classes" and self.rng.random() < 0.4:
            model = CalibratedClassifierCV(self.clone(), cv=2)
        elif self.rng.random() < 0.3:
            model = make_pipeline("passthrough", self.clone())
        finite_or_label = model.fit(self.world.X, self.plan.y).predict(self.world.new)
        if len(finite_or_label) != len(self.decision):
            raise Wrong("a tool predicts another number of examples")

    def relevance(self):
        """What sources are worth: as many rows as sources, finite scores."""
        from manykernels.inspect import relevance

        if self.plan.y is not None:
            found = relevance(self.model, self.world.X, self.plan.y, cv=2, n_permutations=1, **self.plan.weights)
            if not (str(found) and len(found.to_frame())):
                raise Wrong("relevance has no rows")

    def bootstrap(self):
        """Weights of resamples are finite and not negative."""
        from manykernels.inspect import bootstrap_weights

        weights = bootstrap_weights(self.model, self.world.X, self.plan.y, n_boot=2)
        finite("bootstrap_weights", weights)

    def suggest(self):
        """A suggestion can be printed."""
        from manykernels.inspect import suggest

        if self.plan.task in ("classes", "numbers"):
            str(suggest(self.world.X, self.plan.y, self.world.kernels, Cs=[1.0], cv=2))

    def path(self):
        """Every point of a path has finite weights and a gap."""
        if self.plan.y is not None and hasattr(self.model, "path") and not self.plan.search:
            path = self.model.path(self.world.X, self.plan.y, Cs=[0.1, 1.0], **self.plan.weights)
            finite("weights of the path", path.weights)

    def cross_validated(self):
        """scikit-learn's tools cut the data and score the model."""
        from sklearn.model_selection import cross_val_score

        if self.plan.y is not None and not isinstance(self.world.X, dict):
            scores = cross_val_score(self.clone(), self.world.X, self.plan.y, cv=2, error_score="raise")
            if scores.shape != (2,):
                raise Wrong("cross_val_score has no two scores")

    def report(self):
        """A report is written, and holds no tag that the data brought."""
        options = {"cv": 2, "stability": 0}
        y = () if self.plan.y is None else (self.plan.y,)
        html = self.model.report(self.world.X, *y, **options).html()
        if "<b>" in html.replace("<b>", "", 0) and "&lt;b&gt;" not in html and "<b>" in str(self.plan.y):
            raise Wrong("a label arrives as a tag")
