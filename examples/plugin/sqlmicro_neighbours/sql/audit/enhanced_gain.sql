-- title: By how much a sensitive value is more frequent in each class than in the table; infinite above -ln of its share
-- source: Cao & Karras (2012): enhanced beta-likeness: (q - p) / p of the value that gains most, where that is at most -ln p
-- reads: shares
-- returns: the columns, records, measure
-- params: shares, columns
SELECT
  {{ columns | idents }},
  CAST(sum(records) AS BIGINT) AS records,
  max(
    CASE
      WHEN share > 0 AND probability / share - 1 <= -ln(share) + 1e-9 THEN probability / share - 1
      ELSE CAST('infinity' AS DOUBLE)
    END
  ) AS measure
FROM {{ shares | ident }}
GROUP BY ALL
