-- Heartbeats of many runs and renewals of many locks. Never resurrects.
-- KEYS 1 rundata:active 2 kron:fence, then locks
-- ARGV 1 number of runs r, r run ids, then of each lock: token, ttl in ms
local t = redis.call('TIME')
local fence = redis.call('GET', KEYS[2]) or '0'
local stamp = string.format('%d.%06d', t[1], t[2])
local r = tonumber(ARGV[1])
local gone, lost = {}, {}
for i = 2, 1 + r do
  if redis.call('ZSCORE', KEYS[1], ARGV[i]) then
    redis.call('ZADD', KEYS[1], 'XX', stamp, ARGV[i])
  else
    gone[#gone + 1] = ARGV[i]
  end
end
for k = 3, #KEYS do
  local a = 2 + r + 2 * (k - 3)
  if redis.call('GET', KEYS[k]) == ARGV[a] then
    redis.call('PEXPIRE', KEYS[k], ARGV[a + 1])
  else
    lost[#lost + 1] = ARGV[a]
  end
end
return {'kept', t[1], t[2], fence, gone, lost}
