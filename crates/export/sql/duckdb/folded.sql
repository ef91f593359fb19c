-- Stacks as one line each, for flame graphs: `rprof flame --folded` has the same, but writes `_` for a blank that would
-- make a number of the end of a name. Stacks of each event are apart; narrow them by a condition on samples.
WITH functions AS (
    SELECT stack_hash, string_agg(coalesce(function, module), ';' ORDER BY position DESC, inline_depth DESC) AS path
    FROM (
        SELECT stack_hash, unnest(frame_hashes) AS frame_hash, generate_subscripts(frame_hashes, 1) AS position
        FROM stacks
    )
    JOIN (
        SELECT frame_hash, inline_depth, function, if(module LIKE '[%', module, '[' || module || ']') AS module
        FROM frames
    ) USING (frame_hash)
    GROUP BY stack_hash
)
SELECT event, comm || ';' || path AS stack, count(*) AS samples
FROM samples
JOIN functions USING (stack_hash)
GROUP BY event, stack
ORDER BY event, stack;
