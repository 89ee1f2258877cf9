#!/bin/sh
# Greets someone.
echo Helo, $1
