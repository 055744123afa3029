#!/bin/sh
# A worker for krond's tasks that needs nothing but a shell, curl, sed and awk.
#
#     worker.sh [-s SOCKET] [-l SECONDS] [-1] TYPE COMMAND [ARGUMENT]...
#
# For each task of the type, the command gets the task's data (JSON) on standard input, and KRON_TASK_ID and KRON_ATTEMPT
# in its environment; its standard output is the result. Status 0 commits, 75 asks for a retry that does not count, anything else is a
# failed attempt. The lease is renewed while the command runs. -1 ends it when no task is ready.

socket=${KRON_SOCKET:-/run/krond/krond.sock}
lease=60
once=
while getopts 's:l:1' option; do
  case $option in
    s) socket=$OPTARG ;;
    l) lease=$OPTARG ;;
    1) once=yes ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
if [ $# -lt 2 ]; then
  echo "usage: worker.sh [-s SOCKET] [-l SECONDS] [-1] TYPE COMMAND [ARGUMENT]..." >&2
  exit 2
fi
type=$1
shift

place=$(mktemp -d) || exit 2
renewal=
trap 'rm -rf "$place"; [ -z "$renewal" ] || kill "$renewal" 2>/dev/null' EXIT
stopped=
trap 'stopped=yes' TERM INT
wait_time=5
[ -z "$once" ] || wait_time=0

# ask PATH < body > answer: fails when krond did not answer; what was asked may or may not have happened then.
ask() {
  curl --silent --unix-socket "$socket" --max-time 60 --request POST --header 'Content-Type: application/json' \
    --data-binary @- "http://krond/api/v1/$1"
}

# Repeats until there is an answer. krond knows a lease by its token, so nothing happens twice.
ask_until_answered() {
  cat > "$place/body"
  until ask "$1" < "$place/body"; do sleep 1; done
}

# The text or number that a member has where its name comes first; payloads come after all that is asked for here.
member() {
  awk -v name="\"$1\":" '{
    at = index($0, name)
    if (at == 0) exit
    rest = substr($0, at + length(name))
    if (substr(rest, 1, 1) == "\"") { rest = substr(rest, 2); print substr(rest, 1, index(rest, "\"") - 1) }
    else { match(rest, /^[0-9]+/); print substr(rest, 1, RLENGTH) }
    exit
  }' "$place/lease"
}

# The data of the only lease: behind its name, without what closes the document.
data() {
  awk '{
    rest = substr($0, index($0, "\"payload\":"))
    rest = substr(rest, index(rest, "\"data\":") + 7)
    sub(/\}\}\]\}[ \r]*$/, "", rest)
    printf "%s", rest
  }' "$place/lease"
}

# Standard input as a JSON text; control characters but the newline become blanks.
json_text() {
  tr '\001-\011\013-\037\177' ' ' | sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' |
    awk 'BEGIN { printf "\"" } NR > 1 { printf "\\n" } { printf "%s", $0 } END { printf "\"" }'
}

renew_forever() {
  trap 'kill $pause 2> /dev/null; exit' TERM
  while :; do
    sleep $(((lease + 2) / 3)) &
    pause=$!
    wait $pause
    printf '{"token":%s}' "$token" | ask "leases/$execution/renew" > /dev/null
  done
}

work() {
  KRON_TASK_ID=$task KRON_ATTEMPT=$attempt "$@" < "$place/data" > "$place/result"
  status=$?
  if [ $status -eq 0 ]; then
    printf '{"token":%s,"result":%s}' "$token" "$(json_text < "$place/result")" |
      ask_until_answered "leases/$execution/commit"
  else
    counts=true
    [ $status -ne 75 ] || counts=false
    printf '{"token":%s,"reason":"exit status %s","counts":%s}' "$token" $status $counts |
      ask_until_answered "leases/$execution/fail"
  fi
}

while [ -z "$stopped" ]; do
  if ! printf '{"worker":"worker.sh:%s","types":["%s"],"wait":"%ss","term":"%ss","start":true}' \
    $$ "$type" $wait_time "$lease" | ask leases > "$place/lease"; then
    echo "worker.sh: krond does not answer on $socket; trying again" >&2
    sleep 1
    continue
  fi
  execution=$(member execId)
  if [ -z "$execution" ]; then
    if ! grep -q '"leases":\[\]' "$place/lease"; then
      cat "$place/lease" >&2
      exit 1
    fi
    [ -z "$once" ] || exit 0
    continue
  fi
  token=$(member token)
  task=$(member taskId)
  attempt=$(member attempt)
  data > "$place/data"
  renew_forever &
  renewal=$!
  answer=$(work "$@")
  kill $renewal
  wait $renewal 2> /dev/null
  renewal=
  echo "worker.sh: $task: $answer" >&2
done
