"""Models that people would take for a table, ours and others', each a function without arguments: `PEERS[task][name]`.

The others get columns that are standardised, texts one-hot, gaps filled by the mean or the commonest value; trees get
texts as ordinal numbers and gaps as they are. A grid searches 6 C × 6 γ by five folds. Support vectors and Gaussian
processes get a standardised y.
"""

from importlib import import_module

import numpy as np


def made(path, *args, **options):
    """An instance of the class at a dotted path, which is imported now."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)(*args, **options)


class Prepared:
    """A model behind the preparation of columns, "standardised", "raw" or "ordinal", made when the frame is known."""

    def __init__(self, model, how="standardised"):
        self.model, self.how = model, how

    def fit(self, frame, y):
        from sklearn.compose import ColumnTransformer
        from sklearn.impute import SimpleImputer
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

        words = [name for name in frame.columns if frame[name].dtype.kind not in "iufb"]
        numbers = [name for name in frame.columns if name not in words]
        if self.how == "ordinal":
            ordinal = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
            parts = [("numbers", "passthrough", numbers), ("words", ordinal, words)]
        else:
            scaler = StandardScaler() if self.how == "standardised" else "passthrough"
            one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
            parts = [("numbers", make_pipeline(SimpleImputer(), scaler), numbers),
                     ("words", make_pipeline(SimpleImputer(strategy="most_frequent"), one_hot), words)]  # fmt: skip
        self.pipeline = make_pipeline(ColumnTransformer(parts), self.model).fit(frame, y)
        return self

    def __getattr__(self, name):
        if name in ("predict", "predict_proba", "decision_function", "classes_"):
            return getattr(self.pipeline, name)
        raise AttributeError(name)


def prepared(path, *args, **options):
    return lambda: Prepared(made(path, *args, **options))


def trees(path, *args, **options):
    return lambda: Prepared(made(path, *args, **options), "ordinal")


def ours(name, **options):
    return lambda: made(f"manykernels.{name}", n_jobs=1, **options)


def grid(model, cv=None):
    widths = {"C": np.logspace(-1, 3, 6), "gamma": np.logspace(-3, 1, 6)}
    return made("sklearn.model_selection.GridSearchCV", model, widths, cv=cv)


def svr_grid():
    folds = made("sklearn.model_selection.KFold", 5, shuffle=True, random_state=0)  # R's tables are sorted
    return scaled(grid(made("sklearn.svm.SVR"), folds))


def scaled(model):
    """A regressor of the standardised y."""
    scaler = made("sklearn.preprocessing.StandardScaler")
    return Prepared(made("sklearn.compose.TransformedTargetRegressor", model, transformer=scaler))


def gaussian_process():
    kernels = import_module("sklearn.gaussian_process.kernels")
    kernel = kernels.ConstantKernel() * kernels.RBF(3.0) + kernels.WhiteKernel(0.1)
    return scaled(made("sklearn.gaussian_process.GaussianProcessRegressor", kernel, random_state=0))


FOREST = {"n_estimators": 500, "random_state": 0}
CATBOOST = {"verbose": False, "thread_count": 1, "allow_writing_files": False, "random_seed": 0}
PEERS = {
    "classification": {
        "MKLClassifier(C=1)": ours("MKLClassifier", C=1.0),
        "MKLClassifier()": ours("MKLClassifier"),
        "MKLClassifierCV()": ours("MKLClassifierCV"),
        "SVC": prepared("sklearn.svm.SVC"),
        "SVC grid": lambda: Prepared(grid(made("sklearn.svm.SVC"))),
        "logistic regression": prepared("sklearn.linear_model.LogisticRegression", max_iter=5000),
        "nearest neighbours": prepared("sklearn.neighbors.KNeighborsClassifier"),
        "random forest": trees("sklearn.ensemble.RandomForestClassifier", **FOREST),
        "gradient boosting": trees("sklearn.ensemble.HistGradientBoostingClassifier", random_state=0),
        "XGBoost": trees("xgboost.XGBClassifier", n_jobs=1),
        "CatBoost": trees("catboost.CatBoostClassifier", **CATBOOST),
    },
    "regression": {
        "MKLRegressor(C=1)": ours("MKLRegressor", C=1.0),
        "MKLRegressor()": ours("MKLRegressor"),
        "MKLRegressorCV()": ours("MKLRegressorCV"),
        "SVR": lambda: scaled(made("sklearn.svm.SVR")),
        "SVR grid": svr_grid,
        "ridge regression": prepared("sklearn.linear_model.RidgeCV", np.logspace(-3, 4, 15)),
        "Gaussian process": gaussian_process,
        "random forest": trees("sklearn.ensemble.RandomForestRegressor", **FOREST),
        "gradient boosting": trees("sklearn.ensemble.HistGradientBoostingRegressor", random_state=0),
        "XGBoost": trees("xgboost.XGBRegressor", n_jobs=1),
        "CatBoost": trees("catboost.CatBoostRegressor", **CATBOOST),
    },
    "one-class": {
        "MKLOneClass()": ours("MKLOneClass"),
        "OneClassSVM unscaled": lambda: Prepared(made("sklearn.svm.OneClassSVM"), "raw"),
        "OneClassSVM": prepared("sklearn.svm.OneClassSVM"),
        "isolation forest": prepared("sklearn.ensemble.IsolationForest", random_state=0),
        "local outlier factor": prepared("sklearn.neighbors.LocalOutlierFactor", novelty=True),
    },
}
