"""Golden outputs: what the program said before a reorganisation, to be compared with what it says afterwards.

Only what users call is used: the command line and the functions that `recombine` exports.
"""
