-- title: Combinations, and after them those that an earlier night of a series has shown
-- source: sqlmicro
-- reads: cells, shown (cell from 0)
-- returns: cell, the columns
-- params: cells, shown, first (the number of the first one that was shown), columns
SELECT
  cell
{% for column in columns %}
  , {{ column | ident }}
{% endfor %}
FROM {{ cells | ident }}
UNION ALL
SELECT
  cell + {{ first }}
{% for column in columns %}
  , {{ column | ident }}
{% endfor %}
FROM {{ shown | ident }}
