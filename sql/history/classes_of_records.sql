-- title: The class of every record of a release, and what its totals have of it, by a keyed hash of who it is about
-- source: sqlmicro: what later releases of the same people are measured with. Who it is, is the row key or the content that
--   was read, of which copies are numbered; without the key, which is in no database, nobody can tell
-- reads: classed, original (as it was loaded)
-- returns: who, class, value (a keyed hash of what was averaged; 0 where nothing was)
-- params: stream (variable with the key), classed, original, identity (record, or the key of the table), columns (the number
--   of a copy), averaged (columns of original)
SELECT
  CAST(concat('0x', substr({{ stream | draw("record", columns) }}, 1, 15)) AS BIGINT) AS who,
  label AS class,
  {{ stream | drawn_of("record", averaged) }} AS value
FROM (
  SELECT
    o.{{ identity | ident }} AS record,
    c.class AS label,
    {% for column in averaged %}
    o.{{ column | ident }},
    {% endfor %}
    row_number() OVER (PARTITION BY o.{{ identity | ident }} ORDER BY c.class) AS copy
  FROM {{ classed | ident }} AS c
  JOIN {{ original | ident }} AS o ON c.row_id = o.row_id)
