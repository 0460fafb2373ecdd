-- title: The rows of JSON files
-- source: DuckDB, read_json
-- reads: the files
-- returns: the columns of the files
-- params: paths, options
SELECT *
FROM read_json({{ paths | lit }}{% for name, value in options %}, {{ name | ident }} = {{ value | lit }}{% endfor %})
