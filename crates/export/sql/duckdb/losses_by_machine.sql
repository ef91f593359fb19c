-- What the kernel lost, by machine and event, of all that it would have recorded.
SELECT machine, event, sum(lost) AS lost, sum(samples) AS samples,
    100.0 * sum(lost) / nullif(sum(lost + samples), 0) AS percent,
    bool_or(lost_at_least) AS at_least, list_sort(list_distinct(list(quality))) AS quality
FROM recordings
GROUP BY machine, event
ORDER BY lost DESC, machine, event;
