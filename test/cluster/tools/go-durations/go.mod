module gatehouse.test/tools/go-durations

go 1.26.0
