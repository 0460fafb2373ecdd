-- title: How many records the classes of two releases have in common
-- source: Ganta, Kasiviswanathan & Smith (2008), the intersection attack on two releases of the same records
-- reads: first, second (values of the releases, by row_id)
-- returns: before (size of the class in the first release), after (in the second), size (records that the two classes
--   have in common), records (how many of both releases are so)
-- params: first, second, columns (of the first), others (columns of the second)
WITH one AS (
  SELECT
    row_id,
    {{ columns | idents }},
    count(*) OVER (PARTITION BY {{ columns | idents }}) AS before
  FROM {{ first | ident }}
),
two AS (
  SELECT
    row_id,
    {{ others | idents }},
    count(*) OVER (PARTITION BY {{ others | idents }}) AS after
  FROM {{ second | ident }}
)
SELECT
  before,
  after,
  size,
  CAST(sum(size) AS BIGINT) AS records
FROM (
  SELECT before, after, count(*) AS size
  FROM one
  JOIN two USING (row_id)
  GROUP BY {{ columns | listed("one.{}") }}, {{ others | listed("two.{}") }}, before, after)
GROUP BY before, after, size
ORDER BY before, after, size
