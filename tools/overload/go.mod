module atrium/e2e/overload

go 1.26
