-- title: How many rows the classes of single columns of a series have, which came tonight
-- source: sqlmicro: what the theorem of such a series demands, measured on what is to be remembered
-- reads: records (row, classes)
-- returns: one row: fewest
-- params: records, columns (how many columns have classes of k, the first ones)
SELECT min(n) AS fewest
FROM (
  SELECT count(*) AS n
  FROM (SELECT unnest(range(1, {{ columns | lit }} + 1)) AS place, classes FROM {{ records | ident }})
  GROUP BY place, classes[place])
