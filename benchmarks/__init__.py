"""hloom, NumPy and, where it is installed, jax, measured in turn in one run.

    python -m benchmarks                        every row (or `make bench`)
    python -m benchmarks "a + b" jit            rows whose name holds one of these texts
    python -m benchmarks --group dispatch       one group; --list shows the names
    python -m benchmarks --jax-python PATH      the Python that has jax, if it is another one
                                                (or the variable HLOOM_BENCH_JAX_PYTHON)

How it measures.  Each library lives in a worker process of its own, because hloom and jax would
disturb each other in one (jaxlib's tracebacks switch is process-wide, and so is XLA's thread
pool).  The parent asks one worker at a time: row 1 of hloom, row 1 of jax, row 1 of NumPy, row 2
of hloom, and so on through the table, and then the whole table again, `--rounds` times.  A burst
of load on the machine thus hits a few rounds of every row instead of all rounds of a few.

What it reports.  A worker times batches of calls and waits for the result of every call.  The
figure of a round is its fastest batch; the figure of a row is the median of its rounds.  A ratio
is taken round by round, between figures measured moments apart; its median is shown, and after it
the first and third quartile.  The results of the libraries are compared too: a fast wrong answer
is noted under the table.  Raw figures go to build/benchmarks.json.

What a ratio is worth.  jax was once measured beside a second copy of itself, on two cores with
other work going on (load 1.5 to 2, five rounds).  The median ratios were 0.94 to 1.06 in the rows
of small calls (one of 32: 1.26) and 0.38 to 1.37 in the million-element rows, which want both
cores; six of these, run again by themselves, had 0.86 to 1.30.  So look at the quartiles, and at
the load in the title, before believing a small difference.

To add a row, add a line to the table in `rows_dispatch.py`, `rows_compile.py` or
`rows_kernels.py`; to add a group, write such a file and list it in `catalog.py`.
"""
