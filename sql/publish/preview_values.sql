-- title: The records of a preview as they would be published, in the order of its marks
-- source: sqlmicro: the order is a keyed hash of the record's number, which itself is left out
-- reads: records
-- returns: the columns under their own names
-- params: records, columns
SELECT{{ columns | listed("\n  {} AS {name}") }}
FROM {{ records | ident }}
ORDER BY {{ "sqlmicro_order" | draw("row_id") }}
