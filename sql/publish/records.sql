-- title: The records as they are published, in an order that says nothing
-- source: sqlmicro: the order is a keyed hash of the record's number, which itself is left out
-- reads: records
-- returns: the columns under their own names
-- params: records, columns
SELECT
{% for column in columns %}
  {{ column | ident }} AS {{ column.name | ident }}{% if not loop.last %},{% endif +%}
{% endfor %}
FROM {{ records | ident }}
ORDER BY sha256(concat(getvariable('sqlmicro_order'), ' ', row_id))
