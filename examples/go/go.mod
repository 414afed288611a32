module bullring.example/leader

go 1.19
