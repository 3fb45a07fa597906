"""Reading raw tables of any supported format, and the code that reads them again in a task's prepare.py."""

from generator.tables.dialect import dialect
from generator.tables.formats import FORMATS, RAW_FORMATS, UnreadableTable, raw_format, table_format
from generator.tables.plan import plan_table, plan_tables, read_table
from generator.tables.recipe import Recipe

__all__ = [
    "FORMATS",
    "RAW_FORMATS",
    "Recipe",
    "UnreadableTable",
    "dialect",
    "plan_table",
    "plan_tables",
    "raw_format",
    "read_table",
    "table_format",
]
