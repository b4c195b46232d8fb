"""Which banks hold kernels by their explicit features: `HOLDERS` by the `family` of the kernels, from all wings."""

from typing import Any


class Holder:
    """How the kernels of one family are held."""

    most = 0  # examples up to which the comparison of pairs takes less time
    whole = False  # whether no example may lack the view of a kernel

    def __init__(self, *banks: type) -> None:
        self._banks = banks

    def banks(self, store: str) -> tuple[type, ...]:
        """The banks, the fastest first; each has `from_list`, and `asks` for options of its own."""
        return self._banks

    def pays(self, kernels: Any, n: int, X: Any, smooth: bool) -> bool:
        """Whether features may be faster than pairs if all kernels are of this family; see `choice.choose_bank`."""
        return n > self.most

    def suited(self, kernels: Any, X: Any, store: str, memory_limit: float | None) -> "Holder":
        """The holder that takes these kernels of the family on X."""
        return self

    def sums(self, kernels: Any, group: Any, side: Any, normalize: Any, scale: Any, n_jobs: int | None) -> Any:
        """Sums over the support examples `side` of one group of kernels, instead of pairs with each; None if none."""
        return None


HOLDERS: dict[str | None, Holder] = {}
