"""The site: `pip install -e ".[docs]" && sphinx-build -W docs build/site`, without a network."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np

import manykernels

project, author, copyright = "manykernels", "the manykernels developers", "the manykernels developers, BSD-3-Clause"
version = release = manykernels.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_templates", "images/*.py", "**/.ipynb_checkpoints"]
templates_path = ["_templates"]
default_role = "literal"  # `x` is code, as in Markdown
smartquotes = False  # "auto" is what one types
toc_object_entries_show_parents = "hide"
suppress_warnings = ["config.cache"]  # functions of the gallery's settings cannot be pickled

myst_enable_extensions = ["colon_fence", "attrs_inline"]
myst_heading_anchors = 4

autosummary_generate = True
autosummary_ignore_module_all = False  # what a room exports,
autosummary_imported_members = True  # wherever it is written
ROOMS = ("kernels", "sequences", "strings", "pairs", "losses", "weighting", "regularizers", "solvers", "inspect")
seen = {id(getattr(manykernels, name)) for name in ("KernelStack", "Views")}
again = []  # names of what another page describes
for room in (getattr(manykernels, name) for name in ROOMS):
    again += [f"{room.__name__}.{name}" for name in room.__all__ if id(getattr(room, name)) in seen]
    seen |= {id(getattr(room, name)) for name in room.__all__}
autosummary_context = {"again": again}
autodoc_typehints = "none"  # numpydoc says them
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False  # the template lists methods
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "ignore_pattern": r"__init__\.py",
    "within_subsection_order": "FileNameSortKey",
    "remove_config_comments": True,
    "show_memory": False,
    "capture_repr": (),
    "min_reported_time": 0,
    "abort_on_example_error": True,
    "doc_module": ("manykernels",),
    "backreferences_dir": "gallery/backreferences",
    "reference_url": {"manykernels": None},
    "plot_gallery": "True",
    "download_all_examples": False,
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "manykernels"
html_context = {"default_mode": "auto"}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = html_show_sourcelink = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "start": [], "changes": []}


def plain_text(app, what, name, obj, options, lines):
    """Docstrings are plain text: |x| and noise_ outside code are what they look like, and reStructuredText is told."""
    for number, line in enumerate(lines):
        if not re.match(r"\s*(>>>|\.\.\.)|[\w, *]+ : ", line):  # numpydoc escapes names itself
            parts = line.split("`")
            parts[::2] = [re.sub(r"(?<=\w)_(?!\w)|\|", r"\\\g<0>", part) for part in parts[::2]]
            lines[number] = "`".join(parts)


def drop_empty_globs(app, name, source):
    """Leaves out places kept in a toctree for pages that are not there (yet)."""
    folder = Path(app.srcdir, name).parent
    globs = [line for line in source[0].splitlines() if re.fullmatch(r"[\w/]+\*", line)]
    empty = [line for line in globs if not any(folder.glob(line + ".md"))]
    source[0] = "\n".join(line for line in source[0].split("\n") if line not in empty)


def skip_foreign(app, what, name, obj, skip, options):
    """What scikit-learn adds to every estimator, with links into its own site; functions of NumPy; states."""
    foreign = re.fullmatch(r"set_\w+_request|get_metadata_routing|(to|from)_state", name) or isinstance(obj, np.ufunc)
    return True if foreign else None


def write_pages(app):
    """The pages of the papers, from their results, and the table of solvers, from their refusals."""
    table = ["tests/oracles/support_table.py", str(Path(app.srcdir, "support-table.md"))]
    for program in (["-m", "papers", "all", "--pages"], table):
        subprocess.run([sys.executable, *program], cwd=Path(app.srcdir).parent, check=True)


def setup(app):
    app.connect("builder-inited", write_pages)
    app.connect("autodoc-skip-member", skip_foreign)
    app.connect("source-read", drop_empty_globs)
    app.connect("autodoc-process-docstring", plain_text, priority=400)  # before numpydoc reads them
