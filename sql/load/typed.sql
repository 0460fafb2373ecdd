-- title: The records to anonymize, each column in the form the methods work on
-- source: sqlmicro. Dates become day numbers and timestamps microseconds; a collation is taken off, because under it
--   GROUP BY merges values that stay distinct when released; an ENUM would carry its whole dictionary along; -0.0
--   becomes 0.0 and NaN loses its payload, which nobody sees and could tell records apart; an infinite date stays
--   infinite, to be refused
-- reads: relation (the user's table)
-- returns: record, a hash of what identifies it: its row key as text, or the columns; key_0, a hash of the row key where
--   only the ledger knows records by it; the columns
-- params: relation, row_key, identity (the names key_1, … of the row key, or the columns), known_by (the names key_1, … of
--   the row key that only the ledger knows records by, in a list of one, or none), columns, plain, kept_floats,
--   floats, collated, as_text, dates, timestamps
WITH typed AS (
  SELECT
    0 AS nothing
  {% for column in row_key %}
    , CAST({{ column.name | ident }} AS VARCHAR) AS key_{{ loop.index }}
  {% endfor %}
  {% for column in plain %}
    , {{ column.name | ident }} AS {{ column | ident }}
  {% endfor %}
  {% for column in kept_floats %}
    , CASE WHEN isnan({{ column.name | ident }}) THEN CAST('NaN' AS FLOAT) ELSE {{ column.name | ident }} END AS {{ column | ident }}
  {% endfor %}
  {% for column in floats %}
    , CASE WHEN {{ column.name | ident }} = 0 THEN 0 WHEN isnan({{ column.name | ident }}) THEN CAST('NaN' AS FLOAT)
        ELSE {{ column.name | ident }} END AS {{ column | ident }}
  {% endfor %}
  {% for column in collated %}
    , decode(encode({{ column.name | ident }})) AS {{ column | ident }}
  {% endfor %}
  {% for column in as_text %}
    , CAST({{ column.name | ident }} AS VARCHAR) AS {{ column | ident }}
  {% endfor %}
  {% for column in dates %}
    , CASE WHEN NOT isfinite({{ column.name | ident }}) THEN CAST('infinity' AS DOUBLE)
        ELSE {{ column.name | ident }} - DATE '1970-01-01' END AS {{ column | ident }}
  {% endfor %}
  {% for column in timestamps %}
    , CASE WHEN NOT isfinite({{ column.name | ident }}) THEN CAST('infinity' AS DOUBLE)
        ELSE epoch_us({{ column.name | ident }}) END AS {{ column | ident }}
  {% endfor %}
  FROM {{ relation | ident }}
)
SELECT
  hash({{ identity | idents }}) AS record,
{% for key in known_by %}
  hash({{ key | idents }}) AS key_0,
{% endfor %}
  {{ columns | idents }}
FROM typed
