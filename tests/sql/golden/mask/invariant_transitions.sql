-- title: Transitions that keep the expected margin of the column
-- source: Kooiman, Willenborg & Gouweleeuw (1997), two-stage invariant PRAM: after P, every category is sent back to
--   where it may have come from, Q_jl = P_lj t_l / sum over k of P_kj t_k; R = PQ then has t R = t. Products are added
--   in the order of j
-- reads: transitions, categories
-- returns: source, target (labels), probability
-- params: transitions, categories
WITH reached AS (
  SELECT
    t.target AS label,
    sum(t.probability * c.records ORDER BY t.source) AS total
  FROM "staging"."transitions" AS t
  JOIN "staging"."categories" AS c ON t.source = c.label
  GROUP BY t.target
)
SELECT
  a.source,
  b.source AS target,
  sum(a.probability * b.probability * c.records / r.total ORDER BY a.target) AS probability
FROM "staging"."transitions" AS a
JOIN "staging"."transitions" AS b USING (target)
JOIN reached AS r ON r.label = a.target AND r.total > 0
JOIN "staging"."categories" AS c ON c.label = b.source
GROUP BY a.source, b.source
