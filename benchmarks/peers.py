"""Classifiers that people would take for a table, ours and others', each a function without arguments.

Those of scikit-learn get columns that are standardised, texts one-hot, gaps filled by the mean or the commonest value;
trees get texts as ordinal numbers and gaps as they are. `SVC grid` searches 6 C × 6 γ by five folds.
"""

import numpy as np


def _kinds(frame):
    words = [name for name in frame.columns if frame[name].dtype.kind not in "iufb"]
    return [name for name in frame.columns if name not in words], words


class Prepared:
    """A model behind the columns' preparation, which is made when the frame is known."""

    def __init__(self, model, trees=False):
        self.model, self.trees = model, trees

    def fit(self, frame, y):
        from sklearn.compose import ColumnTransformer
        from sklearn.impute import SimpleImputer
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

        numbers, words = _kinds(frame)
        if self.trees:
            ordinal = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
            parts = [("numbers", "passthrough", numbers), ("words", ordinal, words)]
        else:
            one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
            parts = [("numbers", make_pipeline(SimpleImputer(), StandardScaler()), numbers),
                     ("words", make_pipeline(SimpleImputer(strategy="most_frequent"), one_hot), words)]  # fmt: skip
        self.pipeline = make_pipeline(ColumnTransformer(parts), self.model).fit(frame, y)
        self.classes_ = self.pipeline.classes_
        return self

    def __getattr__(self, name):
        if name in ("predict", "predict_proba", "decision_function"):
            return getattr(self.pipeline, name)
        raise AttributeError(name)


def svc():
    from sklearn.svm import SVC

    return Prepared(SVC())


def svc_grid():
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    return Prepared(GridSearchCV(SVC(), {"C": np.logspace(-1, 3, 6), "gamma": np.logspace(-3, 1, 6)}))


def logistic():
    from sklearn.linear_model import LogisticRegression

    return Prepared(LogisticRegression(max_iter=5000))


def nearest():
    from sklearn.neighbors import KNeighborsClassifier

    return Prepared(KNeighborsClassifier())


def forest():
    from sklearn.ensemble import RandomForestClassifier

    return Prepared(RandomForestClassifier(500, random_state=0), trees=True)


def boosting():
    from sklearn.ensemble import HistGradientBoostingClassifier

    return Prepared(HistGradientBoostingClassifier(random_state=0), trees=True)


def xgboost():
    from xgboost import XGBClassifier

    return Prepared(XGBClassifier(n_jobs=1), trees=True)


def catboost():
    from catboost import CatBoostClassifier

    return Prepared(CatBoostClassifier(verbose=False, thread_count=1, allow_writing_files=False), trees=True)


def ours():
    from manykernels import MKLClassifier

    return MKLClassifier(n_jobs=1)


def ours_with_chosen_c():
    from manykernels import MKLClassifier

    return MKLClassifier(C="auto", n_jobs=1)


def ours_cv():
    from manykernels import MKLClassifierCV

    return MKLClassifierCV(n_jobs=1)


PEERS = {
    "MKLClassifier()": ours, 'MKLClassifier(C="auto")': ours_with_chosen_c, "MKLClassifierCV()": ours_cv,
    "SVC": svc, "SVC grid": svc_grid,
    "logistic regression": logistic, "nearest neighbours": nearest, "random forest": forest,
    "gradient boosting": boosting, "XGBoost": xgboost, "CatBoost": catboost,
}  # fmt: skip
