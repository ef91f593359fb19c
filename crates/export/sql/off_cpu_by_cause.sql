-- What threads waited for instead of running: waiting times in seconds, by machine, state and cause. Of tables that were
-- written with rprof export --off-cpu or --wall.
SELECT machine, state, cause, count(*) AS waits, 1e-9 * sum(CAST(weight AS DECIMAL(38, 0))) AS seconds
FROM samples
-- To narrow it: AND comm = 'nginx' AND date = '2026-11-24'
WHERE state <> 'running'
GROUP BY machine, state, cause
ORDER BY machine NULLS LAST, seconds DESC, state, cause;
