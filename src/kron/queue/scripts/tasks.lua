-- What the scripts of the queue share, and the cluster's step: put before a script that says `--include`.
-- A script looks at the types of the keys that it will write before it writes the first (wrong_key), and reads a task with
-- pcall: what is no task is told of ('wrong', its key), and nothing is ever written by half. What goes into the indexes
-- is collected in a batch and written at the end: each index once, however many tasks there are.

local function batch_of(prefix, time, ageing)
  return {q = prefix, now = tonumber(time[1]), us = tonumber(time[1]) * 1000000 + tonumber(time[2]),
          ageing = tonumber(ageing), add = {}, remove = {}, pending = {}, running = {}, ready = {}, wakes = {}}
end

-- An error that names the first of the keys that is of another type. Arguments: name and type, in turns.
local function wrong_key(q, ...)
  local names = {...}
  for i = 1, #names, 2 do
    local is = redis.call('TYPE', q .. names[i]).ok
    if is ~= names[i + 1] and is ~= 'none' then
      return redis.error_reply('WRONGKEY ' .. q .. names[i] .. ' is a ' .. is .. ', not a ' .. names[i + 1])
    end
  end
end

local function whole(number) return string.format('%.0f', number) end

-- A token or a sequence number: greater than all before, and than the microseconds of now. A server that has lost its
-- last writes does not give a number that it gave before.
local function next_number(b)
  if not b.number then
    local last = tonumber(redis.call('GET', b.q .. 'number')) or 0
    if not (last < 9007199254740000) then last = 0 end
    b.number = math.max(last, b.us)
  end
  b.number = b.number + 1
  return whole(b.number)
end

local function append(list, ...)
  local n = #list
  for i = 1, select('#', ...) do list[n + i] = (select(i, ...)) end
end

-- To be added to a sorted set, with its score, or removed from one, at the end.
local function later(lists, name, item, member)
  local items = lists[name]
  if not items then items = {}; lists[name] = items end
  local n = #items
  items[n + 1] = item
  items[n + 2] = member
end

local function count(counts, type, n) counts[type] = (counts[type] or 0) + n end

-- Whether the set of a type's ready tasks can be written. It is asked before the task is.
local function can_enqueue(b, type)
  if b.ready[type] == nil then
    local is = redis.call('TYPE', b.q .. 'ready:' .. type).ok
    b.ready[type] = (is == 'none' or is == 'zset') and is
  end
  return b.ready[type]
end

local function ready_member(ready, sequence, id) return string.format('%010.0f%016.0f:%s', ready, sequence, id) end

local function enqueue(b, id, type, ready, priority, sequence)
  if ready > b.now then
    later(b.add, 'delayed', whole(ready), id)
  else
    later(b.add, 'ready:' .. type, whole(ready - priority * b.ageing), ready_member(ready, sequence, id))
    -- Who waits for such a task waits only while there is none.
    if b.ready[type] == 'none' then b.wakes[type] = true end
  end
  count(b.pending, type, 1)
end

local function write_counts(b, name)
  for type, n in pairs(b[name]) do
    local sum = (tonumber(redis.call('HGET', b.q .. name, type)) or 0) + n
    if sum > 0 then redis.call('HSET', b.q .. name, type, whole(sum)) else redis.call('HDEL', b.q .. name, type) end
  end
end

-- So many arguments at a time as Lua takes.
local function write_all(command, b, list)
  for name, items in pairs(list) do
    for i = 1, #items, 1000 do redis.call(command, b.q .. name, unpack(items, i, math.min(i + 999, #items))) end
  end
end

local function flush(b)
  write_all('ZREM', b, b.remove)
  write_all('ZADD', b, b.add)
  write_counts(b, 'pending')
  write_counts(b, 'running')
  if b.number then redis.call('SET', b.q .. 'number', whole(b.number)) end
  for type in pairs(b.wakes) do redis.call('PUBLISH', string.sub(b.q, 1, -3) .. 'wake', type) end
end

-- One more of its type may run: who waits though there are such tasks is told.
local function made_room(b, type)
  if b.has_limits == nil then b.has_limits = redis.call('EXISTS', b.q .. 'limits') == 1 end
  if b.has_limits and redis.call('HEXISTS', b.q .. 'limits', type) == 1 and
     redis.call('EXISTS', b.q .. 'ready:' .. type) == 1 then
    b.wakes[type] = true
  end
end

-- The end of the lease that runs out first, in us; '': there is none.
local function first_end(q) return redis.call('ZRANGE', q .. 'leased', 0, 0, 'WITHSCORES')[2] or '' end

-- Whether the task is there and not over.
local function is_open(q, id)
  local state = redis.pcall('HGET', q .. 't:' .. id, 's')
  return state == 'P' or state == 'L' or state == 'R'
end

-- Puts the task of ARGV[at] … ARGV[at + 8] into the queue: id, type, data, priority, run at, max attempts, 'backoff most',
-- timeout, unique key. A word, and the id of the task that stands for it; or the key that is wrong.
local function put_task(b, at, request, parent)
  local id, type, data = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local key = b.q .. 't:' .. id
  local v = redis.pcall('HMGET', key, 'y', 'd', 'i', 's')
  if v.err or (not v[1] and (v[2] or v[3] or v[4])) then return 'wrong', key end
  if v[1] then
    if v[3] == request then return 'accepted', id end
    return (v[1] == type and v[2] == data) and 'already_known' or 'conflict', id
  end
  if not can_enqueue(b, type) then return 'wrong', b.q .. 'ready:' .. type end
  local unique = ARGV[at + 8]
  if unique ~= '' then
    local holder = redis.call('HGET', b.q .. 'keys', unique)
    if holder and holder ~= parent and is_open(b.q, holder) then return 'duplicate', holder end
    redis.call('HSET', b.q .. 'keys', unique, id)
  end
  local sequence = next_number(b)
  local fields = {'s', 'P', 'y', type, 'd', data, 'm', ARGV[at + 5], 'b', ARGV[at + 6], 'c', whole(b.now), 'q', sequence,
                  'i', request}
  if ARGV[at + 3] ~= '0' then append(fields, 'p', ARGV[at + 3]) end
  if ARGV[at + 4] ~= '' then append(fields, 'r', ARGV[at + 4]) end
  if ARGV[at + 7] ~= '' then append(fields, 'o', ARGV[at + 7]) end
  if unique ~= '' then append(fields, 'k', unique) end
  redis.call('HSET', key, unpack(fields))
  local ready = math.max(b.now, tonumber(ARGV[at + 4]) or 0)
  enqueue(b, id, type, ready, tonumber(ARGV[at + 3]), tonumber(sequence))
  later(b.add, 'live', '0', id)
  return 'accepted', id
end

-- A clock that was ahead and has been set back: what was counted on it holds nothing up. The last number tells, since none
-- is less than the microseconds of its time. Back-offs of a time that is yet to come are over, leases last one more term
-- at most. A few of them at a time, until none is left.
local function mend_times(b)
  local last = tonumber(redis.call('GET', b.q .. 'number')) or 0
  if not (last - b.us > 60000000 and last < 9007199254740000) then return end
  local mark = whole(math.floor(last / 1000000))
  if redis.call('GET', b.q .. 'mended') == mark then return end
  local few, mended = 256, 0
  for _, id in ipairs(redis.call('ZREVRANGE', b.q .. 'delayed', 0, few - 1)) do
    local key = b.q .. 't:' .. id
    local v = redis.pcall('HMGET', key, 's', 'y', 'c', 'p', 'q', 'u')
    local created, sequence, changed = tonumber(v[3]), tonumber(v[5]), tonumber(v[6])
    if v[1] == 'P' and v[2] and created and sequence and changed and changed > b.now and can_enqueue(b, v[2]) then
      mended = mended + 1
      redis.call('HSET', key, 'c', whole(math.min(created, b.now)), 'r', whole(b.now), 'u', whole(b.now))
      redis.call('ZREM', b.q .. 'delayed', id)
      redis.call('ZADD', b.q .. 'ready:' .. v[2], whole(b.now - (tonumber(v[4]) or 0) * b.ageing),
                 ready_member(b.now, sequence, id))
    end
  end
  for _, id in ipairs(redis.call('ZREVRANGE', b.q .. 'leased', 0, few - 1)) do
    local key = b.q .. 't:' .. id
    local v = redis.pcall('HMGET', key, 's', 'e', 'T')
    local most = b.us + (tonumber(v[3]) or 60) * 1000000
    if (v[1] == 'L' or v[1] == 'R') and (tonumber(v[2]) or 0) > most then
      mended = mended + 1
      redis.call('HSET', key, 'e', whole(most))
      redis.call('ZADD', b.q .. 'leased', whole(most), id)
    end
  end
  if mended == 0 then redis.call('SET', b.q .. 'mended', mark) end
end

-- INV_001: whether the execution with the token `exec` may still be moved by who shows `token`.
-- v: the fields s t e a x n of its task.
local function judged(v, exec, token, us)
  if v.err then return 'wrong' end
  if not v[1] then return 'not_found' end
  local past = v[5] or ''
  if v[2] ~= exec and not string.find('\n' .. past, '\n' .. exec .. '\t', 1, true) then
    -- Or it is one of those that a task forgets when it was told "later" too often.
    local _, known = string.gsub(past, '\n', '')
    if v[2] then known = known + 1 end
    local first = tonumber(string.match(past, '^(%d+)\t'))
    if exec == token and first and known < (tonumber(v[6]) or 0) and tonumber(token) < first then return 'lease_lost' end
    return 'not_found'
  end
  if v[1] == 'S' then return 'duplicate' end
  if (v[1] ~= 'L' and v[1] ~= 'R') or v[2] ~= exec or exec ~= token then return 'lease_lost' end
  local ends, limit = tonumber(v[3]), tonumber(v[4] or '9e15')
  if not ends or not limit then return 'wrong' end
  if us >= ends or us >= limit then return 'lease_lost' end
  return 'accepted'
end

