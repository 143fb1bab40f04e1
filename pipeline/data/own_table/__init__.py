"""Tables of one's own: a frame, a CSV or parquet file, any dataset on OpenML."""

from pipeline.data.own_table.load import OWN_TABLES, file_name, load_file, load_frame, load_openml

__all__ = ["OWN_TABLES", "file_name", "load_file", "load_frame", "load_openml"]
