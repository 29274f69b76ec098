"""`python -m recombine` is the command `recombine`."""

from recombine.cli import main

if __name__ == "__main__":
    main()
