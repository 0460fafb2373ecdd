-- title: The cells as numbers: every nominal value by its number, every numeric value as it is
-- source: Höhne, SAFE: the number of a nominal value is the column of Z that holds the 1
-- reads: cells
-- returns: in the order of cell: n, stratum from 0, a number from 0 per nominal column (NULL is a value of its own), the
--   numeric columns as DOUBLE
-- params: cells, by, nominal, numeric
SELECT
  n,
  dense_rank() OVER (ORDER BY {{ by | listed("{}, ") }}true) - 1 AS stratum
{% for column in nominal %}
  , dense_rank() OVER (ORDER BY {{ column | ident }}) - 1 AS {{ column | ident }}
{% endfor %}
{% for column in numeric %}
  , CAST({{ column | ident }} AS DOUBLE) AS {{ column | ident }}
{% endfor %}
FROM {{ cells | ident }}
ORDER BY cell
