"""Reductions, running totals, NaN-skipping functions, statistics, histograms."""

from tests.numpy.functions.entries import Entry

SUM = "a sum in another order"
PRODUCT = "a product in another order"
SQUARES = "sums of squares in another order"
BLEND = "a difference times a weight"
TWO = "A; A, axis=0; A, -1; A, axis=(0, 1), keepdims=True; J; X"
NANS = "N; N, axis=0; N, -1; A; N, axis=1, keepdims=True"

REDUCTIONS = {
    "all": Entry(TWO + "; B, 1; E; E, axis=0; A, where=B"),
    "any": Entry(TWO + "; B, 1; E; E, axis=0; A, where=B"),
    "amax": Entry(TWO + "; B; C; A, where=B, initial=-9"),
    "amin": Entry(TWO + "; B; C; A, where=B, initial=9"),
    "max": Entry(TWO + "; B; C; A, where=B, initial=-9; E, axis=1; E, initial=1"),
    "min": Entry(TWO + "; B; C; A, where=B, initial=9; E, axis=1; E, initial=1"),
    "prod": Entry(TWO + "; N, 1; B; C; Q; E; A, where=B; A, initial=2", 8, PRODUCT),
    "ptp": Entry("A; A, axis=0; A, -1, keepdims=True; J; X"),
    "sum": Entry(TWO + "; N; B; C; Q; F; E; A, where=B; A, initial=2; J, dtype='f4'", 4, SUM),
    "mean": Entry(TWO + "; B; C; F; A, where=B; N, 1", 4, SUM),
    "std": Entry(TWO + "; B; C; F; A, ddof=1; A, 0, correction=1; A, where=B; N, 1", 6, SQUARES),
    "var": Entry(TWO + "; B; C; F; A, ddof=1; A, 0, correction=1; A, where=B; N, 1", 6, SQUARES),
    "nanmax": Entry(NANS),
    "nanmin": Entry(NANS),
    "nansum": Entry(NANS + "; J; C; X", 4, SUM),
    "nanprod": Entry(NANS + "; J; C", 8, PRODUCT),
    "nanmean": Entry(NANS + "; J; C", 4, SUM),
    "nanstd": Entry(NANS + "; J; A, ddof=1", 6, SQUARES),
    "nanvar": Entry(NANS + "; J; A, ddof=1", 6, SQUARES),
    "nanmedian": Entry(NANS, 2, "half a sum"),
    "nanpercentile": Entry("N, 30; N, [20, 75], axis=1; A, 40, axis=0", 4, BLEND),
    "nanquantile": Entry("N, 0.3; N, [0.25, 0.75], axis=1; A, 0.5, axis=0", 4, BLEND),
    "nancumsum": Entry("N; N, axis=0; A, 1", 8, SUM),
    "nancumprod": Entry("N; N, axis=0; A, 1", 8, "products in another order"),
    "cumsum": Entry("A; N; A, axis=0; A, -1; J; B; Z; Q; E", 8, SUM),
    "cumprod": Entry("A; N; A, axis=0; A, -1; J; B; Z; E", 8, "products in another order"),
    "cumulative_sum": Entry("V; A, axis=0; J, axis=-1; V, include_initial=True", 8, SUM),
    "cumulative_prod": Entry("V; A, axis=0; J, axis=1; V, include_initial=True", 8, "products"),
    "median": Entry("A; A, axis=0; J, -1; N; A, axis=1, keepdims=True", 2, "half a sum"),
    "percentile": Entry("A, 30; A, [20, 75], axis=1; J, 40, axis=0; V, 50, method='lower'; "
                        "V, 33, method='nearest'; V, 60, method='weibull'; N, 5", 4, BLEND),
    "quantile": Entry("A, 0.3; A, [0.25, 0.75], axis=1; J, 0.5, axis=0; V, 0.4, method='higher'; "
                      "V, 0.6, method='median_unbiased'; N, 0.5", 4, BLEND),
    "average": Entry("A; A, axis=0; V, weights=K + 3; A, 1, K + 3; A, 0, returned=True", 6, SUM),
    "corrcoef": Entry("A; V, K; A, rowvar=False", 16, "a quotient of sums"),
    "cov": Entry("A; V, K; A, rowvar=False; A, ddof=0; C", 8, SQUARES),
    "bincount": Entry("I; Q[:3]; I, V; I, minlength=7", 4, SUM, traced=False),
    "diff": Entry("V; A, axis=0; A, 2; J; P; V, prepend=1.0; V, append=K; Z"),
    "ediff1d": Entry("V; J; V, to_end=9.0; V, to_begin=[1, 2]"),
    "gradient": Entry("V; A; A, axis=0; V, 2.0; V, K; V, edge_order=2", 4, "quotients"),
    "trapezoid": Entry("V; A; V, K; A, dx=0.5, axis=0", 6, SUM),
    "histogram": Entry("V; V, 4; A, K; V, 3, range=(-2, 5); V, 4, density=True; V, 3, weights=K",
                       4, SUM, traced=False),
    "histogram_bin_edges": Entry("V; V, 4; A, 3, (-2, 5); V, K", 2, "steps", traced=False),
    "histogram2d": Entry("V, K, 3; V, K, [2, 4]", 2, "steps", traced=False),
    "histogramdd": Entry("A, 2; A[:, :2], [2, 3]", 2, "steps", traced=False),
}  # fmt: skip
