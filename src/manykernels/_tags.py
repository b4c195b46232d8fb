"""The names under which parts stand in files, and the classes that read them: the one place that knows both.

A tag is a name and a version. Rename or move a class, and its line here is all that changes; change what its
`to_state` gives, and it gets a line with the next version, while the line of the old one names what still reads it, any
class with a `from_state`. No line is ever taken away. A class is imported when a file asks for it.

A class from outside the package declares `file_tag = ("name", version)` and is given to `load(path, parts=[...])`.
"""

from importlib import import_module

TAGS = {
    ("estimator/classifier", 1): "estimators.classifier:MKLClassifier",
    ("estimator/regressor", 1): "estimators.regressor:MKLRegressor",
    ("estimator/one_class", 1): "estimators.one_class:MKLOneClass",
    ("solution", 1): "solution:Solution",
    ("predictor/precomputed", 1): "banks.dense_predictor:DensePredictor",
    ("predictor/pairwise", 1): "banks.pairwise_predictor:PairwisePredictor",
    ("predictor/degree", 1): "banks.degree_predictor:DegreePredictor",
    ("predictor/explicit", 1): "banks.explicit:ExplicitPredictor",
    ("predictor/joined", 1): "banks.joined:JoinedPredictor",
    ("bank/features", 1): "banks.features:FeatureBank",
    ("predictor/low_rank", 1): "banks.low_rank:LowRankPredictor",
    ("bank/low_rank", 1): "banks.low_rank:LowRankBank",
    ("bank/trie", 1): "banks.trie:TrieBank",
    ("bank/words", 1): "banks.words:WordBank",
    ("predictor/pairs", 1): "banks.pair_predictor:PairPredictor",
    ("pairs/side", 1): "banks._pair_side:PairSide",
    ("source/pairs", 1): "banks.pair_source:Pairwise",
    ("sequences", 1): "sequences.packed:Sequences",
    ("alphabet", 1): "sequences.alphabet:Alphabet",
    ("kernel/list", 1): "kernels._list:KernelList",
    ("kernel/list", 2): "kernels._list:KernelList",
    ("kernel/list", 3): "kernels._list:KernelList",
    ("kernel/pipe", 1): "kernels._pipes:Pipe",
    ("kernel/bundle", 1): "kernels.on:Bundle",
    ("kernel/spec", 1): "kernels.spec:KernelSpec",
    ("kernel/task", 1): "kernels.tasks:Task",
    ("kernel/sum", 1): "kernels._base:Sum",
    ("kernel/product", 1): "kernels._base:Product",
    ("kernel/function", 1): "kernels._wrap:Function",
    ("kernel/gaussian_process", 1): "kernels._wrap:GaussianProcess",
    ("kernel/on", 1): "kernels.on:On",
    ("kernel/seen", 1): "kernels.on:Seen",
    ("kernel/features", 1): "kernels.features:Features",
    ("kernel/categorical", 1): "kernels.categorical:Categorical",
    ("transformer/indicators", 1): "kernels.categorical:Indicators",
    ("transformer/sklearn", 1): "kernels._saved_transformers:Transformer",
    ("kernel/chi2", 1): "kernels.chi2:Chi2",
    ("kernel/constant", 1): "kernels.constant:Constant",
    ("kernel/cosine", 1): "kernels.cosine:Cosine",
    ("kernel/histogram_intersection", 1): "kernels.histogram_intersection:HistogramIntersection",
    ("kernel/identity", 1): "kernels.identity:Identity",
    ("kernel/laplacian", 1): "kernels.laplacian:Laplacian",
    ("kernel/linear", 1): "kernels.linear:Linear",
    ("kernel/nystroem", 1): "kernels.nystroem:Nystroem",
    ("kernel/polynomial", 1): "kernels.polynomial:Polynomial",
    ("kernel/precomputed", 1): "kernels.precomputed:Precomputed",
    ("kernel/corrected", 1): "kernels.precomputed:Corrected",
    ("kernel/random_features", 1): "kernels.random_features:RandomFeatures",
    ("kernel/rbf", 1): "kernels.rbf:RBF",
    ("kernel/tanimoto", 1): "kernels.tanimoto:Tanimoto",
    ("kernel/degree", 1): "strings.degree:Degree",
    ("kernel/gapped_kmer", 1): "strings.gapped_kmer:GappedKmer",
    ("kernel/mismatch", 1): "strings.mismatch:Mismatch",
    ("kernel/spectrum", 1): "strings.spectrum:Spectrum",
    ("kernel/weighted_degree", 1): "strings.weighted_degree:WeightedDegree",
    ("kernel/weighted_degree_shift", 1): "strings.weighted_degree_shift:WeightedDegreeShift",
    ("loss/epsilon_insensitive", 1): "losses.epsilon_insensitive:EpsilonInsensitive",
    ("loss/hinge", 1): "losses.hinge:Hinge",
    ("loss/huber", 1): "losses.huber:Huber",
    ("loss/level_set", 1): "losses.level_set:LevelSet",
    ("loss/logistic", 1): "losses.logistic:Logistic",
    ("loss/one_class", 1): "losses.one_class:OneClass",
    ("loss/smooth_hinge", 1): "losses.smooth_hinge:SmoothHinge",
    ("loss/squared", 1): "losses.squared:Squared",
    ("loss/squared_hinge", 1): "losses.squared_hinge:SquaredHinge",
    ("regularizer/ball", 1): "regularizers.ball:Ball",
    ("regularizer/block_elastic_net", 1): "regularizers.block_elastic_net:BlockElasticNet",
    ("regularizer/block_norm", 1): "regularizers.block_norm:BlockNorm",
    ("regularizer/block_sum", 1): "regularizers.block_sum:BlockSum",
    ("regularizer/elastic_net", 1): "regularizers.elastic_net:ElasticNet",
    ("regularizer/empirical_bayes", 1): "regularizers.empirical_bayes:EmpiricalBayes",
    ("regularizer/entropy", 1): "regularizers.entropy:Entropy",
    ("regularizer/fixed", 1): "regularizers.fixed:Fixed",
    ("regularizer/lp_norm", 1): "regularizers.lp_norm:LpNorm",
    ("regularizer/lp_penalty", 1): "regularizers.lp_penalty:LpPenalty",
    ("regularizer/lp_sum", 1): "regularizers.lp_sum:LpSum",
    ("regularizer/mixed_norm", 1): "regularizers.mixed_norm:MixedNorm",
    ("regularizer/non_isotropic", 1): "regularizers.non_isotropic:NonIsotropic",
    ("regularizer/wedge", 1): "regularizers.wedge:Wedge",
    ("regularizer/weighted_lp_norm", 1): "regularizers.weighted_lp_norm:WeightedLpNorm",
    ("prior/gamma", 1): "regularizers.empirical_bayes:GammaPrior",
    ("weighting/align", 1): "weighting.align:Align",
    ("weighting/align_f", 1): "weighting.align:AlignF",
    ("weighting/best_single", 1): "weighting.best_single:BestSingle",
    ("weighting/easy_mkl", 1): "weighting.easy_mkl:EasyMKL",
    ("weighting/uniform", 1): "weighting.uniform:Uniform",
    ("solver/analytic", 1): "solvers.analytic:Analytic",
    ("solver/chunking", 1): "solvers.chunking:Chunking",
    ("solver/coordinate", 1): "solvers.coordinate:Coordinate",
    ("solver/hessian", 1): "solvers.hessian:Hessian",
    ("solver/interior", 1): "solvers.interior:Interior",
    ("solver/level", 1): "solvers.level:Level",
    ("solver/mackay", 1): "solvers.mackay:MacKay",
    ("solver/nesterov", 1): "solvers.nesterov:Nesterov",
    ("solver/newton", 1): "solvers.newton:Newton",
    ("solver/primal", 1): "solvers.primal:Primal",
    ("solver/reweighted", 1): "solvers.reweighted:Reweighted",
    ("solver/silp", 1): "solvers.silp:SILP",
    ("solver/simplemkl", 1): "solvers.simplemkl:SimpleMKL",
    ("solver/sip", 1): "solvers.sip:SIP",
    ("solver/spicy", 1): "solvers.spicy:Spicy",
}
TRANSFORMER = ("transformer/sklearn", 1)  # all that scikit-learn has, by the names of their classes
_NAMES = {name for name, _ in TAGS}
_OF_CLASS = {home: tag for tag, home in TAGS.items()}  # of several versions the last, which is written


class Refused(ValueError):
    """The file is whole, as far as one can tell, but not for this release or not without more being given."""


def tag_of(cls):
    """(name, version) under which objects of the class are written, None where they cannot be."""
    module, _, rest = cls.__module__.partition(".")
    if module == __package__:
        return _OF_CLASS.get(f"{rest}:{cls.__qualname__}")
    return own_tag(cls) if "file_tag" in vars(cls) else None  # one that is inherited is another class's


def own_tag(cls):
    """The `file_tag` that a class from outside declares, or a ValueError."""
    tag = vars(cls).get("file_tag")
    if not (isinstance(tag, tuple) and len(tag) == 2 and isinstance(tag[0], str) and type(tag[1]) is int):
        raise ValueError(
            f"{cls.__qualname__} has file_tag={tag!r}: a class whose objects stand in files declares, itself, "
            'file_tag = ("name", version), such as ("example/overlap", 1).'
        )
    if tag[0] in _NAMES:
        raise ValueError(f"file_tag={tag!r} of {cls.__qualname__} is one of manykernels itself: take another name.")
    return tag


def outside(parts):
    """{tag: class} of the classes that a user gives, or a ValueError."""
    found = {}
    for cls in parts:
        if not isinstance(cls, type):
            raise ValueError(f"parts has {cls!r}: give classes, such as parts=[{type(cls).__name__}].")
        if found.setdefault(own_tag(cls), cls) is not cls:
            raise ValueError(f"two of parts have file_tag={own_tag(cls)!r}: give each a name of its own.")
    return found


def reader(tag, found, called=""):
    """The class whose `from_state` reads what has this tag; `found` are those from `outside`."""
    if tag in found:
        return found[tag]
    if tag in TAGS:
        module, name = TAGS[tag].split(":")
        return getattr(import_module(f"{__package__}.{module}"), name)
    name, version = tag
    if name in _NAMES:
        raise Refused(f"holds {name!r} of version {version}, which this release does not read: upgrade manykernels")
    if called:
        raise Refused(
            f"holds a {called}, under the tag {(name, version)}, which is no class of manykernels: give it, "
            f"load(path, parts=[{called.rpartition('.')[2]}])"
        )
    raise Refused(f"holds {name!r}, which is no part of this release: upgrade manykernels")
