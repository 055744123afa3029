-- Runs whose heartbeat is old, with their blobs. Instances whose heartbeat is old are removed, and so are runs that
-- have no blob.
-- KEYS 1 rundata 2 rundata:active 3 instances 4 kron:fence
-- ARGV 1 age in s 2 how many runs at most
local t = redis.call('TIME')
local fence = redis.call('GET', KEYS[4]) or '0'
local cut = string.format('%.6f', tonumber(t[1]) + tonumber(t[2]) / 1000000 - tonumber(ARGV[1]))
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', cut)
local ids = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', cut, 'LIMIT', 0, ARGV[2])
local answer = {'stale', t[1], t[2], fence}
for _, id in ipairs(ids) do
  local blob = redis.call('HGET', KEYS[1], id)
  if blob then
    answer[#answer + 1] = id
    answer[#answer + 1] = blob
  else
    redis.call('ZREM', KEYS[2], id)
  end
end
return answer
