-- title: How many values of a sensitive column each class has
-- source: Machanavajjhala, Kifer, Gehrke & Venkitasubramaniam (2007): distinct l-diversity; NULL counts as a value
-- reads: members
-- returns: the columns, records, measure (the number of values)
-- params: members, columns
SELECT
  {{ columns | idents }},
  CAST(sum(records) AS BIGINT) AS records,
  count(*) AS measure
FROM {{ members | ident }}
GROUP BY ALL
