-- title: The largest l for which the most frequent sensitive value of a class is rarer than c times the rest from rank l on
-- source: Machanavajjhala, Kifer, Gehrke & Venkitasubramaniam (2007): recursive (c, l)-diversity, r1 < c (rl + ... + rm)
-- reads: members
-- returns: the columns, records, measure (l, 0 if it holds for none)
-- params: members, columns, c
SELECT
  {{ columns | idents }},
  CAST(sum(records) AS BIGINT) AS records,
  count(*) FILTER (WHERE high < {{ c | lit }} * remainder) AS measure
FROM (
  SELECT
    {{ columns | idents }},
    records,
    max(size) OVER (PARTITION BY {{ columns | idents }}) AS high,
    sum(size) OVER (
      PARTITION BY {{ columns | idents }} ORDER BY size DESC ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)
      AS remainder
  FROM {{ members | ident }})
GROUP BY ALL
