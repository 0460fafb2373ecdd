-- title: How many persons the classes of two releases have in common
-- source: Ganta, Kasiviswanathan & Smith (2008), the intersection attack on two releases of the same records; sqlmicro: a
--   person with several records is what the record of hers tells that has the fewest in common
-- reads: original, first, second (values, by row_id)
-- returns: before (persons in the class in the first release), after (in the second), size (persons that the two classes
--   have in common): the least of each over the records of a person; records (how many persons are so)
-- params: original, first, second, person, columns (of the first), others (columns of the second)
WITH whose AS (
  SELECT row_id, dense_rank() OVER (ORDER BY {{ person | idents }}) AS person
  FROM {{ original | ident }}),
one AS (
  SELECT row_id, person, label
  FROM (SELECT row_id, dense_rank() OVER (ORDER BY {{ columns | idents }}) AS label FROM {{ first | ident }})
  JOIN whose USING (row_id)),
two AS (
  SELECT row_id, person, label
  FROM (SELECT row_id, dense_rank() OVER (ORDER BY {{ others | idents }}) AS label FROM {{ second | ident }})
  JOIN whose USING (row_id)),
in_first AS (SELECT label, count(DISTINCT person) AS size FROM one GROUP BY label),
in_second AS (SELECT label, count(DISTINCT person) AS size FROM two GROUP BY label),
pairs AS (
  SELECT one.person, one.label AS before, two.label AS after
  FROM one
  JOIN two ON one.row_id = two.row_id),
in_common AS (SELECT before, after, count(DISTINCT person) AS size FROM pairs GROUP BY before, after),
least AS (
  SELECT pairs.person, min(in_first.size) AS before, min(in_second.size) AS after, min(in_common.size) AS size
  FROM pairs
  JOIN in_first ON pairs.before = in_first.label
  JOIN in_second ON pairs.after = in_second.label
  JOIN in_common ON pairs.before = in_common.before AND pairs.after = in_common.after
  GROUP BY pairs.person)
SELECT before, after, size, count(*) AS records
FROM least
GROUP BY before, after, size
ORDER BY before, after, size
