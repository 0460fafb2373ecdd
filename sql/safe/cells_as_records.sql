-- title: The combinations that occur, as records
-- source: sqlmicro: where the records are elsewhere, what reads records reads these, each once
-- reads: cells
-- returns: row_id (the number of the combination), the columns
-- params: cells, columns
SELECT
  cell AS row_id
{% for column in columns %}
  , {{ column | ident }}
{% endfor %}
FROM {{ cells | ident }}
