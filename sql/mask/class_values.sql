-- title: The strata and the released values of some combinations, as text, in a given order
-- source: sqlmicro: local recoding
-- reads: cells, representatives (label, the columns that changed)
-- returns: the strata, the columns
-- params: cells, representatives, chosen (numbers of combinations), strata, columns (column, where it comes from)
SELECT
  {{ strata | listed("CAST(c.{} AS VARCHAR) AS {}, ") }}
  {{ columns | listed("CAST({2}.{1} AS VARCHAR) AS {1}") }}
FROM (SELECT unnest(CAST({{ chosen | lit }} AS BIGINT[])) AS label, generate_subscripts({{ chosen | lit }}, 1) AS position) AS o
JOIN {{ representatives | ident }} AS p ON p.label = o.label
JOIN {{ cells | ident }} AS c ON c.cell = o.label
ORDER BY o.position
