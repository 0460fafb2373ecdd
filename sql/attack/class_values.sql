-- title: How many classes of each size there are, and how many records are in those with one sensitive value
-- source: Machanavajjhala, Kifer, Gehrke & Venkitasubramaniam (2007), homogeneity attack; NULL is a value of its own
-- reads: relation (values)
-- returns: size, classes, records (in classes whose records all have the same sensitive value)
-- params: relation, columns, sensitive
SELECT
  size,
  count(*) AS classes,
  CAST(coalesce(sum(size) FILTER (WHERE one_value), 0) AS BIGINT) AS records
FROM (
  SELECT
    count(*) AS size,
    min({{ sensitive | ident }}) IS NOT DISTINCT FROM max({{ sensitive | ident }})
      AND count({{ sensitive | ident }}) IN (0, count(*)) AS one_value
  FROM {{ relation | ident }}
  GROUP BY {{ columns | idents }}
)
GROUP BY size
ORDER BY size
