"""
Functions whose types are known: wasmtime asks its library for the type of a function, and of each part of each value, at
every call, which takes several times as long as the call. This rests on how its classes are made inside; the package asks for the one
version that it was made for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Optional

from wasmtime import Store
from wasmtime.component import U32, U64, EnumType, Func, ListType, OptionType, RecordType, ResultType, ValType, VariantType


@dataclass(frozen=True)
class _FuncType:
    """What a call needs of wasmtime's own."""

    params: list[tuple[str, ValType]]
    result: Optional[ValType]


class KnownFunc(Func):
    _known: _FuncType

    def type(self, store: Any) -> Any:
        return self._known


def known(function: Func, store: Store) -> KnownFunc:
    """The same function."""
    of = function.type(store)
    result = None if of.result is None else _known(of.result)
    made = KnownFunc._from_raw(function._func)
    assert isinstance(made, KnownFunc)
    made._known = _FuncType([(name, _known(ty)) for name, ty in of.params], result)
    return made


class _Record(RecordType):
    @cached_property
    def fields(self) -> Any:
        return [(name, _known(ty)) for name, ty in super().fields]


class _List(ListType):
    @cached_property
    def element(self) -> Any:
        return _known(super().element)


class _Variant(VariantType):
    @cached_property
    def cases(self) -> Any:
        return [(name, ty and _known(ty)) for name, ty in super().cases]

    @cached_property
    def _is_tagged(self) -> bool:
        return super()._tagged()

    def _tagged(self) -> bool:
        return self._is_tagged


class _Option(OptionType):
    @cached_property
    def payload(self) -> Any:
        return _known(super().payload)

    @cached_property
    def _is_tagged(self) -> bool:
        return super()._tagged()

    def _tagged(self) -> bool:
        return self._is_tagged


class _Result(ResultType):
    @cached_property
    def ok(self) -> Any:
        ok = super().ok
        return None if ok is None else _known(ok)

    @cached_property
    def err(self) -> Any:
        err = super().err
        return None if err is None else _known(err)

    @cached_property
    def _is_tagged(self) -> bool:
        return super()._tagged()

    def _tagged(self) -> bool:
        return self._is_tagged


class _Enum(EnumType):
    @cached_property
    def _all(self) -> frozenset[str]:
        return frozenset(self.names)

    def convert_to_c(self, store: Any, val: Any, ptr: Any) -> None:
        # Its library finds out in the call, and that loses the instance.
        if isinstance(val, str) and val not in self._all:
            raise ValueError(f"{val!r} is none of {', '.join(sorted(self._all))}")
        super().convert_to_c(store, val, ptr)


class _U32(U32):
    def convert_to_c(self, store: Any, val: Any, ptr: Any) -> None:
        _check_within(val, 32)
        super().convert_to_c(store, val, ptr)


class _U64(U64):
    def convert_to_c(self, store: Any, val: Any, ptr: Any) -> None:
        _check_within(val, 64)
        super().convert_to_c(store, val, ptr)


def _check_within(number: Any, bits: int) -> None:
    """Its library would hand over what is left of it in so many bits: -1 as a very large number."""
    if isinstance(number, int) and not 0 <= number < 1 << bits:
        raise ValueError(f"{number} is no number from 0 to {(1 << bits) - 1}")


_KNOWN: dict[type, type] = {
    U32: _U32,
    U64: _U64,
    EnumType: _Enum,
    RecordType: _Record,
    ListType: _List,
    VariantType: _Variant,
    OptionType: _Option,
    ResultType: _Result,
}


def _known(ty: ValType) -> ValType:
    """The same type, which is asked for its parts once."""
    if type(ty) in _KNOWN:
        ty.__class__ = _KNOWN[type(ty)]
    return ty
