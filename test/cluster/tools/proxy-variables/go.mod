module gatehouse.test/tools/proxy-variables

go 1.26.0

require golang.org/x/net v0.38.0

require golang.org/x/text v0.23.0 // indirect
