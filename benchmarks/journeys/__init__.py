"""Random journeys through the whole package, judged from outside: `python -m benchmarks.journeys --cases 2000`.

Written from the documentation alone, by somebody who had not read `benchmarks.fuzz`: shapes, dtypes, layouts, frames,
views, strings, pairs and matrices × estimators × what a user does next.
"""
