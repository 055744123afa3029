-- Part of other scripts: puts a run that has ended among the results, of which only so many are kept. What is dropped of
-- the job's is forgotten altogether.
local function keep_result(rundata, general, of_job, id, stamp, general_cap, job_cap)
  redis.call('ZADD', general, stamp, id)
  redis.call('ZADD', of_job, stamp, id)
  redis.call('ZREMRANGEBYRANK', general, 0, -(tonumber(general_cap) + 1))
  local drop = redis.call('ZRANGE', of_job, 0, -(tonumber(job_cap) + 1))
  for i = 1, math.min(#drop, 200) do
    redis.call('HDEL', rundata, drop[i])
    redis.call('ZREM', of_job, drop[i])
    redis.call('ZREM', general, drop[i])
  end
end
