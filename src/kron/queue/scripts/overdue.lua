--include tasks.lua
-- The tasks whose lease or time has run out, the longest over first. What is gone is left out of the indexes and told of.
-- KEYS 1 prefix; ARGV 1 how many at most 2 ageing
-- Answer: time, the end of the first lease that goes on in us ('': none), the number of those that are gone, those, then
--      the others: task ids
local q, time = KEYS[1], redis.call('TIME')
local b = batch_of(q, time, ARGV[2])
local wrong = wrong_key(q, 'live', 'zset', 'delayed', 'zset', 'leased', 'zset', 'number', 'string', 'mended', 'string')
if wrong then return wrong end
mend_times(b)
local limit = whole(b.us)
local gone, over = {}, {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', q .. 'leased', '-inf', limit, 'LIMIT', 0, ARGV[1])) do
  local state = redis.pcall('HGET', q .. 't:' .. id, 's')
  if state == 'L' or state == 'R' then
    over[#over + 1] = id
  else
    redis.call('ZREM', q .. 'leased', id)
    if not state then redis.call('ZREM', q .. 'live', id) end
    gone[#gone + 1] = id
  end
end
local next = redis.call('ZRANGEBYSCORE', q .. 'leased', '(' .. limit, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
local out = {time[1], time[2], next[2] or '', whole(#gone)}
for _, id in ipairs(gone) do out[#out + 1] = id end
for _, id in ipairs(over) do out[#out + 1] = id end
return out
