#!/bin/sh
# sh verify.sh '<webhook-id>' '<webhook-timestamp>' '<webhook-signature>' < body
set -fu
case $2 in '' | *[!0-9]*) echo 'the timestamp is not a number' >&2; exit 1 ;; esac

age=$(($(date +%s) - $2))
if [ "${age#-}" -gt 300 ]; then echo "sent $age seconds ago" >&2; exit 1; fi

key=$(printf %s "${WEBHOOK_SECRET#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n')
expected=$({ printf '%s.%s.' "$1" "$2"; cat; } |
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A)
for signature in $3; do
  if [ "$signature" = "v1,$expected" ]; then echo genuine; exit 0; fi
done
echo 'no signature matches' >&2
exit 1
