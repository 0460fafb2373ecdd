-- title: The size of every group and its mean in every numeric column
-- source: Höhne, SAFE. A group has no value where most of its records have none; the values are added in the order of the
--   cells, so that the mean does not depend on the number of threads, and it does not leave the range of its values
-- reads: cells, members
-- returns: label, n, a mean per numeric column
-- params: cells, members, columns
SELECT
  m.label,
  sum(m.n) AS n
{% for column in columns %}
  , CASE WHEN 2 * sum(m.n) FILTER (WHERE c.{{ column | ident }} IS NOT NULL) >= sum(m.n) THEN
      greatest(min(CAST(c.{{ column | ident }} AS DOUBLE)), least(
        list_sum(list(m.n * CAST(c.{{ column | ident }} AS DOUBLE) ORDER BY c.cell)
          FILTER (WHERE c.{{ column | ident }} IS NOT NULL))
        / sum(m.n) FILTER (WHERE c.{{ column | ident }} IS NOT NULL),
        max(CAST(c.{{ column | ident }} AS DOUBLE))))
    END AS {{ column | ident }}
{% endfor %}
FROM {{ members | ident }} AS m
JOIN {{ cells | ident }} AS c USING (cell)
GROUP BY m.label
