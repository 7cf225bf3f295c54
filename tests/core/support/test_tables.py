"""Tables of programs are bounded, one by one and all together."""

from __future__ import annotations

from hloom.core.support import tables
from hloom.core.support.tables import CAPACITY, LIMIT, Table


def test_one_table_drops_its_oldest_entries():
    table = Table()
    for i in range(CAPACITY + 10):
        table.store(i, i)
    assert len(table) <= CAPACITY
    assert 0 not in table and CAPACITY + 9 in table


def test_all_tables_together_are_bounded():
    made = [Table() for _ in range(40)]
    for table in made:
        for i in range(LIMIT // 20):
            table.store(i, i)
    assert tables.entries() <= LIMIT + LIMIT // 8
    assert LIMIT // 20 - 1 in made[-1]


def test_an_alias_goes_with_what_it_stands_for():
    table = Table()
    table.store("key", 1)
    table.alias("key", "other")
    table.store("key", 2)
    assert table["other"] == 2
    table.forget(2)
    assert not table and not table.aliases
