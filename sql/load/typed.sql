-- title: The records to anonymize, numbered once, each column in the form the methods work on
-- source: sqlmicro. Dates become day numbers and timestamps microseconds; a collation is taken off, because under it
--   GROUP BY merges values that stay distinct when released; an ENUM would carry its whole dictionary along
-- reads: relation (the user's table)
-- returns: row_id from 0, and the columns
-- params: relation, plain, collated, as_text, dates, timestamps
SELECT
  row_number() OVER () - 1 AS row_id
{% for column in plain %}
  , {{ column.name | ident }} AS {{ column | ident }}
{% endfor %}
{% for column in collated %}
  , decode(encode({{ column.name | ident }})) AS {{ column | ident }}
{% endfor %}
{% for column in as_text %}
  , CAST({{ column.name | ident }} AS VARCHAR) AS {{ column | ident }}
{% endfor %}
{% for column in dates %}
  , CAST({{ column.name | ident }} - DATE '1970-01-01' AS BIGINT) AS {{ column | ident }}
{% endfor %}
{% for column in timestamps %}
  , epoch_us({{ column.name | ident }}) AS {{ column | ident }}
{% endfor %}
FROM {{ relation | ident }}
