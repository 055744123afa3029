--include tasks.lua
-- Looks at some of the tasks that wait or run: whether they stand where they are looked for. What an index has lost (a key
-- that was evicted or deleted) is put back.
-- KEYS 1 prefix; ARGV 1 ageing 2 behind which id ('': from the first on) 3 how many
-- Answer: time, the last id that was looked at ('': there is none behind it), then ids of tasks that were put back
local q, time = KEYS[1], redis.call('TIME')
local b = batch_of(q, time, ARGV[1])
local wrong = wrong_key(q, 'live', 'zset', 'delayed', 'zset', 'leased', 'zset', 'pending', 'hash', 'running', 'hash')
if wrong then return wrong end
local ids = redis.call('ZRANGEBYLEX', q .. 'live', ARGV[2] == '' and '-' or '(' .. ARGV[2], '+', 'LIMIT', 0, ARGV[3])
local out = {time[1], time[2], #ids == tonumber(ARGV[3]) and ids[#ids] or ''}
local counted = {}
for _, id in ipairs(ids) do
  local v = redis.pcall('HMGET', q .. 't:' .. id, 's', 'y', 'c', 'r', 'p', 'q', 'e', 'a')
  local type, created, sequence = v[2], tonumber(v[3]), tonumber(v[6])
  if v[1] == 'P' and type and created and sequence and can_enqueue(b, type) then
    local ready = math.max(created, tonumber(v[4]) or created)
    local member = ready_member(ready, sequence, id)
    if not redis.call('ZSCORE', q .. 'delayed', id) and not redis.call('ZSCORE', q .. 'ready:' .. type, member) then
      if ready > b.now then
        redis.call('ZADD', q .. 'delayed', whole(ready), id)
      else
        redis.call('ZADD', q .. 'ready:' .. type, whole(ready - (tonumber(v[5]) or 0) * b.ageing), member)
      end
      out[#out + 1] = id
    end
    counted[type] = counted[type] or redis.call('HEXISTS', q .. 'pending', type) == 1
    if not counted[type] then
      counted[type] = true
      redis.call('HSET', q .. 'pending', type, whole(math.max(redis.call('ZCARD', q .. 'ready:' .. type), 1)))
    end
  elseif (v[1] == 'L' or v[1] == 'R') and not redis.call('ZSCORE', q .. 'leased', id) then
    local ends = math.min(tonumber(v[7]) or b.us, tonumber(v[8] or '9e15') or b.us)
    redis.call('ZADD', q .. 'leased', whole(ends), id)
    out[#out + 1] = id
  elseif not v.err and (not v[1] or v[1] == 'S' or v[1] == 'F') then
    redis.call('ZREM', q .. 'live', id)
    out[#out + 1] = id
  end
end
return out
