"""Golden outputs: what the program printed before a refactoring, to compare with what it prints afterwards.

Only what users call is used: the command line and the functions that `recombine` exports.
"""
