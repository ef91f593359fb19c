-- The 20 functions of each event that cost most themselves: the rows of `rprof report --no-children --sort symbol`.
SELECT event, function, level, is_inlined, count(*) AS samples, sum(weight) AS weight
FROM samples
JOIN stacks USING (stack_hash)
JOIN frames ON frame_hash = frame_hashes[1] AND inline_depth = 0
GROUP BY event, function, level, is_inlined
QUALIFY row_number() OVER (PARTITION BY event ORDER BY sum(weight) DESC, function, level, is_inlined) <= 20
ORDER BY event, weight DESC, function, level, is_inlined;
