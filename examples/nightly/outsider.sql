-- What somebody finds who has kept the files of all nights, and has no other access. Run in the folder of the files:
--   duckdb < outsider.sql
-- One row: nights; the fewest rows of a combination; the smallest number, above 0, of rows by which a combination
-- differs between any two nights. Each must be at least k.
WITH kept AS (
  SELECT filename AS night, age, income, region FROM read_parquet('night_*.parquet', filename = true)
),
combinations AS (SELECT DISTINCT age, income, region FROM kept),
nights AS (SELECT DISTINCT night FROM kept),
counted AS (
  SELECT nights.night, combinations.age, combinations.income, combinations.region, count(kept.night) AS rows_shown
  FROM nights CROSS JOIN combinations
  LEFT JOIN kept
    ON kept.night = nights.night
    AND kept.age IS NOT DISTINCT FROM combinations.age
    AND kept.income IS NOT DISTINCT FROM combinations.income
    AND kept.region IS NOT DISTINCT FROM combinations.region
  GROUP BY ALL
)
SELECT
  (SELECT count(*) FROM nights) AS nights,
  (SELECT min(rows_shown) FROM counted WHERE rows_shown > 0) AS fewest_rows,
  (
    SELECT min(abs(a.rows_shown - b.rows_shown))
    FROM counted AS a
    JOIN counted AS b
      ON a.age IS NOT DISTINCT FROM b.age
      AND a.income IS NOT DISTINCT FROM b.income
      AND a.region IS NOT DISTINCT FROM b.region
    WHERE a.rows_shown <> b.rows_shown
  ) AS smallest_difference;
