-- title: The dates, without those that stand for none
-- source: sqlmicro; a value such as 9999-12-31 would give away by how much it was moved
-- reads: relation (days or microseconds since 1970)
-- returns: row_id, the columns
-- params: relation, columns (the column, how many of its units are a day), unshifted (days since 1970)
SELECT
  row_id
{% for column, day in columns %}
  , CASE WHEN NOT list_contains(CAST({{ unshifted | lit }} AS DOUBLE[]), floor({{ column | ident }} / {{ day | lit }}))
      THEN {{ column | ident }} END AS {{ column | ident }}
{% endfor %}
FROM {{ relation | ident }}
