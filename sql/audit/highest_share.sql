-- title: The share of the most frequent sensitive value of each class
-- source: Wong, Li, Fu & Wang (2006): (alpha, k)-anonymity: no sensitive value has more than alpha of a class
-- reads: shares
-- returns: the columns, records, measure
-- params: shares, columns
SELECT
  {{ columns | idents }},
  CAST(sum(records) AS BIGINT) AS records,
  max(probability) AS measure
FROM {{ shares | ident }}
GROUP BY ALL
