"""python -m benchmarks.planted [--bugs 1,2] [--jobs 16] [--seconds 300] [--out DIR]: which of a hundred planted bugs
does the suite catch?

Each bug of planted.json goes into a copy of the repository, where pytest runs, the likeliest files first, until a test
fails or the seconds are over. `--clean` first runs the suite without a bug, for so many seconds in each job, and what
fails then is left out, now and later. DIR/planted-results.json has the bugs that are done; they are not run again. If
NUMBA_CACHE_DIR has the loops of this checkout, the copies begin with them; those with a bug in the loops begin without.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from hashlib import sha1
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ONES = "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "PYTHONUNBUFFERED"
GIT = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
SKIPPED = re.compile(r"(^|/)(__pycache__|\.(?!ci/|github/|gitignore))")  # where git is silent
PYTEST = [sys.executable, "-m", "pytest", "-v", "-n", "0", "-p", "no:cacheprovider", "--tb=no", "-rfE"]
FAILED = re.compile(r"^(\S+\.py::.*) (?:FAILED|ERROR)\b|^(?:FAILED|ERROR) (\S+?\.py(?:::.*?)?)(?: - .*)?$", re.M)


def copied(folder, warm):
    """(a copy of the repository in a folder, the environment of its tests, their files)."""
    place, cache = folder / "repository", folder / "cache"
    names = subprocess.run(GIT, cwd=ROOT, capture_output=True, text=True, check=False).stdout.split("\0")
    for name in names if any(names) else (str(path.relative_to(ROOT)) for path in ROOT.rglob("*")):
        if (ROOT / name).is_file() and (any(names) or not SKIPPED.search(name)):
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, place / name)  # with its time, by which Numba knows a file
    before, now = (f"loops_{sha1(bytes(root / 'src/manykernels/loops')).hexdigest()}" for root in (ROOT, place))
    if warm and (Path(warm) / before).is_dir():
        shutil.copytree(Path(warm) / before, cache / now)
    (folder / "tmp").mkdir()
    own = {"PYTHONPATH": str(place / "src"), "NUMBA_CACHE_DIR": str(cache), "TMPDIR": str(folder / "tmp")}
    tests = sorted(str(path.relative_to(place)) for path in place.glob("tests/**/test_*.py"))
    return place, os.environ | dict.fromkeys(ONES, "1") | own, tests


def in_order(tests, place, bug):
    """Two runs of test files: those of the bug's room, with most of its names first; others with names; contracts."""
    names = re.findall(r"^ *(?:def|class) ([A-Za-z]\w+)", (place / bug["file"]).read_text(encoding="utf-8"), re.M)
    mentions = re.compile(rf"\b({'|'.join([*names, Path(bug['file']).stem])})\b")
    found = {name: len(set(mentions.findall((place / name).read_text(encoding="utf-8")))) for name in tests}
    of = {name: [name.startswith(f"tests/{part}/") for part in (bug["room"], "contracts")] for name in tests}
    ranked = sorted(tests, key=lambda name: (not of[name][0], not found[name], not of[name][1], -found[name]))
    return ranked[:30], ranked[30:]  # pytest reads all files of a run before its first test


def run(files, place, env, until, *more):
    """(the tests that failed, whether the time was over) of these files."""
    told, code, left = place.with_name("told.txt"), None, max(until - time.time(), 1)
    with told.open("w") as file, suppress(subprocess.TimeoutExpired):
        options = dict(cwd=place, env=env, stdout=file, stderr=subprocess.STDOUT, timeout=left)
        code = subprocess.run([*PYTEST, *more, *files], check=False, **options).returncode
    text = told.read_text(encoding="utf-8", errors="replace")
    failed = list(dict.fromkeys(first or second for first, second in FAILED.findall(text)))
    if code in (2, 3, 4) and not failed:
        raise RuntimeError(f"pytest does not run: {text.strip()[-1000:]}")
    return failed or [f"pytest ended with {code}"] * (code is not None and code < 0), code is None


def judged(bug, seconds, known):
    """The bug, with the test that caught it or the reason why none did."""
    begin, failed, over = time.time(), [], False
    with tempfile.TemporaryDirectory(prefix="planted-", ignore_cleanup_errors=True) as folder:
        place, env, tests = copied(Path(folder), bug["room"] != "loops" and os.environ.get("NUMBA_CACHE_DIR"))
        moved = (text := (place / bug["file"]).read_text(encoding="utf-8")).count(bug["old"]) != 1
        (place / bug["file"]).write_text(text.replace(bug["old"], bug["new"]), encoding="utf-8")
        tests = [name for name in tests if name not in known]  # a file that cannot be read fails as a whole
        options = ["-x", *(f"--deselect={name}" for name in known)]
        for files in () if moved else in_order(tests, place, bug):
            if files and not failed and not over:
                failed, over = run(files, place, env, begin + seconds, *options)
    why = "" if failed else "moved" if moved else "time" if over else "no test failed"
    return bug | {"caught": bool(failed), "by": failed[:1], "why": why, "seconds": round(time.time() - begin)}


def clean(part, jobs, seconds):
    """The tests that fail without a bug in every `jobs`-th file."""
    with tempfile.TemporaryDirectory(prefix="planted-", ignore_cleanup_errors=True) as folder:
        place, env, tests = copied(Path(folder), os.environ.get("NUMBA_CACHE_DIR"))
        return run(tests[part::jobs], place, env, time.time() + seconds)[0]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bugs", help="numbers, separated by commas; by default all, and 0 for none")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--out", type=Path, default=Path("."))
    parser.add_argument("--clean", action="store_true")
    (asked := parser.parse_args()).out.mkdir(parents=True, exist_ok=True)
    kept, failing = (asked.out / f"planted-{name}.json" for name in ("results", "clean"))
    pool = ThreadPoolExecutor(asked.jobs)
    if asked.clean:
        parts = pool.map(lambda k: clean(k, asked.jobs, asked.seconds), range(asked.jobs))
        failing.write_text(json.dumps(sum(parts, []), indent=1))
    known = json.loads(failing.read_text()) if failing.exists() else []
    results = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else []
    bugs = json.loads(Path(__file__).with_name("planted.json").read_text(encoding="utf-8"))
    bugs = [bug for bug in bugs if bug["id"] not in {one["id"] for one in results}]
    bugs = [bug for bug in bugs if not asked.bugs or str(bug["id"]) in asked.bugs.split(",")]
    for one in as_completed([pool.submit(judged, bug, asked.seconds, known) for bug in bugs]):
        results.append(one.result())
        kept.write_text(json.dumps(results, ensure_ascii=False, indent=1), encoding="utf-8")
        print(f"bug {results[-1]['id']}: {results[-1]['why'] or results[-1]['by'][0]}", flush=True)
    for room in [*sorted({one["room"] for one in results}), "all"]:
        own = [one["caught"] for one in results if room in ("all", one["room"])]
        print(f"{room:14}{len(own):5} planted{sum(own):5} caught")
    lost = (f"{one['id']} {one['file']}: {one['what']} ({one['why']})" for one in results if not one["caught"])
    print("not caught:", *lost, sep="\n")
