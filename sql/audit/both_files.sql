-- title: The records of two files as numbers, so that equal values of both have the same number
-- source: sqlmicro: what tables, means and models are made of
-- reads: original, released
-- returns: first the original, then the released records, each in the order of row_id: is_first, a number from 0 per nominal
--   column (NULL is a value of its own), the numeric columns as DOUBLE, those with ranges as text
-- params: original, released, nominal, numeric, ranges
WITH both_files AS (
  SELECT
    true AS is_first,
    {{ nominal | listed("CAST({} AS VARCHAR) AS {}, ") }}
    {{ numeric | listed("CAST({} AS DOUBLE) AS {}, ") }}
    {{ ranges | listed("CAST({} AS VARCHAR) AS {}, ") }}
    row_id
  FROM {{ original | ident }}
  UNION ALL
  SELECT
    false AS is_first,
    {{ nominal | listed("CAST({} AS VARCHAR) AS {}, ") }}
    {{ numeric | listed("CAST({} AS DOUBLE) AS {}, ") }}
    {{ ranges | listed("CAST({} AS VARCHAR) AS {}, ") }}
    row_id
  FROM {{ released | ident }}
)
SELECT
  is_first
{% for column in nominal %}
  , dense_rank() OVER (ORDER BY {{ column | ident }}) - 1 AS {{ column | ident }}
{% endfor %}
{% for column in numeric %}
  , {{ column | ident }}
{% endfor %}
{% for column in ranges %}
  , {{ column | ident }}
{% endfor %}
FROM both_files
ORDER BY is_first DESC, row_id
