"""The command line, as `manykernels` and as `python -m manykernels`."""

import os
import signal


def main() -> None:
    """Run the command line; Ctrl-C ends it with exit code 130 and no traceback, also during imports."""
    heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # background jobs of a shell ignore it
    if heard:
        signal.signal(signal.SIGINT, _leave)  # inside an import, KeyboardInterrupt can become another error
    from .cli import app

    if heard:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    app(prog_name="manykernels")


def _leave(*_: object) -> None:
    os.write(2, b"manykernels: interrupted.\n")
    os._exit(130)


if __name__ == "__main__":
    main()
