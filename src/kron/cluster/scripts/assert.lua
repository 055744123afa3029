-- A run that goes on, after writes were lost: what Redis knew of it is written again.
-- KEYS 1 rundata 2 rundata:active 3 kron:claims 4 kron:fence [5 lock]
-- ARGV 1 run_id 2 owner 3 its fencing token 4 start time 5 blob of the running run 6 ttl of the lock in ms
-- A run that ended, was frozen, or whose lock another has, is not brought back.
local t = redis.call('TIME')
local fence = redis.call('GET', KEYS[4]) or '0'
local blob = redis.call('HGET', KEYS[1], ARGV[1])
if blob and blob ~= ARGV[5] then return {'over', t[1], t[2], fence} end
if KEYS[5] then
  local held = redis.call('GET', KEYS[5])
  if held and held ~= ARGV[1] then return {'taken', t[1], t[2], fence, held} end
  redis.call('SET', KEYS[5], ARGV[1], 'PX', ARGV[6])
end
if not blob then redis.call('HSET', KEYS[1], ARGV[1], ARGV[5]) end
redis.call('ZADD', KEYS[2], string.format('%d.%06d', t[1], t[2]), ARGV[1])
redis.call('HSET', KEYS[3], ARGV[1], ARGV[2] .. ' ' .. ARGV[3] .. ' ' .. ARGV[4])
return {'ok', t[1], t[2], fence}
