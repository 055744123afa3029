--include tasks.lua
-- Leases for workers that want the same types, first come, first served: the most urgent tasks of those types that have
-- room. Asked again with the same request id it tells the same leases.
-- KEYS 1 prefix; ARGV 1 request 2 ageing 3 most bytes of data, at least one lease 4 for how many s it is remembered
--      5 number of types (0: any), types, then for each worker: its name, count, term in s, '1': started at once,
--      holder ('i': in process)
-- Answer: time, the time of the next task that waits for its own, the end of the first lease in us ('': none), the number
--      of odd ones, each with its key and what is wrong; then for each lease: the number of the worker from 1, id, token,
--      attempt, end in us, type, timeout, data
local q, time = KEYS[1], redis.call('TIME')
local b = batch_of(q, time, ARGV[2])
local wrong = wrong_key(q, 'live', 'zset', 'delayed', 'zset', 'leased', 'zset', 'pending', 'hash', 'running', 'hash',
                        'limits', 'hash', 'number', 'string', 'mended', 'string', 'grant:' .. ARGV[1], 'string')
if wrong then return wrong end
local odd, leases = {}, {}
local function answer()
  local next = redis.call('ZRANGE', q .. 'delayed', 0, 0, 'WITHSCORES')[2] or ''
  local out = {time[1], time[2], next, first_end(q), whole(#odd / 2)}
  for _, item in ipairs(odd) do out[#out + 1] = item end
  for _, item in ipairs(leases) do out[#out + 1] = item end
  return out
end
local function is_odd(id, problem) append(odd, q .. 't:' .. id, problem) end
-- It stands in an index and is not there. Whatever may have been known of it is gone with it.
local function is_gone(id)
  is_odd(id, 'is gone')
  later(b.remove, 'live', id)
end

local before = redis.call('GET', q .. 'grant:' .. ARGV[1])
if before then
  for worker, id, token in string.gmatch(before, '(%d+) (%S+) (%d+);') do
    local v = redis.pcall('HMGET', q .. 't:' .. id, 's', 't', 'n', 'e', 'y', 'o', 'd')
    if not v.err and v[2] == token and (v[1] == 'L' or v[1] == 'R') then
      append(leases, worker, id, token, v[3] or '', v[4] or '', v[5] or '', v[6] or '', v[7] or '')
    end
  end
  return answer()
end

mend_times(b)
-- Those whose time has come join the others.
for _, id in ipairs(redis.call('ZRANGEBYSCORE', q .. 'delayed', '-inf', b.now, 'LIMIT', 0, 256)) do
  local v = redis.pcall('HMGET', q .. 't:' .. id, 's', 'y', 'c', 'r', 'p', 'q')
  local created, run_at = tonumber(v[3]), tonumber(v[4])
  redis.call('ZREM', q .. 'delayed', id)
  if not v.err and not v[1] then
    is_gone(id)
  elseif v.err or v[1] ~= 'P' or not v[2] or not created or not tonumber(v[6]) or not can_enqueue(b, v[2]) then
    is_odd(id, 'is no task that waits')
  else
    -- Now, not at the end: it may be the one that is leased.
    local ready = math.max(created, run_at or created)
    redis.call('ZADD', q .. 'ready:' .. v[2], whole(ready - (tonumber(v[5]) or 0) * b.ageing),
               ready_member(ready, tonumber(v[6]), id))
  end
end

local types = {unpack(ARGV, 6, 5 + tonumber(ARGV[5]))}
local first = 6 + #types
local want = 0
for at = first, #ARGV, 5 do want = want + tonumber(ARGV[at + 1]) end
if #types == 0 then types = redis.call('HKEYS', q .. 'pending') end
local has_limits = redis.call('EXISTS', q .. 'limits') == 1
local heads, seen = {}, {}
for _, type in ipairs(types) do
  local room = want
  local limit = has_limits and tonumber(redis.call('HGET', q .. 'limits', type))
  if limit then room = math.min(room, limit - (tonumber(redis.call('HGET', q .. 'running', type)) or 0)) end
  if room > 0 and not seen[type] then
    seen[type] = true
    local z = redis.pcall('ZRANGE', q .. 'ready:' .. type, 0, room - 1, 'WITHSCORES')
    if z.err then append(odd, q .. 'ready:' .. type, 'is not a zset'); z = {} end
    for i = 1, #z, 2 do heads[#heads + 1] = {tonumber(z[i + 1]), string.sub(z[i], 1, 26), z[i], type} end
  end
end
table.sort(heads, function(x, y) if x[1] ~= y[1] then return x[1] < y[1] end return x[2] < y[2] end)

local granted, bytes, most = {}, 0, tonumber(ARGV[3])
-- The lease of one task for the worker of ARGV[at]. False: there is no such task.
local function lease(at, worker, member, type)
  local id = string.sub(member, 28)
  local key = q .. 't:' .. id
  local v = redis.pcall('HMGET', key, 's', 'y', 'd', 'o', 'n')
  later(b.remove, 'ready:' .. type, member)
  count(b.pending, type, -1)
  if not v.err and not v[1] then
    return is_gone(id)
  elseif v.err or v[1] ~= 'P' or v[2] ~= type or not v[3] then
    return is_odd(id, 'is no task that waits')
  end
  local token = next_number(b)
  local attempt = whole((tonumber(v[5]) or 0) + 1)
  local ends = b.us + tonumber(ARGV[at + 2]) * 1000000
  local fields = {'s', 'L', 't', token, 'w', ARGV[at], 'T', ARGV[at + 2], 'e', whole(ends), 'l', time[1], 'u', time[1],
                  'n', attempt}
  if ARGV[at + 4] ~= '' then append(fields, 'h', ARGV[at + 4]) end
  local limit = ends
  if ARGV[at + 3] == '1' then
    fields[2] = 'R'
    append(fields, 'g', time[1])
    if tonumber(v[4]) then
      limit = b.us + tonumber(v[4]) * 1000000
      append(fields, 'a', whole(limit))
    end
  end
  redis.call('HSET', key, unpack(fields))
  later(b.add, 'leased', whole(math.min(ends, limit)), id)
  count(b.running, type, 1)
  bytes = bytes + #v[3]
  granted[#granted + 1] = worker .. ' ' .. id .. ' ' .. token .. ';'
  append(leases, worker, id, token, attempt, whole(ends), type, v[4] or '', v[3])
  return true
end

local next = 1
for at = first, #ARGV, 5 do
  local worker, taken = whole((at - first) / 5 + 1), 0
  while taken < tonumber(ARGV[at + 1]) and heads[next] and bytes < most do
    if lease(at, worker, heads[next][3], heads[next][4]) then taken = taken + 1 end
    next = next + 1
  end
end
if #granted > 0 then redis.call('SET', q .. 'grant:' .. ARGV[1], table.concat(granted), 'EX', ARGV[4]) end
flush(b)
return answer()
