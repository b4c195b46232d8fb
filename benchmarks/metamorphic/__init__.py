"""Metamorphic tests of every public method: `python -m benchmarks.metamorphic --cases 2000`.

Data are changed in a way that must not change the result, or that must be refused or said. Nothing is compared with a
reference. `benchmarks/README.md` lists the changes.
"""
