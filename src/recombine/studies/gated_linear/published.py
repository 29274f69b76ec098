"""Published errors on 12,000 validation images, thresholds at the median, means over three seeds; n = 500."""

ONE_LAYER = {0: 0.262, 1: 0.237, 2: 0.225, 3: 0.220, 4: 0.225, 5: 0.254, 6: 0.287, 9: 0.536}
"""Machines, by hyperplanes."""
UNITS = (10, 20, 50, 100)
TWO_LAYERS = {
    "net": (0.166, 0.155, 0.145, 0.145),
    "group norm": (0.162, 0.146, 0.136, 0.141),
    "published l2": (0.304, 0.244, 0.169, 0.145),
}
RECTIFIED = {
    "net": (0.163, 0.134, 0.121, 0.114),
    "hidden layer": (0.133, 0.135, 0.121, 0.114),
    "learned gates": (0.128, 0.141, 0.129, 0.139),
    "random gates": (0.171, 0.151, 0.144, None),
}
"""Momentum 0.9."""
DIFFERS_MEDIAN = 0.179
"""How often networks and the group norm differ with thresholds at the median: thresholds of the networks were lost."""
