-- Stacks with their samples, for flame graphs. These are the lines of `rprof flame --folded`, of one event and where
-- names are plain: it writes `_` for a blank that would make a number of the end of a name. Events are apart, samples
-- without a stack are left out, and `;` in a name is `:`.
WITH selected AS (
    -- To narrow it: WHERE machine = 'build-7' AND date = '2026-11-24'
    SELECT event, comm, stack_hash FROM samples
), counted AS (
    SELECT s.event, s.comm, s.stack_hash, count(*) AS samples
    FROM selected s
    GROUP BY s.event, s.comm, s.stack_hash
), named AS (
    SELECT c.event, replace(c.comm, ';', ':') || ';' || k.folded AS stack, c.samples
    FROM counted c
    JOIN folded_stacks k ON k.stack_hash = c.stack_hash
)
SELECT n.event, n.stack, sum(n.samples) AS samples
FROM named n
GROUP BY n.event, n.stack
ORDER BY event, stack;
