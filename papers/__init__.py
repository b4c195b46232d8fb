"""The experiments of the papers behind the package, rerun: `python -m papers kloft2011 --quick`.

A paper is a folder. Its `paper.toml` has title, reference, picture, headlines and the experiments in the order of the
page; an experiment is one file with one function

    run(scale, data) -> Section

which is the same code for --quick and --full: `scale.pick(quick, full)` chooses sizes, `scale.cell(function,
**parameters)` runs a part that is worth keeping, `data.find(name)` opens real data. What a paper says is a `Finding`,
judged by the run; README.md says how they are asserted.
"""

PAPERS = ("sonnenburg2006", "kloft2011", "yang2011", "xu2010", "tomioka2010")
