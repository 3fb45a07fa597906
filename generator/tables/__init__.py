"""Reading raw tables of any supported format, and the code that reads them again in a task's prepare.py."""

from generator.tables.dialect import dialect
from generator.tables.formats import FORMATS, UnreadableTable, table_format
from generator.tables.reading import read_code, read_table

__all__ = ["FORMATS", "UnreadableTable", "dialect", "read_code", "read_table", "table_format"]
