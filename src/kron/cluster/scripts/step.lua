-- One step of one job: its STATE record is replaced if it is still the one that the step was judged by, and the runs
-- that the step starts are claimed. A run that only submits a task is not claimed but over when this returns: its task is
-- in the queue, by the same step as the record that says so.
-- KEYS 1 kron:state 2 rundata 3 rundata:active 4 kron:claims 5 kron:fence 6 kron:outcomes 7 jobs:paused
--      [lock] [cronken: results:<job>:success results:<job>:fail] [tasks: results:success results:<job>:success]
-- ARGV 1 field 2 owner
--      3 the revision it was judged by; '' leaves the record alone: a trigger, whose run id and lock decide
--      4 the record after its revision: ',"Version":…}'
--      5 greatest chosen time of its starts ('' none)                 -> early
--      6 last second in which a start may be granted ('' none)         -> late
--      7 last second in which its `missed` would be untrue ('' none)   -> early
--      8 job name for the paused check ('' no check)
--      9 '1': KEYS has a lock, whose token is the run id 10 its ttl in ms 11 '1': a closing lock counts as held
--      12 from which start on a run of cronken is of this period, in s ('' do not look; else KEYS has the results)
--      13 outcomes cap
--      14 how many words the task of a start has (0: its run is a process); of tasks: 15 the lock is kept closing for so
--      many ms 16 general cap 17 per-job cap 18 prefix of the queue's keys 19 ageing in s
--      20 number of starts n, then n x (run_id, blob before and after start_time, words of its task), then outcome texts
-- All checks come before the first write, and the first write may be refused for want of memory: a step happens
-- as a whole or not at all.
--include result.lua
--include ../../queue/scripts/tasks.lua
local t = redis.call('TIME')
local fence = redis.call('GET', KEYS[5]) or '0'
local words = tonumber(ARGV[14])
local n = tonumber(ARGV[20])
local first = 21
local wide = 3 + words
local key = 8
local lock, foreign = nil, nil
if ARGV[9] == '1' then lock = KEYS[key]; key = key + 1 end
if ARGV[12] ~= '' then foreign = key; key = key + 2 end

if n > 0 then
  local again = {'again', t[1], t[2], fence, ''}
  for i = 0, n - 1 do
    local claim = redis.call('HGET', KEYS[4], ARGV[first + wide * i])
    if not claim then again = nil; break end
    local owner, token, start = string.match(claim, '^(%S+) (%d+) (%S+)$')
    if owner ~= ARGV[2] then again = nil; break end
    again[#again + 1] = token
    again[#again + 1] = start
  end
  if again then
    again[5] = redis.call('HGET', KEYS[1], ARGV[1]) or ''
    return again
  end
end

local revision = ''
if ARGV[3] ~= '' then
  local record = redis.call('HGET', KEYS[1], ARGV[1])
  if not record then return {'gone', t[1], t[2], fence} end
  revision = string.match(record, '^{"Revision":(%d+),')
  if not revision then return {'corrupt', t[1], t[2], fence, record} end
  if revision ~= ARGV[3] then return {'newer', t[1], t[2], fence, record} end
end
local second = tonumber(t[1])
if ARGV[5] ~= '' and tonumber(ARGV[5]) > second + 5 then return {'early', t[1], t[2], fence} end
if ARGV[7] ~= '' and second <= tonumber(ARGV[7]) then return {'early', t[1], t[2], fence} end
if ARGV[6] ~= '' and second > tonumber(ARGV[6]) then return {'late', t[1], t[2], fence} end
if ARGV[8] ~= '' and redis.call('SISMEMBER', KEYS[7], ARGV[8]) == 1 then return {'paused', t[1], t[2], fence} end
for i = 0, n - 1 do
  local id = ARGV[first + wide * i]
  if redis.call('HEXISTS', KEYS[2], id) == 1 then return {'known', t[1], t[2], fence, id} end
end
if n > 0 and ARGV[12] ~= '' then
  -- cronken's run ids are UUIDs of version 4; ours are only by chance.
  for k = foreign, foreign + 1 do
    local id = redis.call('ZREVRANGE', KEYS[k], 0, 0)[1]
    if id and string.find(id, '^%x%x%x%x%x%x%x%x%x%x%x%x4%x%x%x[89ab]') then
      local blob = redis.call('HGET', KEYS[2], id)
      local start = blob and string.match(blob, '"start_time":%s*"?([%d.]+)')
      if start and tonumber(start) and tonumber(start) >= tonumber(ARGV[12]) then
        return {'known', t[1], t[2], fence, ARGV[first]}
      end
    end
  end
end
local b
if words > 0 and n > 0 then
  -- What is of another type is told of before anything is written.
  b = batch_of(ARGV[18], t, ARGV[19])
  local wrong = wrong_key(b.q, 'live', 'zset', 'delayed', 'zset', 'pending', 'hash', 'keys', 'hash', 'number', 'string')
  for i = 0, n - 1 do
    local at = first + wide * i + 3
    local v = redis.pcall('HMGET', b.q .. 't:' .. ARGV[at], 'y', 'd', 'i', 's')
    if v.err or (not v[1] and (v[2] or v[3] or v[4])) then
      wrong = wrong or redis.error_reply('WRONGKEY ' .. b.q .. 't:' .. ARGV[at] .. ' is no task')
    elseif not can_enqueue(b, ARGV[at + 1]) then
      wrong = wrong or redis.error_reply('WRONGKEY ' .. b.q .. 'ready:' .. ARGV[at + 1] .. ' is not a zset')
    end
  end
  if wrong then return wrong end
end
if n > 0 and lock then
  local held = redis.call('GET', lock)
  if held and not (ARGV[11] ~= '1' and string.sub(held, 1, 8) == 'closing:') then
    return {'held', t[1], t[2], fence, held, string.format('%.0f', redis.call('PTTL', lock))}
  end
  if words == 0 then
    redis.call('SET', lock, ARGV[first], 'PX', ARGV[10])
  elseif ARGV[15] ~= '0' then
    redis.call('SET', lock, 'closing:' .. ARGV[first], 'PX', ARGV[15])
  end
end
local stamp = string.format('%d.%06d', t[1], t[2])
if n > 0 then fence = redis.call('INCRBY', KEYS[5], n) end
if ARGV[3] ~= '' then
  -- Greater than before, and by the microsecond of now: another history of the record, after lost writes, does not
  -- come to the same number.
  local next = tonumber(t[1]) * 1000000 + tonumber(t[2])
  if next <= tonumber(revision) then next = tonumber(revision) + 1 end
  revision = string.format('%.0f', next)
  redis.call('HSET', KEYS[1], ARGV[1], '{"Revision":' .. revision .. ARGV[4])
end
local answer = {'ok', t[1], t[2], '', revision}
for i = 0, n - 1 do
  local id = ARGV[first + wide * i]
  local token = string.format('%.0f', fence - n + 1 + i)
  redis.call('HSET', KEYS[2], id, ARGV[first + wide * i + 1] .. stamp .. ARGV[first + wide * i + 2])
  answer[#answer + 1] = token
  answer[#answer + 1] = stamp
  if words == 0 then
    redis.call('ZADD', KEYS[3], stamp, id)
    redis.call('HSET', KEYS[4], id, ARGV[2] .. ' ' .. token .. ' ' .. stamp)
  else
    answer[#answer + 1] = put_task(b, first + wide * i + 3, 'run ' .. id, '')
    keep_result(KEYS[2], KEYS[key], KEYS[key + 1], id, stamp, ARGV[16], ARGV[17])
  end
end
if b then flush(b) end
for i = first + wide * n, #ARGV do
  redis.call('XADD', KEYS[6], 'MAXLEN', '~', ARGV[13], '*', 'o', ARGV[i])
end
answer[4] = (n > 0) and string.format('%.0f', fence) or fence
return answer
