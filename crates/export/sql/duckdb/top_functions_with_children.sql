-- The 20 functions of each event that cost most with all that they called: the rows of
-- `rprof report --children --sort symbol`.
WITH functions AS (
    SELECT DISTINCT stack_hash, function, level, is_inlined
    FROM (SELECT stack_hash, unnest(frame_hashes) AS frame_hash FROM stacks)
    JOIN frames USING (frame_hash)
)
SELECT event, function, level, is_inlined, count(*) AS samples, sum(weight) AS weight
FROM samples
JOIN functions USING (stack_hash)
GROUP BY event, function, level, is_inlined
QUALIFY row_number() OVER (PARTITION BY event ORDER BY sum(weight) DESC, function, level, is_inlined) <= 20
ORDER BY event, weight DESC, function, level, is_inlined;
