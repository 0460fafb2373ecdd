-- title: The records as they are published, each put in order by itself, where relations have no order
-- source: sqlmicro: every record goes by the first 64 bits of a keyed hash of its number, which itself is left out
-- reads: records
-- returns: the columns under their own names
-- params: records, columns
SELECT{{ columns | listed("\n  {} AS {name}") }}
FROM {{ records | ident }}
ORDER BY substr({{ "sqlmicro_order" | draw("row_id") }}, 1, 16)
