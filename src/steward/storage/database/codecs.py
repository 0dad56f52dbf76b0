"""How values that PostgreSQL and Python spell differently cross the wire.

`json` and `jsonb` through orjson (use `json` where a document must come back exactly as it went),
pgvector's `vector` and `halfvec` as numpy arrays and `tsvector` as it is (lexemes.py makes it), in binary, so
that COPY takes them.
"""

import struct
from typing import TYPE_CHECKING, Any, TypeAlias

import asyncpg
import orjson

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"


def _encode_json(value: Any) -> str:
    return orjson.dumps(value).decode()


def _encode_jsonb(value: Any) -> bytes:
    return b"\x01" + orjson.dumps(value)


def _decode_jsonb(value: bytes) -> Any:
    return orjson.loads(memoryview(value)[1:])


def _encode_vector(value: "NDArray[np.floating[Any]]") -> bytes:
    return struct.pack(">HH", len(value), 0) + value.astype(">f4").tobytes()


def _encode_halfvec(value: "NDArray[np.floating[Any]]") -> bytes:
    return struct.pack(">HH", len(value), 0) + value.astype(">f2").tobytes()


def _decode_vector(value: bytes) -> "NDArray[np.float32]":
    import numpy as np  # noqa: PLC0415 (only knowledge needs it, and it takes 0.1 s)

    return np.frombuffer(value, ">f4", offset=4).astype(np.float32)


def _decode_halfvec(value: bytes) -> "NDArray[np.float32]":
    import numpy as np  # noqa: PLC0415 (only knowledge needs it, and it takes 0.1 s)

    return np.frombuffer(value, ">f2", offset=4).astype(np.float32)


def _as_is(value: bytes) -> bytes:
    return value


async def register(connection: Connection, vector_schema: str | None) -> None:
    await connection.set_type_codec(
        "json", encoder=_encode_json, decoder=orjson.loads, schema="pg_catalog", format="text"
    )
    await connection.set_type_codec(
        "jsonb", encoder=_encode_jsonb, decoder=_decode_jsonb, schema="pg_catalog", format="binary"
    )
    await connection.set_type_codec(
        "tsvector", encoder=_as_is, decoder=_as_is, schema="pg_catalog", format="binary"
    )
    if vector_schema is None:
        return
    await connection.set_type_codec(
        "vector", encoder=_encode_vector, decoder=_decode_vector, schema=vector_schema, format="binary"
    )
    await connection.set_type_codec(
        "halfvec", encoder=_encode_halfvec, decoder=_decode_halfvec, schema=vector_schema, format="binary"
    )
