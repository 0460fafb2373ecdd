-- title: The records as numbers, for a kernel
-- source: sqlmicro; an ordinal value is the place of its value in the order (Domingo-Ferrer & Torra 2005)
-- reads: relation
-- returns: in the order of row_id: row_id, the numeric columns as DOUBLE, ordinal values by their place from 0, nominal
--   values by a number from 0 (NULL is a value of its own), stratum (from 0) where strata are given
-- params: relation, numeric, ordinal (column, type that has the order), nominal, strata (none, or the columns of the strata
--   as the only element)
SELECT
  row_id
{% for by in strata %}
  , dense_rank() OVER (ORDER BY {{ by | idents }}) - 1 AS stratum
{% endfor %}
{% for column in numeric %}
  , CAST({{ column | ident }} AS DOUBLE) AS {{ column | ident }}
{% endfor %}
{% for column, type in ordinal %}
  , CASE WHEN {{ column | ident }} IS NOT NULL THEN
      CAST(dense_rank() OVER (ORDER BY CAST({{ column | ident }} AS {{ type | sqltype }}) NULLS LAST) - 1 AS DOUBLE)
    END AS {{ column | ident }}
{% endfor %}
{% for column in nominal %}
  , dense_rank() OVER (ORDER BY {{ column | ident }}) - 1 AS {{ column | ident }}
{% endfor %}
FROM {{ relation | ident }}
ORDER BY row_id
