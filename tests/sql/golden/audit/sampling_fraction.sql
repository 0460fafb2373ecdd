-- title: The share of the population that is in the release, by the weights
-- source: Horvitz & Thompson (1952): the weights of a sample add up to the size of its population
-- reads: weighted_cells
-- returns: fraction; 1 where the weights stand for nobody else
-- params: weighted_cells
SELECT CASE WHEN sum(total) > sum(records) THEN sum(records) / sum(total) ELSE 1 END AS fraction
FROM "staging"."cells"
