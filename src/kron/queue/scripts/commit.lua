--include tasks.lua
-- The commit boundary: the result, the follow-ups and the files of an attempt, as a whole or not at all, and once.
-- KEYS 1 prefix; ARGV 1 request 2 ageing, then for each commit: task id, token in its execution id, token, result,
--      number of files, each with path and bytes, number of follow-ups, each with the 9 arguments of put_task
-- Answer: time, the end of the first lease in us ('': none), then for each commit a word, a text and a number n, then n pairs (word, task id):
--      accepted, the task's type, what became of the follow-ups · lease_lost, duplicate, not_found, not_started ·
--      conflict, the follow-up that has the id of another task · wrong, a key
local q, time = KEYS[1], redis.call('TIME')
local b = batch_of(q, time, ARGV[2])
local wrong = wrong_key(q, 'live', 'zset', 'delayed', 'zset', 'leased', 'zset', 'succeeded', 'zset', 'over', 'zset',
                        'pending', 'hash', 'running', 'hash', 'limits', 'hash', 'keys', 'hash', 'number', 'string')
if wrong then return wrong end
local out = {time[1], time[2], ''}
local function tell(...) append(out, ...) end

-- The first follow-up that cannot be put, and why.
local function refusal(first, n)
  local payloads = {}
  for i = 0, n - 1 do
    local at = first + 9 * i
    local id, type, data = ARGV[at], ARGV[at + 1], ARGV[at + 2]
    local key = q .. 't:' .. id
    local v = redis.pcall('HMGET', key, 'y', 'd', 'i', 's')
    if v.err or (not v[1] and (v[2] or v[3] or v[4])) then return 'wrong', key end
    if not v[1] and not can_enqueue(b, type) then return 'wrong', q .. 'ready:' .. type end
    local known = payloads[id] or (v[1] and {v[1], v[2]})
    if known and (known[1] ~= type or known[2] ~= data) then return 'conflict', id end
    payloads[id] = {type, data}
  end
end

local function commit(id, exec, token, result, files, file, follow_ups, follow_up, request)
  local key = q .. 't:' .. id
  local v = redis.pcall('HMGET', key, 's', 't', 'e', 'a', 'x', 'n', 'y', 'k', 'i', 'F')
  if not v.err and v[1] == 'S' and v[9] == request then
    -- This very commit, whose answer was lost.
    local told = {}
    for word, of in string.gmatch(v[10] or '', '(%S+) (%S+)\n') do told[#told + 1] = word; told[#told + 1] = of end
    return tell('accepted', v[7] or '', whole(#told / 2), unpack(told))
  end
  local word = judged(v, exec, token, b.us)
  if word == 'accepted' and (not v[7] or v[1] == 'L') then word = v[7] and 'not_started' or 'wrong' end
  if word ~= 'accepted' then return tell(word, key, '0') end
  local why, what = refusal(follow_up, follow_ups)
  if why then return tell(why, what, '0') end

  -- From here on nothing is refused but the first write, for want of memory.
  local told = {}
  if v[8] and redis.call('HGET', q .. 'keys', v[8]) == id then redis.call('HDEL', q .. 'keys', v[8]) end
  for i = 0, follow_ups - 1 do
    local at = follow_up + 9 * i
    told[#told + 1], told[#told + 2] = put_task(b, at, request .. '.' .. i, id)
  end
  if files > 0 then
    redis.call('UNLINK', q .. 'effects:' .. id)
    for i = 0, files - 1 do redis.call('HSET', q .. 'effects:' .. id, ARGV[file + 2 * i], ARGV[file + 2 * i + 1]) end
  end
  local fields = {'s', 'S', 'u', time[1], 'i', request}
  if result ~= '' then append(fields, 'R', result) end
  if #told > 0 then
    local lines = {}
    for i = 1, #told, 2 do lines[#lines + 1] = told[i] .. ' ' .. told[i + 1] .. '\n' end
    append(fields, 'F', table.concat(lines))
  end
  redis.call('HSET', key, unpack(fields))
  later(b.remove, 'leased', id)
  later(b.remove, 'live', id)
  later(b.add, 'succeeded', '0', id)
  later(b.add, 'over', time[1], id)
  count(b.running, v[7], -1)
  made_room(b, v[7])
  tell('accepted', v[7], whole(#told / 2), unpack(told))
end

local at = 3
while at <= #ARGV do
  local files = tonumber(ARGV[at + 4])
  local follow_ups = tonumber(ARGV[at + 5 + 2 * files])
  commit(ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], files, at + 5, follow_ups, at + 6 + 2 * files,
         ARGV[1] .. '.' .. at)
  at = at + 6 + 2 * files + 9 * follow_ups
end
flush(b)
out[3] = first_end(q)
return out
