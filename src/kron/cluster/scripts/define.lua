-- A definition is replaced if it is still the text that was read, and the paused set with it.
-- KEYS 1 jobs 2 jobs:paused
-- ARGV 1 name 2 text that was read 3 text that is wanted 4 '1' paused, '0' not paused, '' leave the set alone
local t = redis.call('TIME')
local text = redis.call('HGET', KEYS[1], ARGV[1])
if not text then return {'gone', t[1], t[2], ''} end
if text ~= ARGV[2] and text ~= ARGV[3] then return {'changed', t[1], t[2], '', text} end
if text ~= ARGV[3] then redis.call('HSET', KEYS[1], ARGV[1], ARGV[3]) end
if ARGV[4] == '1' then redis.call('SADD', KEYS[2], ARGV[1]) end
if ARGV[4] == '0' then redis.call('SREM', KEYS[2], ARGV[1]) end
return {(text == ARGV[3]) and 'same' or 'ok', t[1], t[2], ''}
