-- title: The values of the columns, together, permuted among the records within strata
-- source: sqlmicro: every permutation is equally likely, two random orders are laid side by side; records with the same
--   columns missing are permuted among themselves
-- reads: drawn (with draw_1, draw_2)
-- returns: row_id, the columns
-- params: drawn, by, columns
WITH patterns AS (
  SELECT
    {{ by | listed("{}, ") }}
    row_id
  {% for column in columns %}
    , {{ column | ident }}
    , {{ column | ident }} IS NULL AS pattern_{{ loop.index }}
  {% endfor %}
    , draw_1
    , draw_2
  FROM {{ drawn | ident }}
),
seated AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY
      {{ by | listed("{}, ") }}
      {{ columns | listed("pattern_{n}, ") }}true ORDER BY draw_1, row_id) AS seat,
    row_number() OVER (PARTITION BY
      {{ by | listed("{}, ") }}
      {{ columns | listed("pattern_{n}, ") }}true ORDER BY draw_2, row_id) AS draw
  FROM patterns
)
SELECT
  a.row_id
{% for column in columns %}
  , b.{{ column | ident }}
{% endfor %}
FROM seated AS a
JOIN seated AS b
  ON {{ by | same("a", "b") }} AND
  {% for column in columns %}
    a.pattern_{{ loop.index }} = b.pattern_{{ loop.index }} AND
  {% endfor %}
    a.seat = b.draw
