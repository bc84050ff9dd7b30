"""What dbt needs before its first query, so that plain `dbt build` is a whole build.

dbt-duckdb loads this module by its name in profiles.yml.
"""

import json
from typing import Any

from dbt.adapters.duckdb.plugins import BasePlugin
from dbt_common.exceptions import DbtRuntimeError

from warehouse import ingest, language
from warehouse.errors import UserError
from warehouse.sources import runs_root
from warehouse.threads import query_memory, query_threads


class Plugin(BasePlugin):
    """Prepares the raw files once per process, and tells every connection where they are."""

    def initialize(self, plugin_config: dict[str, Any]) -> None:
        """Make the sample if it is wanted, unpack zips, find files; runs before DuckDB opens."""
        try:
            self.threads = query_threads()
            query_memory()
            raw = ingest.prepare()
        except UserError as error:
            raise DbtRuntimeError(error.message) from error
        self.runs = str(runs_root().resolve())
        self.raw_json = json.dumps(
            {
                "root": str(raw.root),
                "files": raw.files,
                "headers": raw.headers,
                "delimiters": raw.delimiters,
                "missing": raw.missing(),
            }
        )

    def configure_connection(self, conn: Any) -> None:
        """Register language_share(text); keep to the threads that were asked for."""
        language.register_language_share(conn)
        if self.threads:
            conn.execute(f"set threads = {self.threads}")

    def configure_cursor(self, cursor: Any) -> None:
        """Set the variables that the macros read: where raw tables and trained runs lie."""
        cursor.execute("set variable raw = ?", [self.raw_json])
        cursor.execute("set variable runs = ?", [self.runs])
