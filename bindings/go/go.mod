module insula

go 1.19
