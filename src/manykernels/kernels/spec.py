"""What a user says of one kernel."""

from typing import Any, NamedTuple, Self


class KernelSpec(NamedTuple):
    """One kernel: its name (None: made from the kernel), the columns or view it sees, and missing="error"|"zero".

    `task` says which pairs of examples it compares, by their tasks; None stands for all.
    """

    name: str | None
    kernel: Any
    columns: Any = None
    missing: str = "error"
    task: Any = None

    def to_state(self) -> dict[str, Any]:
        return self._asdict()

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        return cls(**state)


def as_spec(spec):
    if isinstance(spec, KernelSpec):
        return spec
    if isinstance(spec, tuple):
        if not 2 <= len(spec) <= 4 or not (spec[0] is None or isinstance(spec[0], str)):
            raise ValueError(
                f"{spec!r} is not (name, kernel), (name, kernel, columns) or (name, kernel, columns, missing)."
            )
        return KernelSpec(*spec)
    return KernelSpec(None, spec)
