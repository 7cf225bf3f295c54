"""Bounded tables of executables, and the one place that clears or counts them."""

from __future__ import annotations

from typing import Any
from weakref import WeakSet

from hloom.core.context import Config

CAPACITY = 2048  # of one table
LIMIT = 8192  # of all tables: an executable has 3 to 4 memory maps, and a Linux process 65,530


class Table(dict[Any, Any]):
    """A dict that drops its oldest entries when it grows beyond `CAPACITY`."""

    everywhere: WeakSet[Table] = WeakSet()
    stored = 0  # since all tables were last counted

    def __init__(self) -> None:
        super().__init__()
        self.aliases: dict[Any, list[Any]] = {}
        Table.everywhere.add(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return Table, ()  # executables belong to a process: the copy is empty

    __hash__ = object.__hash__  # type: ignore[assignment]
    __eq__ = object.__eq__

    def store(self, key: Any, value: Any) -> Any:
        """Keep `value` under `key`."""
        Table.stored += 1
        if Table.stored >= LIMIT // 8:
            Table.stored = 0
            if entries() > LIMIT:
                for table in list(Table.everywhere):
                    table.forget(len(table) // 2)
        if len(self) >= CAPACITY:
            self.forget(CAPACITY // 4)
        self[key] = value
        for alias in self.aliases.get(key, ()):
            self[alias] = value
        return value

    def forget(self, count: int) -> None:
        """Drop the oldest entries."""
        for old in list(self)[:count]:
            self.pop(old, None)
            self.aliases.pop(old, None)

    def alias(self, key: Any, other: Any) -> None:
        """Let `other` find the entry of `key`, now and whenever that is replaced."""
        known = self.aliases.setdefault(key, [])
        if other not in known:
            known.append(other)
        self[other] = self[key]


_EMPTY: dict[Any, Any] = {}


class Tables(dict[Any, dict[Any, Any]]):
    """A `Table` for each configuration; while tracing (key None) an empty one that stays empty."""

    def __missing__(self, key: Config | None) -> dict[Any, Any]:
        if key is None:
            return _EMPTY
        return self.setdefault(key, Table())

    def __reduce__(self) -> tuple[Any, ...]:
        return Tables, ()


def clear() -> None:
    """Forget every executable and every other entry of the tables."""
    for table in list(Table.everywhere):
        table.forget(len(table))


def entries() -> int:
    """How many executables the tables have."""
    return sum(len(table) for table in list(Table.everywhere))
