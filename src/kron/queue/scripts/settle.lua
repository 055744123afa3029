--include tasks.lua
-- The ends of attempts that did not commit, cancels and retries: judged by the caller from what it has read, and refused
-- when the task is not as it was read.
-- KEYS 1 prefix; ARGV 1 ageing, then for each: task id, request, 'fail' 'expire' 'cancel' or 'retry', the fields s t n i
--      as they were read ('' absent), then s x m r n as they are to be ('' absent)
-- Answer: time, the end of the first lease in us ('': none), then for each a word and a text: settled · changed · not_found · taken, the task that has the unique key ·
--      wrong, a key
local q, time = KEYS[1], redis.call('TIME')
local b = batch_of(q, time, ARGV[1])
local wrong = wrong_key(q, 'live', 'zset', 'delayed', 'zset', 'leased', 'zset', 'failed', 'zset', 'over', 'zset', 'pending',
                        'hash', 'running', 'hash', 'limits', 'hash', 'keys', 'hash', 'number', 'string')
if wrong then return wrong end
local out = {time[1], time[2], ''}

local function settle(id, request, verb, at)
  local key = q .. 't:' .. id
  local v = redis.pcall('HMGET', key, 's', 't', 'n', 'i', 'e', 'a', 'y', 'p', 'c', 'q', 'k', 'r')
  if v.err then return 'wrong', key end
  if not v[1] then return 'not_found', '' end
  if v[4] == request then return 'settled', '' end
  for i = 1, 4 do if (v[i] or '') ~= ARGV[at + i - 1] then return 'changed', '' end end
  local type, created, sequence, priority = v[7], tonumber(v[9]), tonumber(v[10]), tonumber(v[8] or '0')
  if not type or not created or not sequence or not priority then return 'wrong', key end
  if not can_enqueue(b, type) then return 'wrong', q .. 'ready:' .. type end
  local is_held = v[1] == 'L' or v[1] == 'R'
  if is_held then
    local ends, limit = tonumber(v[5]), tonumber(v[6] or '9e15')
    -- A lease of which nobody knows when it ends has ended.
    local has_ended = not ends or not limit or b.us >= ends or b.us >= limit
    if (verb == 'fail' and has_ended) or (verb == 'expire' and not has_ended) then return 'changed', '' end
  end
  local after, past, most, run_at, attempts = ARGV[at + 4], ARGV[at + 5], ARGV[at + 6], ARGV[at + 7], ARGV[at + 8]
  local unique = v[11]
  local holder = unique and redis.call('HGET', q .. 'keys', unique)
  if verb == 'retry' and holder and holder ~= id and is_open(q, holder) then return 'taken', holder end

  redis.call('HSET', key, 's', after, 'm', most, 'n', attempts, 'u', time[1], 'i', request, 'x', past)
  redis.call('HDEL', key, 't', 'w', 'h', 'T', 'e', 'a', 'l', 'g')
  if run_at == '' then redis.call('HDEL', key, 'r') else redis.call('HSET', key, 'r', run_at) end
  if is_held then
    later(b.remove, 'leased', id)
    count(b.running, type, -1)
    made_room(b, type)
  elseif v[1] == 'P' then
    redis.call('ZREM', q .. 'delayed', id)
    redis.call('ZREM', q .. 'ready:' .. type, ready_member(math.max(created, tonumber(v[12]) or created), sequence, id))
    count(b.pending, type, -1)
  else
    later(b.remove, 'failed', id)
    later(b.remove, 'over', id)
  end
  if after == 'P' then
    next_number(b)  -- by which a clock that is set back is known
    if created > b.now then
      -- It was submitted on a clock that was ahead.
      created = b.now
      redis.call('HSET', key, 'c', whole(created))
    end
    enqueue(b, id, type, math.max(created, tonumber(run_at) or created), priority, sequence)
    later(b.add, 'live', '0', id)
    if unique then redis.call('HSET', q .. 'keys', unique, id) end
  else
    later(b.remove, 'live', id)
    later(b.add, 'failed', '0', id)
    later(b.add, 'over', time[1], id)
    if holder == id then redis.call('HDEL', q .. 'keys', unique) end
  end
  return 'settled', ''
end

for at = 2, #ARGV, 12 do out[#out + 1], out[#out + 2] = settle(ARGV[at], ARGV[at + 1], ARGV[at + 2], at + 3) end
flush(b)
out[3] = first_end(q)
return out
