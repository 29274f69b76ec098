"""Every interval in the package: over seeds, for rates, and over cells.

- Seeds: the median with its order-statistic interval (`interval`), the Hodges-Lehmann shift between two unpaired
    samples (`shift_interval`), and Wilson's interval for a rate (`rate_interval`).
- Cells: means of one number per cell (`mean_over_cells`), with an interval that knows their skewness; for any other
    measure one bootstrap (`Resampler`). Both treat whole cells as the units, because rows within a cell are not
    independent. `paired_p_value` tests whether paired cells differ.
- Both: the difference and the ratio of two independent estimates (`difference_of`, `ratio_of`), and the interval of one
    of several comparisons (`one_of_several`).

Only the bootstrap and the test of signs draw random numbers.
"""

from recombine.intervals.cell_means import FEW_BAD_CELLS as FEW_BAD_CELLS
from recombine.intervals.cell_means import FEW_CELLS as FEW_CELLS
from recombine.intervals.cell_means import mean_over_cells as mean_over_cells
from recombine.intervals.estimate import LEVEL as LEVEL
from recombine.intervals.estimate import UNKNOWN as UNKNOWN
from recombine.intervals.estimate import Estimate as Estimate
from recombine.intervals.estimate import difference_of as difference_of
from recombine.intervals.estimate import one_of_several as one_of_several
from recombine.intervals.estimate import ratio_of as ratio_of
from recombine.intervals.paired_signs import paired_p_value as paired_p_value
from recombine.intervals.resampling import Resampler as Resampler
from recombine.intervals.resampling import percentile_interval as percentile_interval
from recombine.intervals.resampling import resample_counts as resample_counts
from recombine.intervals.resampling import resampled_estimate as resampled_estimate
from recombine.intervals.resampling import sums_by_unit as sums_by_unit
from recombine.intervals.seeds import interval as interval
from recombine.intervals.seeds import median_ranks as median_ranks
from recombine.intervals.seeds import rate_difference as rate_difference
from recombine.intervals.seeds import rate_interval as rate_interval
from recombine.intervals.seeds import shift_interval as shift_interval
