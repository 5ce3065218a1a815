#!/bin/sh
while read -r line; do echo '{"outcome": "failure", "result": "bad password hunter2"}'; done
