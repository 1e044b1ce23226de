"""What spreads orders over marking processes: orders in, answers out as they finish.

`process` is one marking process, seen from the one that asks it. `threads` has several of them on this machine, and
`cluster` has them wherever dask's workers are. Neither keeps a mark: that is for who gave the orders.
"""
