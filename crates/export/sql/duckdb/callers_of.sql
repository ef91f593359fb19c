-- Who calls a function, and what the calls cost. Before it: SET VARIABLE function = 'NAME';
-- A function that calls itself counts once for each caller in a stack.
WITH functions AS (
    SELECT stack_hash, row_number() OVER (PARTITION BY stack_hash ORDER BY position, inline_depth) AS depth, function
    FROM (
        SELECT stack_hash, unnest(frame_hashes) AS frame_hash, generate_subscripts(frame_hashes, 1) AS position
        FROM stacks
    )
    JOIN frames USING (frame_hash)
), calls AS (
    SELECT DISTINCT callee.stack_hash, caller.function AS caller
    FROM functions callee
    LEFT JOIN functions caller ON caller.stack_hash = callee.stack_hash AND caller.depth = callee.depth + 1
    WHERE callee.function = getvariable('function')
)
SELECT event, caller, count(*) AS samples, sum(weight) AS weight
FROM samples
JOIN calls USING (stack_hash)
GROUP BY event, caller
ORDER BY event, weight DESC, caller;
