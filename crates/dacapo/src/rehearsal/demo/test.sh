#!/bin/sh
# Red until greet.sh greets everyone properly. Needs nothing but sh.
failed=0

expect() {
  wanted=$1
  shift
  got=$(sh ./greet.sh "$@")
  if [ "$got" = "$wanted" ]; then
    echo "ok    $wanted"
  else
    echo "FAIL  wanted: $wanted   got: $got"
    failed=$((failed + 1))
  fi
}

expect "Hello, Ada!" Ada
expect "Hello, Grace  Hopper!" "Grace  Hopper"
expect "Hello, world!"

echo "$failed failed"
[ "$failed" -eq 0 ]
